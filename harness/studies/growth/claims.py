"""What an implementation says of its own cost, beside what the clock says. Pure.

A program behind a pipe may say how long a call took it. That is finer than any clock outside, which
counts the protocol, too, but it is only the program's word. So both are judged: a cost is called
linear where both agree, and superlinear where either says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.verdict.exponents import Growth, Verdict, judge

VISIBLE = 0.05
"""The share of a round trip that the CPU time of the program's processes has to be, for the largest
input, before it may be taken for what the call cost: else the work is done where nobody sees it, as
by a program that only talks to another machine."""

Costs = Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Claims:
    """Size in bytes to nanoseconds: as the program says, by the kernel's count, and by the wall."""

    reported: Costs
    counted: Costs
    round_trips: Costs

    @property
    def visible(self) -> bool:
        """Whether the kernel's count is of the work and not of a messenger."""
        largest = max(self.counted, default=0)
        return bool(largest) and self.counted[largest] >= VISIBLE * self.round_trips[largest]

    def contrast(self, named: str) -> str:
        """The largest input in words: what it is said to take, and what it takes."""
        largest = max(self.counted)
        counted = self.counted if self.visible else self.round_trips
        kind = "CPU time" if self.visible else "a round trip"
        return (
            f"it says of itself that {named} take {self.reported[largest] / 1e6:.3g} ms, "
            f"but they take {counted[largest] / 1e6:.3g} ms of {kind}"
        )


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The growth to report, of which costs, and whether two clocks contradict each other."""

    growth: Growth
    costs: Costs
    contradicted: bool = False


def reconcile(claims: Claims, tiny: float, tiny_counted: float, *, named: bool) -> Reconciled:
    """The growth by both; tiny: what a call on a few bytes costs, told and counted."""
    reported = judge(claims.reported, tiny, named=named)
    told = Reconciled(reported, claims.reported)
    if reported.verdict is Verdict.SUPERLINEAR:
        return told
    if not claims.visible:
        # The wall's time grows with whatever else the machine does, so that it only raises doubt.
        trips = judge(claims.round_trips, named=False)
        doubtful = reported.verdict is Verdict.LINEAR and trips.verdict is Verdict.SUPERLINEAR
        doubted = replace(reported, verdict=Verdict.INCONCLUSIVE)
        return Reconciled(doubted, claims.reported, contradicted=True) if doubtful else told
    counted = judge(claims.counted, tiny_counted, named=named)
    contradicted = counted.verdict is Verdict.SUPERLINEAR
    if contradicted or reported.exponent is None:  # it says the same of all sizes, say
        return Reconciled(counted, claims.counted, contradicted)
    agreed = counted.verdict if reported.verdict is Verdict.LINEAR else reported.verdict
    return Reconciled(replace(reported, verdict=agreed), claims.reported)
