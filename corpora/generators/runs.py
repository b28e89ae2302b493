"""Runs of one character up a ladder of lengths, through the limits at which engines switch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

LADDER = (100, 128, 256, 500, 1_000, 4_000, 10_000, 26_000, 50_000, 100_000, 1_000_000)
"""Lengths at which engines change algorithm, overflow a stack, or run out of time."""

_LOW_RUNGS = (1, 2, 3, 4, 8, 15, 16, 32, 64)

RUN_CHARACTERS = (
    " ", "a", "\n", "0", "A", "-", "\t", "'", "\x00", "\u00a0", "\u00e9", "\u4e2d", "\u3042",
    "\u0301", "\U0001f600", "\ufdfa", "\u200d",
)  # fmt: skip
"""The characters that are repeated: one of each class that a pattern names, of each UTF-8
length."""

# Above these lengths a case costs milliseconds in fast engines and seconds in slow ones, so
# fewer characters are tried: 26,000 and more, then a million.
_LONG, _LONG_CHARACTERS = 26_000, (" ", "a", "\n", "0", "\u4e2d", "\U0001f600")
_LONGEST, _LONGEST_CHARACTERS = 1_000_000, (" ", "a")


def _characters(vocabulary: Vocabulary, rung: int) -> list[bytes]:
    alphabet = vocabulary.byte_alphabet
    if alphabet is not None:
        return [bytes([byte]) for byte in alphabet[: 8 if rung < _LONG else 2]]
    if rung >= _LONGEST:
        return [c.encode() for c in _LONGEST_CHARACTERS]
    return [c.encode() for c in (_LONG_CHARACTERS if rung >= _LONG else RUN_CHARACTERS)]


def _rung(vocabulary: Vocabulary, rung: int) -> Iterator[bytes]:
    """The cases of one rung: one below, exact, one above; short ones also between letters."""
    framed = vocabulary.byte_alphabet is None and rung <= 1_000
    for unit in _characters(vocabulary, rung):
        # In characters, and in bytes where that differs: engines count one or the other.
        counts = {rung - 1, rung, rung + 1}
        if rung < _LONG:
            counts.add(rung // len(unit))
        for count in sorted(counts - {0}):
            yield unit * count
            if framed and count == rung:
                # White space looks ahead at what follows; letters join what precedes.
                yield unit * count + b"x"
                yield b"x" + unit * count
                yield b"1" + unit * count + b" "


def _runs(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    for rung in (*_LOW_RUNGS, *LADDER):
        if rung >= _LONG:
            yield from _rung(vocabulary, rung)
        else:
            cases = list(_rung(vocabulary, rung))
            rng.shuffle(cases)
            yield from cases


GENERATOR = FunctionGenerator(
    "runs",
    "runs of one character, 1 to 1,000,000 long: limits, stack depth, quadratic cost",
    _runs,
)
