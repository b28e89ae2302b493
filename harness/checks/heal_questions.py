"""What a healer is asked: a context, forced bytes, and a grammar, all drawn from one input.

The input is cut in two places: what stands before the first is the context, what stands between
them is forced, and a grammar of one of these kinds says what may come then:

``finite``: a few sentences, some of which complete a token that the forced bytes begin.
``regular``: ``(unit)*tail``. ``schema``: the end of a JSON document whose value is one of an
``enum`` of strings. ``anything``: no grammar. Then a few sentences stand for all of them.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from harness.checks.serving import draw

if TYPE_CHECKING:
    import random

    from corpora.vocabularies.model import Vocabulary

LONGEST_CONTEXT = 64
"""Bytes of an input that stand before the forced ones, at the most."""

LONGEST_FORCED = 48
"""Bytes of an input that are forced, at the most; a planted token's beginning comes to them."""

LONGEST_WAY = 64
"""Bytes of the rest of an input that one sentence has, at the most."""

TAILS = 12
"""Ends of tokens that the forced bytes begin, at the most, among the sentences of one grammar."""

PLANTED = 0.5
"""The share of questions in which the forced bytes end inside a token that is drawn from the
vocabulary without regard to the input, since a text seldom has a long one."""

DRAWN_TOKENS = 8
"""The longest of so many drawn tokens is planted, because long tokens look back furthest."""

STAND_INS = (b"", b" ", b"a", b"e", b"1", b"\n", b".", b'"', b'":', b"  x", b"'s")
"""Short sentences that bring a pre-tokenizer's classes of characters behind the forced bytes."""


@dataclass(frozen=True, slots=True)
class HealQuestion:
    """A context, forced bytes, and what may follow.

    index: the input in its batch. kind: of the grammar. sentences: whole continuations that the
    grammar admits; all of them for ``finite`` and ``schema``. allowed: what a healer is told of
    the grammar, None for anything.
    """

    index: int
    kind: str
    context: bytes
    forced: bytes
    sentences: tuple[bytes, ...]
    allowed: tuple[bytes, ...] | None

    @property
    def texts(self) -> tuple[bytes, ...]:
        """The context, then all that the text may become."""
        return (self.context, *(self.context + self.forced + way for way in self.sentences))


class SortedTokens:
    """The tokens of a vocabulary in order, so that those with a beginning stand together."""

    def __init__(self, tokens: Sequence[bytes | None]) -> None:
        self.every = sorted({token for token in tokens if token})
        self.longest = max(map(len, self.every), default=1)

    def tails(self, beginning: bytes, most: int) -> Iterator[bytes]:
        """What comes after ``beginning`` in tokens that go on after it, at most ``most``."""
        place = bisect_left(self.every, beginning)
        for token in self.every[place : place + most + 1]:
            if not token.startswith(beginning):
                return
            if len(token) > len(beginning):
                yield token[len(beginning) :]


@lru_cache(maxsize=4)
def tokens_of(tokens: tuple[bytes | None, ...]) -> SortedTokens:
    """The tokens of a vocabulary, sorted once."""
    return SortedTokens(tokens)


def question(index: int, data: bytes, vocabulary: Vocabulary, *, text: bool) -> HealQuestion:
    """What is asked about one input. text: sentences must be UTF-8, as the input then is."""
    dice = draw(data)
    tokens = tokens_of(vocabulary.tokens)
    kind = dice.choice(("finite", "regular", "schema", "anything"))
    first, last = (boundary(data, dice.randint(0, len(data))) for _ in range(2))
    first, last = min(first, last), max(first, last)
    context = data[boundary(data, max(0, first - LONGEST_CONTEXT)) : first]
    last = boundary(data, min(last, first + LONGEST_FORCED))
    forced = data[first:last]
    rest = data[last : boundary(data, last + LONGEST_WAY)]
    if kind == "schema":
        return schema(index, data, dice, tokens, text=text)
    if tokens.every and dice.random() < PLANTED:
        token = max((dice.choice(tokens.every) for _ in range(DRAWN_TOKENS)), key=len)
        # U+2581 stands for the space where pieces are characters.
        token = token.replace("\u2581".encode(), b" ") if vocabulary.pieces else token
        cut = boundary(token, dice.randint(1, len(token)))
        if cut and (not text or whole(token)):
            forced, rest = forced + token[:cut], token[cut:] + rest
    if kind == "regular":
        unit = rest[: boundary(rest, dice.randint(1, 6))] or b"a"
        tail = dice.choice(STAND_INS)
        times = range(tokens.longest // len(unit) + 2)
        ways = [unit * number + tail for number in times]
    else:
        ways = [rest, *tails(forced, tokens), *dice.sample(STAND_INS, 3)]
        ways += STAND_INS if kind == "anything" else ()
    sentences = tuple(dict.fromkeys(way for way in ways if not text or whole(forced + way)))
    return asked(index, kind, context, forced, sentences or (b"",), tokens.longest)


def schema(
    index: int, data: bytes, dice: random.Random, tokens: SortedTokens, *, text: bool
) -> HealQuestion:
    """An object whose one value is of an enum: strings that begin with what is forced, spelled."""
    words = data.decode("utf-8", "ignore" if text else "replace")[:LONGEST_FORCED]
    stem = words[: dice.randint(0, len(words))]
    if tokens.every and dice.random() < PLANTED:
        token = max((dice.choice(tokens.every) for _ in range(DRAWN_TOKENS)), key=len)
        stem += token[: dice.randint(1, len(token))].decode("utf-8", "ignore")
    ends = [words[len(stem) :], *(way.decode("utf-8", "ignore") for way in STAND_INS)]
    ends += [
        way.decode("utf-8", "ignore") for way in tails(stem.encode("utf-8", "replace"), tokens)
    ]
    values = dict.fromkeys(stem + end for end in ends)
    documents = [json.dumps({"k": value}, ensure_ascii=False).encode() for value in values]
    context = b'{"k": "'
    spelled = [document[len(context) :] for document in documents]
    forced = common_beginning(spelled)
    sentences = tuple(dict.fromkeys(one[len(forced) :] for one in spelled))
    return asked(index, "schema", context, forced, sentences, tokens.longest)


def asked(
    index: int,
    kind: str,
    context: bytes,
    forced: bytes,
    sentences: tuple[bytes, ...],
    longest: int,
) -> HealQuestion:
    """The question; a healer is told the sentences, each cut at the longest token's length."""
    continuations = tuple(dict.fromkeys(way[:longest] for way in sentences))
    allowed = None if kind == "anything" else continuations
    return HealQuestion(index, kind, context, forced, sentences, allowed)


def tails(forced: bytes, tokens: SortedTokens) -> list[bytes]:
    """Ends of tokens that the last bytes of ``forced`` begin, the longest beginnings first."""
    found: list[bytes] = []
    for start in range(max(0, len(forced) - tokens.longest), len(forced)):
        found += tokens.tails(forced[start:], 3)
        if len(found) >= TAILS:
            break
    return found[:TAILS]


def common_beginning(texts: Sequence[bytes]) -> bytes:
    """The bytes that all begin with, cut where a character ends."""
    first, last = min(texts), max(texts)
    size = next(
        (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b),
        min(len(first), len(last)),
    )
    return first[: boundary(first, size)]


def boundary(data: bytes, place: int) -> int:
    """The last place up to ``place`` at which no character is cut, as far as bytes can tell."""
    while 0 < place < len(data) and data[place] & 0xC0 == 0x80:
        place -= 1
    return min(place, len(data))


def whole(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
