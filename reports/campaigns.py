"""A campaign in report.html: its canary, the chance of something new, the curve of discoveries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from harness.events import Campaign
from reports.blocks import (
    Axis,
    Figure,
    Group,
    Inline,
    Paragraph,
    Plot,
    Point,
    Section,
    Series,
    Span,
    Table,
)
from reports.blocks.units import figure, per_cent, plural

KINDS = ("behaviours", "disagreements", "findings")
"""The columns of a curve, after the cases."""

CANARY = {
    True: ("✓ canary found", "badge fixed"),
    False: ("✗ canary not found", "badge unexpected"),
    None: ("no canary", "badge none"),
}


def sections(campaign: Campaign | None) -> list[Section]:
    """What to show of the campaign that a record is of, if it is of one."""
    if campaign is None:
        return []
    said: Inline = (Span(*CANARY[campaign.canary]), " ", campaign.said)
    if not campaign.rate:  # nothing was asked yet, and nobody knows what is to come
        return [Section("Campaign", [Paragraph(said)], "campaign")]
    rows = [
        (
            one.kind, one.seen, one.once,
            per_cent(one.chance), figure(one.to_come), per_cent(one.next),
        )
        for one in campaign.outlooks
    ]  # fmt: skip
    outlook = Table(
        "Chance of something new",
        "Kind | Seen: | Seen once: | Chance of a new one: | New ones expected: | "
        "With the next case:",
        rows,
        f"What the next hour may show ({campaign.ahead}). {campaign.source}. Take "
        "these as orders of magnitude, because a campaign changes its choice of inputs.",
    )
    curves = [
        one
        for place, kind in enumerate(KINDS, start=1)
        for one in curve(kind, together(campaign.curves.values(), place))
    ]
    targets = plural(len(campaign.curves), "target")
    since = f" Since {campaign.time}, {targets}, {campaign.rate:.1f} cases a second."
    blocks = [Paragraph((said, Span(since, "quiet"))), outlook, Group(curves, "plots")]
    return [Section("Campaign", blocks, "campaign")]


def together(curves: Collection[Sequence[Sequence[int]]], place: int) -> list[Point]:
    """The sum of all targets after so many cases of each; one that has fewer stays as it is."""
    return [
        (cases, sum(max((one[place] for one in of if one[0] <= cases), default=0) for of in curves))
        for cases in sorted({cases for of in curves for cases, *_ in of if cases > 0})
    ]


def curve(kind: str, points: Sequence[Point]) -> Iterator[Figure]:
    """A curve of discoveries, with the cases on a logarithmic axis; none of what was not seen."""
    for cases, number in points[-1:]:
        if number:
            plot = Plot(
                f"{kind}: {number:,.0f} after {cases:,.0f} cases of each target",
                Axis("count", "cases of each target", 10),
                Axis("count"),
                [Series(kind, points, "accent", "steps")],
                height=200,
            )
            yield Figure((Span(kind, "strong"), f" discovered, {number:,.0f} so far"), [plot])
