"""Interval: the count of any part of a text is that of the part by itself."""

from itertools import chain, combinations_with_replacement

from harness.checks.base import LongRuns, Severity, draw
from harness.checks.serving import CountsParts, Ranges
from impls.interface import Capability

EVERY_RANGE = 6
"""Up to so many bytes, all ranges of a text are asked for (28 of 6 bytes)."""

DRAWN = 4
"""Of a longer text, so many ranges of any length are asked, and as many short ones."""

SHORT = 12


class Interval(CountsParts):
    """For all x and 0 <= s <= e <= |x|: interval(x, s, e) = |encode(x[s:e])|.

    Ranges may begin and end inside characters, so this is asked without pre-tokenization. They
    are drawn from the input's own checksum.
    """

    name = "interval"
    summary = "any range of a text is counted as many tokens as encoded by itself"
    severity = Severity.SERVICE
    said = "counted a part of the input wrongly"
    every = 4
    needs = (Capability.INTERVAL,)
    long_runs = LongRuns.ALL

    def parts(self, service: Capability, data: bytes) -> tuple[tuple[int, ...], Ranges]:
        """The ranges of a text that are asked for."""
        found = ranges(data)
        return tuple(chain.from_iterable(found)), found


def ranges(data: bytes) -> tuple[tuple[int, int], ...]:
    """Empty, full, beginning, end, and others."""
    size = len(data)
    if size <= EVERY_RANGE:
        return tuple(combinations_with_replacement(range(size + 1), 2))
    dice = draw(data)
    found = [(0, size), (0, dice.randint(0, size)), (dice.randint(0, size), size), (size, size)]
    for _ in range(DRAWN):
        start, end = sorted(dice.randint(0, size) for _ in range(2))
        found.append((start, end))
        start = dice.randrange(size)
        found.append((start, min(size, start + dice.randint(0, SHORT))))
    return tuple(found)
