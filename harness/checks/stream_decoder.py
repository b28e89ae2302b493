"""Stream decoders: what a library gives out id by id is what it decodes at once."""

import re
import zlib
from collections.abc import Generator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from corpora.generators.material import is_text
from corpora.vocabularies.model import Vocabulary
from harness.checks.another_way import Decodes, Look, Question, Subject
from harness.checks.base import REPLACEMENT, added_ids, ids_of, numbers_in
from harness.core.outcomes import Encoded, Failed, Outcome

MARK = REPLACEMENT.decode()

NUMBERS, RUN, MOST_IDS = 4, 12, 16
"""Numbers that ids are drawn by, the ids that one of them may stand for, and all of a stream."""

MOST_HELD, MISSING = 8, 3
"""Ids whose text may be held back while it ends in U+FFFD; and the U+FFFD that a character may
give of which the last byte is missing."""


class StreamDecoder(Decodes):
    """For ids t = encode(x) of x in UTF-8: the texts that decode_stream gives for t, id by
    id, together are decode(t), except for U+FFFD at its end. So it is for each beginning of t, and
    for other ids u; and for u = p q, decode(p) with what decode_stream_after gives for p and q is
    decode(u), where a run of U+FFFD counts as one.

    Of those whose library has a decoder for text as it is made (``DecodesStreams``), or one that
    begins after a prompt (``ContinuesStreams``). Where that gives text, it holds bytes back until
    they are characters, so that nothing is missing after the last id of a whole text; but it cannot
    tell U+FFFD from bytes that are not whole yet, and holds the text of its ids back for as long as
    it ends in one, though of eight ids at the most. Other ids are drawn from the bytes of the
    input: parts of characters, runs of them, U+FFFD itself, special tokens. They are asked where
    the decoded text only grows with each id.
    """

    name = "stream-decoder"
    summary = "decoding id by id with a library's own decoder gives the text of decoding at once"
    said = "decoded id by id differently than at once"
    every = 6
    most = 32

    def look(self, one: Subject) -> Look:
        """The ids of a text at once, and id by id; then ids as a model may say them."""
        streams = [drawn(one.vocabulary, one.data)]
        if is_text(one.data):
            once, pieces = yield [one.decode(one.ids), one.decode(one.ids, stream=True)]
            if not isinstance(once, Encoded):
                return  # a decoder that fails on the whole is the round trip's
            before = range(len(one.ids) - 1, max(-1, len(one.ids) - 1 - MOST_HELD), -1)
            held = text_of(once).endswith(MARK)
            shorter = yield [one.decode(one.ids[:k]) for k in before if held]
            texts = [*map(text_of, (once, *shorter))]
            stage = fault(texts, [text_of(pieces)])
            lawful = isinstance(pieces, Encoded) and not stage
            one.expect(stage, one.says(once, "at once"), pieces, "id by id", lawful)
            if not lawful:
                return
            streams.insert(0, one.ids[:MOST_IDS])
        for ids in streams:
            if len(ids) > 1 and (yield from self._wrong(one, ids)):
                return  # one an input says enough

    def _wrong(
        self, one: Subject, ids: Sequence[int]
    ) -> Generator[Sequence[Question], Sequence[Outcome], bool]:
        """Whether a fault was found in a stream, after some of its ids, and after a prompt."""
        count, number = len(ids), zlib.crc32(one.data)
        prompt, early = 1 + number % (count - 1), 1 + (number >> 16) % count
        asked: list[tuple[int, dict[str, Any]]] = [(k, {}) for k in (early, count)]
        asked += [(k, {"prompt": prompt}) for k in (prompt + 1, count)]
        answers = yield [
            *(one.decode(ids[:k]) for k in range(1, count + 1)),
            *(one.decode(ids[:k], stream=True, **how) for k, how in asked),
        ]
        texts = [*map(text_of, answers[:count])]
        grows = all(b.startswith(a.rstrip(MARK)) for a, b in pairwise(texts))
        if not (grows and all(isinstance(outcome, Encoded) for outcome in answers[:count])):
            return False
        for (k, how), pieces in zip(asked, answers[count:], strict=True):
            past, words, right = texts[:k][::-1], "id by id", answers[k - 1]
            stage = fault([*past, ""], [text_of(pieces)])
            if how:
                begun, words = texts[prompt - 1], f"after a prompt of {prompt} ids"
                ways = [
                    text_of(answers[prompt - 1], pieces),
                    begun.rstrip(MARK) + text_of(pieces),
                ]
                stage = fault([*past, ""], ways, alike=True) and "prompt"
                rest = texts[k - 1].removeprefix(begun.rstrip(MARK))
                right = Encoded(ids_of(right), rest.encode())
            if isinstance(pieces, Failed) or (stage and isinstance(pieces, Encoded)):
                one.expect(stage, one.says(right, "at once"), pieces, words, lawful=False)
                return True
        return False


def fault(past: Sequence[str], ways: Sequence[str], *, alike: bool = False) -> str:
    """The stage of a text that was given out; empty if it is right.

    past: the whole text after its last id, after the one before, and so on. ways: how what was
    given out may be read. alike: a run of U+FFFD counts as one.
    """
    begun = [way for way in ways if same(past[0], alike).startswith(same(way, alike))]
    for text in past[: MOST_HELD + 1]:
        for way in begun:
            if same(way, alike) == same(text, alike) and len(text) - len(way) <= MISSING:
                return ""
        if not text.endswith(MARK):
            return "decode"
    return "held" if begun else "decode"


def same(text: str, alike: bool) -> str:
    """A text up to the U+FFFD at its end, each run of them made one if they are alike."""
    return (re.sub(f"{MARK}+", MARK, text) if alike else text).rstrip(MARK)


class Kinds(NamedTuple):
    """Ids of a vocabulary: all, those of parts of characters, of special tokens, of U+FFFD."""

    every: Sequence[int]
    cut: Sequence[int]
    special: Sequence[int]
    mark: Sequence[int]


@lru_cache(maxsize=4)
def kinds(vocabulary: Vocabulary) -> Kinds:
    """The ids of a vocabulary by what they are for a stream."""
    every = [i for i, token in enumerate(vocabulary.tokens) if token is not None]
    cut = [i for i in every if not is_text(vocabulary.spelling(i))]
    units = [REPLACEMENT] if REPLACEMENT in vocabulary.ids else [*map(bytes, zip(REPLACEMENT))]
    mark = [vocabulary.ids[one] for one in units if one in vocabulary.ids]
    return Kinds(every, cut, sorted(added_ids(vocabulary)), mark)


def drawn(vocabulary: Vocabulary, data: bytes) -> tuple[int, ...]:
    """The ids that an input stands for, as a model may say them."""
    found, (every, cut, special, mark) = list[int](), kinds(vocabulary)
    for number in numbers_in(data, NUMBERS):
        rest, kind = divmod(number, 8)
        some = (cut, cut, cut, cut, special, every, every, mark)[kind] or every
        found += mark if some is mark else [some[rest % len(some)]] * (RUN if kind == 3 else 1)
    return tuple(found[:MOST_IDS])


def text_of(*outcomes: Outcome) -> str:
    """What was decoded, one after another, with U+FFFD for what is not UTF-8."""
    texts = [one.text or b"" for one in outcomes if isinstance(one, Encoded)]
    return b"".join(texts).decode(errors="replace")
