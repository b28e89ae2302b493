"""Judgement of memory: what a call takes for each byte of its input, and what it grows with. Pure.

An allocator's own ways are not the implementation's. It may keep what a call gave back, so that the
next one takes nothing new; a cache keeps what it has seen, until it is full; a buffer that doubles
takes twice what it needs. So each size is asked twice in a row, with two inputs that were never
seen before, and told apart by both calls together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from harness.events import Measured
from harness.verdict.exponents import HIERARCHY, LEAST_POINTS, Growth, Verdict, judge

FLOOR = 256 << 10
"""Bytes of memory below which there is nothing to judge: an allocator's own pieces."""

TELLING = 3
"""The largest sizes that all have to be beyond a limit, before it is said to be broken."""

POOLED = 8
"""Memory that a first call took and kept is a buffer that is used again where the second call, on
another input of the same length, keeps less than so many times less. A cache goes on to grow."""

DOUBLED = 2.6
"""Memory is called superlinear if every doubling of the largest inputs takes so many times as much:
more than a buffer does that is twice as long and is copied, and less than ``n^1.5``."""

LEAST_PEAKS = 5
"""Sizes that have to take more than :data:`FLOOR` before memory may be called superlinear: of the
first one or two, a part may come from what was free before."""

ORDINARY, HUNGRY, SUPERLINEAR = "ordinary", "hungry", "superlinear"
"""What is said of memory; hungry is what takes more than :data:`LIMIT_IN_PYTHON` for each byte."""

LIMIT = 64
"""Bytes of memory for a byte of input that the user's own candidates may take: a merge loop with a
heap of pairs takes 34 here, SentencePiece 57, tiktoken 48."""

LIMIT_IN_PYTHON = 512
"""Likewise of what is written in Python, which takes 36 bytes for each number that it puts into a
list, and some ten numbers for each byte of a piece that is merged by a heap."""


@dataclass(frozen=True)
class Taken:
    """Bytes that one call took at its peak, and of these the bytes that stayed afterwards.

    Both beyond what was held before it; the peak without what the ids take that it gave.
    """

    peak: int
    kept: int

    @property
    def passing(self) -> int:
        """Bytes that it took and gave back."""
        return max(0, self.peak - self.kept)


@dataclass(frozen=True)
class Memory:
    """What memory came to.

    peaks: size to the bytes that a call takes. per_byte: the least of these for each byte, over the
    :data:`TELLING` largest sizes; None where none was measured. verdict: ``ordinary``, ``hungry``
    or ``superlinear``. growth: how the peaks grow that are large enough to tell.
    """

    peaks: Mapping[int, int]
    per_byte: float | None
    verdict: str
    growth: Growth


def judge_memory(rounds: Sequence[Mapping[int, tuple[Taken, Taken]]]) -> Memory:
    """For inputs of n bytes: peak(n) - held before - size of the ids <= limit n.

    Of the two calls a and b on a size, passing = peak - what stays after it, the lesser of both. A
    buffer that is used again counts besides, if b keeps less than 1/8 of what a keeps at each of
    the three largest sizes: by the least of 2 kept(a) / n there, as sizes double. Of all rounds the
    least counts, as a disturbance only adds; what is used again was taken in the first one alone.
    """
    peaks: dict[int, int] = {}
    pools = pooled(rounds[0]) if rounds else {}
    for one in rounds:
        for size, calls in one.items():
            peak = min(call.passing for call in calls) + pools.get(size, 0)
            peaks[size] = min(peak, peaks.get(size, peak))
    return judge_peaks(peaks)


def judge_peaks(peaks: Mapping[int, int]) -> Memory:
    """What peaks say, whatever was left out of them before."""
    telling = {size: float(peak) for size, peak in peaks.items() if peak >= FLOOR}
    growth = judge(telling)
    largest = sorted(peaks)[-TELLING:]
    per_byte = min((peaks[size] / size for size in largest), default=None)
    verdict = ORDINARY
    if soars_in_memory(telling, growth):
        verdict = SUPERLINEAR
    elif any(telling) and per_byte is not None and per_byte > LIMIT_IN_PYTHON:
        verdict = HUNGRY
    return Memory(dict(sorted(peaks.items())), per_byte, verdict, growth)


