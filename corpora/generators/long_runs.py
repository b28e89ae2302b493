"""Long runs of one character or a few, framed: what a timed run asks of everybody near its start.

Generators take turns, and the ladder of :mod:`corpora.generators.runs` is climbed a batch a turn: a
short run never comes to its upper rungs, and a mistake that begins past a length is missed. Here
each kind of run is met at 1,000 and 10,000 bytes first, then one kind at 100,000, another for each
vocabulary, and of a large vocabulary at 900,000; these are the certain ones (:func:`certain`). The
other kinds at 100,000 bytes come after that, in turn with the other generators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.generators.runs import RUN_CHARACTERS

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

NAME = "long-runs"

SHORT, MIDDLE, LONG, LONGEST = 1_000, 10_000, 100_000, 900_000
"""Bytes of a run. The longest is a little less than the million steps after which the pattern
engine of several libraries gives up, on white space: tiktoken panics there. That is a defect, but
it is known, and would fail the gate of everybody who compares with tiktoken."""

LARGE = 100_000
"""Tokens from which on a vocabulary is met with the longest run: the time of a small one is better
spent on other inputs."""

KINDS = (*(character.encode() for character in RUN_CHARACTERS), b"a ", b"ab", b" the cat\n", b"x1")
"""What is repeated: each of the characters, and a few texts of many pieces and of tied merges."""

LETTERS = 3
"""Letters of a toy's alphabet that are repeated, each by itself; two of them also in turn."""


def _kinds(vocabulary: Vocabulary) -> list[bytes]:
    alphabet = vocabulary.byte_alphabet
    if alphabet is None:
        return list(KINDS)
    letters = [bytes([byte]) for byte in alphabet[:LETTERS]]
    return [*letters, bytes(alphabet[:2])] if len(alphabet) > 1 else letters


def _framed(vocabulary: Vocabulary, unit: bytes, size: int) -> list[bytes]:
    """A run by itself, and with something after it, before it, and on both sides."""
    run = unit * (size // len(unit))
    alphabet = vocabulary.byte_alphabet
    if alphabet is not None:
        edge = bytes(alphabet[-1:])
        return [run, run + edge, edge + run, edge + run + edge]
    # White space looks ahead at what follows; letters join what precedes.
    return [run, run + b"x", b"x" + run, b"1" + run + b" y"]


def _cases(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    kinds = _kinds(vocabulary)
    rng.shuffle(kinds)
    for number, unit in enumerate(kinds):
        framed = _framed(vocabulary, unit, SHORT)
        yield framed[number % len(framed)]
    for unit in kinds:
        yield _framed(vocabulary, unit, MIDDLE)[-1]
    for number, unit in enumerate(kinds):
        yield _framed(vocabulary, unit, LONG)[-1]
        if number == 0 and len(vocabulary) >= LARGE:
            yield _framed(vocabulary, unit, LONGEST)[-1]


def certain(vocabulary: Vocabulary) -> int:
    """How many of the first cases are asked before the other generators take turns."""
    count = len(_kinds(vocabulary))
    return 2 * count + 1 + (len(vocabulary) >= LARGE) if count else 0


GENERATOR = FunctionGenerator(
    NAME, "runs of 1,000 to 900,000 bytes of each kind, bare and framed, for certain", _cases
)
"""Not in the catalog: a timed run that has ``runs`` has this, too."""
