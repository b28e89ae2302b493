"""Incremental: a text that grows has at each length the tokens that its encoding has."""

from __future__ import annotations

from collections.abc import Sequence

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

EACH_BYTE = 12
"""Up to so many bytes, a text grows byte by byte: so a minimal input shows the fault for sure."""

CUTS = 5
"""Chunks of a longer text, besides the last."""


class Incremental(Check):
    """For chunks c1, .., cn of x: append gives |encode(c1 .. ci)| after chunk i, prepend, from the
    last chunk to the first, |encode(ci .. cn)|.

    Chunks may be empty and may end inside a character, so this is asked without
    pre-tokenization. They are drawn from the input's own checksum.
    """

    name = "incremental"
    summary = "a text that grows at either end has at each length as many tokens as encoded"
    severity = Severity.SERVICE
    said = "counted a growing text wrongly"
    every = 4
    needs = (Capability.APPEND, Capability.PREPEND)
    long_runs = LongRuns.ALL

    def applies(self, contract: Contract) -> bool:
        """Without pre-tokenization, with somebody who appends or prepends."""
        return is_raw(contract) and super().applies(contract)

    def probes(self, seen: Observation) -> list[Probe]:
        """The services, and the encodings of what there is after each chunk."""
        return probes_of(seen, self._asked(seen))

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare each count."""
        return judged(self.name, seen, self._asked(seen), answers)

    def _asked(self, seen: Observation) -> list[Inquiry]:
        return [
            *inquiries(seen, Capability.APPEND, appended),
            *inquiries(seen, Capability.PREPEND, prepended),
        ]


def appended(index: int, data: bytes) -> Question:
    """Where chunks end, and the texts up to there."""
    ends = cuts(data)
    return Question(index, ends, tuple((0, end) for end in ends))


def prepended(index: int, data: bytes) -> Question:
    """Where chunks begin, the last one first, and the texts from there on."""
    starts = tuple(len(data) - cut for cut in cuts(data))
    return Question(index, starts, tuple((start, len(data)) for start in starts))


def cuts(data: bytes) -> tuple[int, ...]:
    """Lengths that a text grows to; the last is its own."""
    size = len(data)
    if size <= EACH_BYTE:
        return tuple(range(1, size + 1)) or (0,)
    dice = draw(data)
    return (*sorted(dice.randint(0, size) for _ in range(CUTS)), size)
