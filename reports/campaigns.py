"""A campaign in report.html: its canary, the chance of something new, the curve of discoveries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.plots import Axis, Plot, Series, figure
from reports.severity import share

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from markupsafe import Markup

    from harness.events import Campaign
    from reports.record import RunRecord

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
    """A curve of discoveries, with the cases on a logarithmic axis."""
    label = f"{kind}: {points[-1][1]:,} after {points[-1][0]:,} cases of each target"
    series = Series(kind, [(float(x), float(y)) for x, y in points], "accent", "steps")
    return Plot(
        label, Axis("count", "cases of each target", 10), Axis("count"), [series], height=200
    ).markup()
