"""Incremental: a text that grows has at each length the tokens that its encoding has."""

from itertools import pairwise
from typing import Any

from harness.checks.base import draw
from harness.checks.services import CountsParts, Ranges
from impls.interface import Capability

EACH_BYTE = 12
"""Up to so many bytes, a text grows byte by byte: so a minimal input shows the fault for sure."""

CUTS = 5
"""Chunks of a longer text, besides the last."""


class Incremental(CountsParts):
    """For chunks c1, .., cn of x: append gives |encode(c1 .. ci)| after chunk i, prepend, from the
    last chunk to the first, |encode(ci .. cn)|.

    Chunks may be empty and may end inside a character, so this is asked without
    pre-tokenization. They are drawn from the input's own checksum.
    """

    name = "incremental"
    summary = "a text that grows at either end has the right number of tokens at each length"
    said = "counted a growing text wrongly"
    needs = (Capability.APPEND, Capability.PREPEND)

    def parts(self, service: Capability, data: bytes) -> tuple[tuple[Any, ...], Ranges]:
        """Chunks of the text, and the texts that they make; the last one first to prepend."""
        ends, size = cuts(data), len(data)
        grown = [*pairwise((0, *ends))]
        ranges = [(0, end) for end in ends]
        if service is Capability.PREPEND:
            grown = [(size - after, size - before) for before, after in grown]
            ranges = [(size - end, size) for end in ends]
        return ([data[start:end] for start, end in grown],), ranges


def cuts(data: bytes) -> tuple[int, ...]:
    """Lengths that a text grows to; the last is its own."""
    size = len(data)
    if size <= EACH_BYTE:
        return tuple(range(1, size + 1)) or (0,)
    dice = draw(data)
    return (*sorted(dice.randint(0, size) for _ in range(CUTS)), size)
