"""Interval: the count of any part of a text is that of the part by itself."""

from itertools import combinations_with_replacement
from typing import Any

from harness.checks.base import draw
from harness.checks.services import CountsParts, Ranges
from impls.interface import Capability

EVERY_RANGE = 6
"""Up to so many bytes, all ranges of a text are asked for (28 of 6 bytes)."""

DRAWN = 2
"""In a longer text, so many places and as many shortly after them are drawn: all ranges between
these, the beginning and the end are asked for."""

SHORT = 12


class Interval(CountsParts):
    """For all x and 0 <= s <= e <= |x|: interval(x, s, e) = |encode(x[s:e])|.

    Ranges may begin and end inside characters, so this is asked without pre-tokenization. They
    are drawn from the input's own checksum.
    """

    name = "interval"
    summary = "the count for a range of a text is that of the range encoded by itself"
    said = "counted a part of the input wrongly"
    needs = (Capability.INTERVAL,)

    def parts(self, service: Capability, data: bytes) -> tuple[tuple[Any, ...], Ranges]:
        """The ranges of a text that are asked for."""
        found = ranges(data)
        return (data, found), found


def ranges(data: bytes) -> Ranges:
    """Empty, full, beginning, end, and others."""
    size = len(data)
    points = {*range(size + 1)}
    if size > EVERY_RANGE:
        dice = draw(data)
        starts = [dice.randrange(size) for _ in range(DRAWN)]
        points = {0, size, *starts, *(min(size, at + dice.randint(0, SHORT)) for at in starts)}
    return [*combinations_with_replacement(sorted(points), 2)]
