"""Interval: the count of any part of a text is that of the part by itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations_with_replacement

from harness.checks.base import Check, Judgement, LongRuns, Observation, Probe, Severity
from harness.checks.serving import (
    Inquiry,
    Question,
    draw,
    inquiries,
    is_raw,
    judged,
    probes_of,
)
from harness.core.comparisons import Contract
from harness.core.outcomes import Results
from impls.interface import Capability

EVERY_RANGE = 6
"""Up to so many bytes, all ranges of a text are asked for (28 of 6 bytes)."""

DRAWN = 4
"""Of a longer text, so many ranges of any length are asked, and as many short ones."""

SHORT = 12


class Interval(Check):
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

    def applies(self, contract: Contract) -> bool:
        """Without pre-tokenization, with somebody who counts intervals."""
        return is_raw(contract) and super().applies(contract)

    def probes(self, seen: Observation) -> list[Probe]:
        """The service, and the encodings of the ranges."""
        return probes_of(seen, self._asked(seen))

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare each count."""
        return judged(self.name, seen, self._asked(seen), answers)

    def _asked(self, seen: Observation) -> list[Inquiry]:
        return inquiries(seen, Capability.INTERVAL, question)


def question(index: int, data: bytes) -> Question:
    """The ranges of a text that are asked for."""
    found = ranges(data)
    return Question(index, tuple(chain.from_iterable(found)), found)


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
