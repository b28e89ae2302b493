"""A campaign in report.html: its canary, the chance of something new, the curve of discoveries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from corpora.plain_text import printable
from reports.plots import count, figure
from reports.severity import share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.events import Campaign
    from reports.record import RunRecord

WIDTH, HEIGHT = 520, 190
LEFT, RIGHT, TOP, BOTTOM = 62, 24, 12, 40

KINDS = ("behaviours", "disagreements", "findings")
"""The columns of a curve, after the cases."""

Curve = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Hope:
    """The outlook for one kind, in words."""

    kind: str
    seen: int
    once: int
    chance: str
    expected: str
    next: str


@dataclass(frozen=True, slots=True)
class Curves:
    """One kind over the cases, where there is any. now: how many there are."""

    kind: str
    now: int
    plot: Markup


@dataclass(frozen=True, slots=True)
class CampaignView:
    """A campaign, ready to print."""

    event: Campaign
    targets: int
    hopes: list[Hope]
    curves: list[Curves]

    @property
    def canary(self) -> str:
        """The state of the canary, as a class of badges."""
        return {True: "fixed", False: "unexpected", None: "none"}[self.event.canary]


def campaign(record: RunRecord) -> CampaignView | None:
    """What to show of the campaign that a record is of, if it is of one."""
    event = record.campaign
    if event is None:
        return None
    return CampaignView(
        event=event,
        targets=len(event.curves),
        hopes=[
            Hope(
                kind=one.kind,
                seen=one.seen,
                once=one.once,
                chance=share(one.chance),
                expected=figure(one.to_come),
                next=share(one.next),
            )
            for one in event.outlooks
        ],
        curves=[
            Curves(kind, total[-1][1], plot(kind, total))
            for place, kind in enumerate(KINDS, start=1)
            if (total := together(event.curves.values(), place)) and total[-1][1]
        ],
    )


def together(curves: Iterable[Sequence[Sequence[int]]], place: int) -> Curve:
    """The sum of all targets after so many cases of each; one that has fewer stays as it is."""
    steps = [[(point[0], point[place]) for point in curve] for curve in curves if curve]
    if not steps:
        return []
    made = []
    for cases in sorted({x for curve in steps for x, _ in curve if x > 0}):
        now = (max((y for x, y in curve if x <= cases), default=0) for curve in steps)
        made.append((cases, sum(now)))
    return made


def plot(kind: str, points: Curve) -> Markup:
    """An SVG of a curve, with the cases on a logarithmic axis."""
    low = math.floor(math.log10(points[0][0]))
    high = max(low + 1, math.ceil(math.log10(points[-1][0])))
    most = max([1, *(value for _, value in points)])
    right, floor = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(cases: float) -> float:
        return LEFT + (math.log10(cases) - low) / (high - low) * (right - LEFT)

    def y(value: float) -> float:
        return floor - value / most * (floor - TOP)

    grid = Markup("").join(
        Markup(
            '<path class="grid" d="M{l} {y:.1f}H{r}"/>'
            '<text x="{e}" y="{b:.1f}" text-anchor="end">{s}</text>'
        ).format(l=LEFT, r=right, y=y(tick), e=LEFT - 6, b=y(tick) + 4, s=count(tick))
        for tick in dict.fromkeys((0, most / 2 if most > 1 else 0, most))
    )
    marks = Markup("").join(
        Markup('<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>').format(
            x(10.0**power), floor + 16, count(10.0**power)
        )
        for power in range(low, high + 1)
    )
    path = f"{x(points[0][0]):.1f} {y(points[0][1]):.1f}"
    path += "".join(f"H{x(c):.1f}V{y(v):.1f}" for c, v in points[1:])
    label = printable(f"{kind}: {points[-1][1]:,} after {points[-1][0]:,} cases of each target")
    return Markup(
        '<svg class="plot" viewBox="0 0 {w} {h}" role="img" aria-label="{label}">{grid}{marks}'
        '<text x="{m}" y="{f}" text-anchor="middle">cases of each target</text>'
        '<path class="own" d="M{path}"/>'
        '<circle cx="{cx:.1f}" cy="{cy:.1f}" r="4"><title>{label}</title></circle></svg>'
    ).format(
        w=WIDTH, h=HEIGHT, label=label, grid=grid, marks=marks, m=(LEFT + right) // 2,
        f=HEIGHT - 6, path=path, cx=x(points[-1][0]), cy=y(points[-1][1]),
    )  # fmt: skip
