"""Growth of those whom the gate holds to a bound: a small plot a family, the worst first."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from harness.verdict.bounds import IN_TIME, POWERS
from impls import registry
from reports.plots import Plot, Series, cost, costs, extent, grown, usable
from reports.record import cell_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.events import GrowthJudged, Measured
    from reports.plots import Point
    from reports.record import RunRecord

SMALL = 160
"""Pixels of height of a plot."""

MOST_PLOTS = 24
"""Plots of one candidate on a vocabulary; the other families are lines of the grid below."""

ORDER = {"fail": 0, "inconclusive": 1, "pass": 2}

WORDS = {"fail": "over its bound", "inconclusive": "undecided", "pass": "within its bound"}


@dataclass(frozen=True, slots=True)
class FamilyPlot:
    """One family of a candidate. points: size and cost of each, in words. command: to try it."""

    family: str
    outcome: str
    words: str
    line: str
    plot: Markup
    points: Sequence[tuple[str, str]]
    command: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """The growth of a candidate on a vocabulary. tally: how many families are decided, and not.

    more: families that are within their bound and have no plot here.
    """

    implementation: str
    vocabulary: str
    tally: Sequence[tuple[str, str, int]]
    plots: Sequence[FamilyPlot]
    more: int


def candidates(record: RunRecord) -> list[Candidate]:
    """Whoever is held to a bound in time and is the user's own, or breaks it; who does so first."""
    measured = {cell_of(one): one for one in record.measured}
    specs = record.started.specs if record.started else {}
    groups: dict[tuple[str, str], list[GrowthJudged]] = {}
    for one in record.growth_judged:
        if one.measure == "time" and cell_of(one) in measured:
            groups.setdefault((one.implementation, one.vocabulary), []).append(one)
    made = []
    for (name, vocabulary), judged in groups.items():
        known = registry.built_in(specs.get(name, name))
        if known and all(one.outcome != "fail" for one in judged):
            continue
        judged.sort(key=lambda one: (ORDER[one.outcome], -_steepness(measured[cell_of(one)])))
        counts = Counter(one.outcome for one in judged)
        reached = {one.family for one in judged}
        chosen = [one.chosen for one in record.families if one.vocabulary == vocabulary]
        missing = sum(family not in reached for families in chosen for family in families)
        tally = [(one, WORDS[one], counts[one]) for one in ORDER if counts[one]]
        tally += [("none", "not measured", missing)] if missing else []
        plots = [_plot(one, measured[cell_of(one)], record.measured) for one in judged[:MOST_PLOTS]]
        made.append(Candidate(name, vocabulary, tally, plots, len(judged) - len(plots)))
    return sorted(made, key=lambda one: ORDER[one.plots[0].outcome])


def _steepness(cell: Measured) -> float:
    return cell.exponent if cell.exponent is not None and math.isfinite(cell.exponent) else 0.0


def _plot(judged: GrowthJudged, shown: Measured, measured: Sequence[Measured]) -> FamilyPlot:
    alike = [one for one in measured if (one.vocabulary, one.family, one.measure)
             == (judged.vocabulary, judged.family, judged.measure)]  # fmt: skip
    points = usable(shown.points)
    write, far = cost(shown.measure), extent(shown.axis)
    largest = int(points[-1][0]) if points else 0
    code = f"import random, sys; n = {largest}; sys.stdout.buffer.write({shown.expression})"
    return FamilyPlot(
        family=shown.family,
        outcome=judged.outcome,
        words=WORDS[judged.outcome],
        line=judged.line or f"exponent {shown.exponent:.2f}" if shown.exponent else judged.line,
        plot=_drawn(shown, [one for one in alike if one is not shown], judged.bound),
        points=[(far(x), write(y)) for x, y in points],
        command=f"python -c {shlex.quote(code)}"
        if shown.expression and largest and shown.axis == "bytes"
        else "",
    )


def _drawn(shown: Measured, others: Sequence[Measured], bound: str) -> Markup:
    points = usable(shown.points)
    if not points:
        return Markup("")
    lines = [
        *(
            Series(one.implementation, usable(one.points), "quiet", "thin")
            for one in others
            if usable(one.points)
        ),
        *([Series(f"bound: {bound}", limit, "text", "thin", dash=True)]
          if (limit := bound_line(points, shown.overhead or 0.0, bound)) else []),
        Series(shown.implementation, points, "accent", wide=True),
    ]  # fmt: skip
    label = f"{shown.implementation} on {shown.family}, with its bound {bound}"
    return Plot(label, grown(shown.axis), costs(shown.measure), lines, height=SMALL).markup(
        values=False
    )


def bound_line(points: Sequence[Point], overhead: float, bound: str) -> list[Point]:
    """A cost that grows as a bound allows, from the first point that is more than the overhead.

    Empty where there are no two such points, or the bound has no law.
    """
    grown = [(x, y) for x, y in points if y > 2 * overhead]
    if bound not in IN_TIME or len(grown) < 2:
        return []
    power = POWERS.get(bound, 1.0)
    first, start = grown[0]

    def allowed(x: float) -> float:
        logarithms = math.log(x) / math.log(first) if bound == "n log n" and first > 1 else 1.0
        return float(overhead + (start - overhead) * (x / first) ** power * logarithms)

    return [(x, allowed(x)) for x, _ in grown]
