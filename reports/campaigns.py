"""A campaign in report.html: its canary, the chance of something new, the curve of discoveries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.blocks import (
    Axis,
    Figure,
    Group,
    Paragraph,
    Plot,
    Section,
    Series,
    Span,
    Table,
    numbers,
)
from reports.blocks.units import figure, per_cent, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from harness.events import Campaign
    from reports.blocks import Block

KINDS = ("behaviours", "disagreements", "findings")
"""The columns of a curve, after the cases."""

CANARY = {
    True: ("✓ canary found", "badge fixed"),
    False: ("✗ canary not found", "badge unexpected"),
    None: ("no canary", "badge none"),
}

Curve = list[tuple[int, int]]


def sections(campaign: Campaign | None) -> list[Section]:
    """What to show of the campaign that a record is of, if it is of one."""
    if campaign is None:
        return []
    outlook = Table(
        "Chance of something new",
        (
            "Kind",
            *numbers("Seen", "Seen once", "Chance of a new one", "New ones expected"),
            *numbers("With the next case"),
        ),
        [
            (
                one.kind,
                one.seen,
                one.once,
                per_cent(one.chance),
                figure(one.to_come),
                per_cent(one.next),
            )
            for one in campaign.outlooks
        ],
        f"What the next hour may show ({campaign.ahead}). {campaign.source}. A campaign changes "
        "what it draws from: take it for orders of magnitude.",
    )
    curves = [
        Figure((Span(kind, "strong"), f" discovered, {total[-1][1]:,} so far"), [plot(kind, total)])
        for place, kind in enumerate(KINDS, start=1)
        if (total := together(campaign.curves.values(), place)) and total[-1][1]
    ]
    targets = plural(len(campaign.curves), "target")
    since = f" Since {campaign.time}, {targets}, {campaign.rate:.1f} cases a second."
    said = (Span(*CANARY[campaign.canary]), " ", campaign.said, Span(since, "quiet"))
    blocks: list[Block] = [
        Paragraph(said),
        outlook,
        Group(curves, "plots"),
    ]
    return [Section("Campaign", blocks, "campaign")]


def together(curves: Iterable[Sequence[Sequence[int]]], place: int) -> Curve:
    """The sum of all targets after so many cases of each; one that has fewer stays as it is."""
    steps = [[(point[0], point[place]) for point in curve] for curve in curves if curve]
    return [
        (cases, sum(max((y for x, y in curve if x <= cases), default=0) for curve in steps))
        for cases in sorted({x for curve in steps for x, _ in curve if x > 0})
    ]


def plot(kind: str, points: Curve) -> Plot:
    """A curve of discoveries, with the cases on a logarithmic axis."""
    return Plot(
        f"{kind}: {points[-1][1]:,} after {points[-1][0]:,} cases of each target",
        Axis("count", "cases of each target", 10),
        Axis("count"),
        [Series(kind, [(float(x), float(y)) for x, y in points], "accent", "steps")],
        height=200,
    )
