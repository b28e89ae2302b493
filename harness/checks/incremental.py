"""Incremental: a text that grows has at each length the tokens that its encoding has."""

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
    summary = "a text that grows at either end has at each length as many tokens as encoded"
    said = "counted a growing text wrongly"
    needs = (Capability.APPEND, Capability.PREPEND)

    def parts(self, service: Capability, data: bytes) -> tuple[tuple[int, ...], Ranges]:
        """Where chunks end, and the texts up to there; or where they begin, the last one first."""
        ends = cuts(data)
        if service is Capability.APPEND:
            return ends, [(0, end) for end in ends]
        starts = tuple(len(data) - cut for cut in ends)
        return starts, [(start, len(data)) for start in starts]


def cuts(data: bytes) -> tuple[int, ...]:
    """Lengths that a text grows to; the last is its own."""
    size = len(data)
    if size <= EACH_BYTE:
        return tuple(range(1, size + 1)) or (0,)
    dice = draw(data)
    return (*sorted(dice.randint(0, size) for _ in range(CUTS)), size)
