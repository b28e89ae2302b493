"""What costs say, those that an implementation tells of itself beside what the clock says. Pure.

A program behind a pipe may say how long a call took it. That is finer than any clock outside, which
counts the protocol, too, but it is only the program's word. So both are judged: a cost is called
linear where both agree, and superlinear where either says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from harness.verdict.exponents import Growth, Verdict, judge
from harness.verdict.memory import shown

VISIBLE = 0.05
"""The share of a round trip that the CPU time of the program's processes has to be, for the largest
input, before it may be taken for what the call cost: else the work is done where nobody sees it, as
by a program that only talks to another machine."""

Costs = Mapping[int, float]
"""Size in bytes to nanoseconds; 0 stands for a few bytes."""


@dataclass(frozen=True, slots=True)
class Found:
    """The growth to report, and of which costs. contrast: how two clocks contradict each other."""

    growth: Growth
    costs: Costs
    contrast: str = ""


def growth_of(costs: Costs, **how: Any) -> Growth:
    """The growth of costs, beyond what a call on a few bytes takes."""
    return judge({size: cost for size, cost in costs.items() if size}, costs.get(0, 0.0), **how)


def reconcile(reported: Costs, counted: Costs, waited: Costs, *, named: bool) -> Found:
    """The growth by what the program says, by the kernel's count, and by the wall."""
    largest = max(counted)
    visible = counted[largest] >= VISIBLE * waited[largest]
    seen, kind = (counted, "CPU time") if visible else (waited, "a round trip")
    contrast = (
        f"it says of itself that {shown(largest)} take {reported[largest] / 1e6:.3g} ms, "
        f"but they take {seen[largest] / 1e6:.3g} ms of {kind}"
    )
    told = growth_of(reported, named=named)
    clock = growth_of(seen if visible else {**seen, 0: 0.0}, named=named)
    superlinear = clock.verdict is Verdict.SUPERLINEAR
    if told.verdict is Verdict.SUPERLINEAR or (not visible and not superlinear):
        return Found(told, reported)
    if not visible:
        # The wall's time grows with whatever else the machine does, so that it only raises doubt.
        if told.verdict is not Verdict.LINEAR:
            return Found(told, reported)
        return Found(replace(told, verdict=Verdict.INCONCLUSIVE), reported, contrast)
    if superlinear or told.exponent is None:  # it says the same of all sizes, say
        return Found(clock, counted, contrast if superlinear else "")
    agreed = clock.verdict if told.verdict is Verdict.LINEAR else told.verdict
    return Found(replace(told, verdict=agreed), reported)
