"""What a healer is asked: a context, forced bytes, and a grammar, all drawn from one input.

The input is cut in two places: what stands before the first is the context, what stands between
them is forced, and a grammar of one of these kinds says what may come then:

``finite``: a few sentences, some of which complete a token that the forced bytes begin.
``regular``: ``(unit)*tail``. ``schema``: the end of a JSON document whose value is one of an
``enum`` of strings. ``anything``: no grammar. Then a few sentences stand for all of them.
"""

import json
import random
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Any

from corpora.generators.material import is_text
from corpora.vocabularies.model import Vocabulary
from harness.checks.base import draw

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

    kind: of the grammar. sentences: whole continuations that the grammar admits; all of them for
    ``finite`` and ``schema``. allowed: what a healer is told of the grammar, None for anything.
    """

    kind: str
    context: bytes
    forced: bytes
    sentences: tuple[bytes, ...]
    allowed: tuple[bytes, ...] | None

    @property
    def texts(self) -> tuple[bytes, ...]:
        """The context, then all that the text may become."""
        return (self.context, *(self.context + self.forced + way for way in self.sentences))


def question(data: bytes, vocabulary: Vocabulary, *, text: bool) -> HealQuestion:
    """What is asked about one input. text: sentences must be UTF-8, as the input then is."""
    dice = draw(data)
    longest = vocabulary.max_token_bytes or 1
    kind = dice.choice(("finite", "regular", "schema", "anything"))
    first, last = sorted(boundary(data, dice.randint(0, len(data))) for _ in range(2))
    context = data[boundary(data, max(0, first - LONGEST_CONTEXT)) : first]
    last = boundary(data, min(last, first + LONGEST_FORCED))
    forced, rest = data[first:last], data[last : boundary(data, last + LONGEST_WAY)]
    token = planted(dice, vocabulary)
    # U+2581 stands for the space where pieces are characters.
    token = token.replace("\u2581".encode(), b" ") if vocabulary.pieces else token
    if token and (not text or is_text(token)):
        cut = boundary(token, dice.randint(1, len(token)))
        forced, rest = forced + token[:cut], token[cut:] + rest
    ways = [rest, *tails(forced, vocabulary), *dice.sample(STAND_INS, 3)]
    if kind == "regular":
        unit = rest[: boundary(rest, dice.randint(1, 6))] or b"a"
        tail = dice.choice(STAND_INS)
        ways = [unit * times + tail for times in range(longest // len(unit) + 2)]
    elif kind != "finite":
        ways += STAND_INS
    if kind == "schema":
        # What is forced, and what may follow, of an object whose one value is of an enum: strings
        # that begin alike.
        context = b'{"k": "'
        values = dict.fromkeys((forced + way).decode("utf-8", "ignore") for way in ways)
        documents = [json.dumps({"k": one}, ensure_ascii=False).encode() for one in values]
        spelled = [one.removeprefix(context) for one in documents]
        forced = spelled[0][: boundary(spelled[0], alike(spelled))]
        ways = [one.removeprefix(forced) for one in spelled]
    ways = [*dict.fromkeys(way for way in ways if not text or is_text(forced + way))] or [b""]
    told = None if kind == "anything" else tuple(dict.fromkeys(way[:longest] for way in ways))
    return HealQuestion(kind, context, forced, tuple(ways), told)


@lru_cache(maxsize=4)
def in_order(vocabulary: Vocabulary) -> list[bytes]:
    """The tokens of a vocabulary, so that those with one beginning stand together."""
    return sorted({*filter(None, vocabulary.tokens)})


def planted(dice: random.Random, vocabulary: Vocabulary) -> bytes:
    """A long token that is drawn, in half of all cases; else nothing."""
    every = in_order(vocabulary)
    if not every or dice.random() >= PLANTED:
        return b""
    return max((dice.choice(every) for _ in range(DRAWN_TOKENS)), key=len)


def tails(forced: bytes, vocabulary: Vocabulary) -> list[bytes]:
    """Ends of tokens that the last bytes of ``forced`` begin, the longest beginnings first."""
    every = in_order(vocabulary)
    found: list[bytes] = []
    for start in range(max(0, len(forced) - vocabulary.max_token_bytes), len(forced)):
        stem = forced[start:]
        place = bisect_left(every, stem)
        found += [
            token.removeprefix(stem)
            for token in every[place : place + 4]
            if token.startswith(stem) and token != stem
        ]
    return found[:TAILS]


def boundary(data: bytes, place: int) -> int:
    """The last place up to ``place`` at which no character is cut, as far as bytes can tell."""
    while 0 < place < len(data) and data[place] & 0xC0 == 0x80:
        place -= 1
    return min(place, len(data))


def alike(sequences: Iterable[Sequence[Any]]) -> int:
    """With how many of the same elements all sequences begin."""
    columns = zip(*sequences, strict=False)
    return sum(1 for _ in takewhile(lambda column: len({*column}) == 1, columns))