def pooled(one: Mapping[int, tuple[Taken, Taken]]) -> dict[int, int]:
    """Size to the bytes that are used again by every call up to that size; nothing for a cache.

    A buffer that is as long as the longest input so far grows with the first call of each size, and
    not with the second: by half its length, as sizes double. A cache, and a leak, grow with the
    second as well. It has to be so at all of the largest sizes, by the least of them: a cache that
    happens to be full after the first call of one size looks like it there.
    """
    largest = sorted(one)[-TELLING:]
    if len(largest) < TELLING:
        return {}
    grown = {size: (one[size][0].kept, one[size][1].kept) for size in largest}
    if any(first < FLOOR or second * POOLED > first for first, second in grown.values()):
        return {}
    a_byte = min(2 * first / size for size, (first, _) in grown.items())
    return {size: int(a_byte * size) for size in one}


def soars_in_memory(peaks: Mapping[int, float], growth: Growth) -> bool:
    """Whether memory grows with the square of the input, say, and not as an allocator's does.

    What was free before a call, and is taken first, makes the peaks of a linear use look steep (its
    doublings add as much for each byte); a buffer that doubles makes one step or another steep.
    """
    if len(peaks) < LEAST_PEAKS or growth.verdict is not Verdict.SUPERLINEAR:
        return False
    sizes = sorted(peaks)
    added = [(peaks[b] - peaks[a]) / (b - a) for a, b in pairwise(sizes)]
    least_step = min(peaks[b] / peaks[a] for a, b in pairwise(sizes[-LEAST_POINTS:]))
    return added[-1] > HIERARCHY * added[0] and least_step > DOUBLED


def beyond(peaks: Mapping[int, float], limit: float) -> bool | None:
    """Whether more than ``limit`` bytes are taken for a byte; None where that is open.

    All of the :data:`TELLING` largest sizes have to say so, or at least two where there are no
    more: a buffer that doubles may be twice too long at one of them, or two.
    """
    largest = sorted(peaks)[-TELLING:]
    over = [size for size in largest if peaks[size] > max(FLOOR, limit * size)]
    if len(over) <= len(largest) // 2:
        return False
    return True if len(over) == len(largest) > 1 else None


def outcome_of(cell: Measured, limit: float) -> tuple[str, str]:
    """``pass``, ``fail`` or ``inconclusive`` of a measurement of memory, and a line on it.

    limit: bytes for each byte of input.
    """
    if cell.verdict == Verdict.FAILED:
        return "fail", cell.note
    peaks = {int(size): peak for size, peak in cell.points}
    if not peaks:
        return "inconclusive", cell.note
    over, soars = beyond(peaks, limit), cell.memory_verdict == SUPERLINEAR
    if not soars and over is False:
        return "pass", ""
    line = f"it takes {cell.memory_per_byte or 0.0:,.0f} bytes of memory per byte"
    if soars:
        line = "its memory grows faster than the input"
    small, large = min(peaks) if soars else min(sorted(peaks)[-TELLING:]), max(peaks)
    rates = (
        f"{peaks[small] / small:,.0f} bytes per byte at {shown(small)}, "
        f"{peaks[large] / large:,.0f} at {shown(large)}"
    )
    return "fail" if soars or over else "inconclusive", f"{line} ({rates})"


def shown(size: int) -> str:
    """A size in words: ``256 bytes``, ``64 KiB``, ``2 MiB``."""
    if size < 1 << 10 or size % (1 << 10):
        return f"{size} bytes"
    return f"{size >> 10} KiB" if size < 1 << 20 else f"{size >> 20} MiB"
