"""What a run says of growth under its bounds, in words: broken, undecided, not measured.

The user's own candidate that nobody has seen to keep its bound has not kept it: a run that leaves a
cell of it undecided passes nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from corpora.families.catalog import TELLING
from harness.verdict.gaps import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from harness.events import GrowthJudged

SHOWN = 8
"""Bounds, and names, that are listed."""

MEND = "give a larger --budget, or a [[scaling]] entry with the bound that it is to keep"

Place = tuple[str, str]
"""A vocabulary, and the name of an implementation."""


def broken(growth: Collection[GrowthJudged]) -> list[str]:
    """A line for each implementation and bound that was broken, the first of them in full."""
    alike: dict[tuple[str, str], list[GrowthJudged]] = {}
    for one in growth:
        if one.outcome == "fail":
            alike.setdefault((one.implementation, one.bound), []).append(one)
    lines = []
    for (name, bound), (first, *others) in alike.items():
        rest = f", and on {len(others)} more" if others else ""
        lines.append(
            f"{name} breaks its limit, {bound} ({first.reason}): {first.line} "
            f"on {first.family} of {first.vocabulary}{rest}"
        )
    hidden = len(lines) - SHOWN
    return lines[:SHOWN] + [f"and {hidden} more bounds on growth are broken"] * (hidden > 0)


def told(
    growth: Collection[GrowthJudged], unmeasured: Mapping[Place, Sequence[str]]
) -> tuple[list[str], list[str]]:
    """The gaps in the growth of the user's own candidates, and the notes on all growth.

    unmeasured: the families that there was no time for. Only of the telling ones each is owed.
    """
    gaps, notes = [], []
    telling = {family.name for family in TELLING}
    timed = [one for one in growth if one.own and one.measure == "time"]
    for place in dict.fromkeys(
        [*((one.vocabulary, one.implementation) for one in timed), *unmeasured]
    ):
        rows = [one for one in timed if (one.vocabulary, one.implementation) == place]
        left = [one for one in rows if one.outcome == "inconclusive"]
        missed = unmeasured.get(place, ())
        owed = [family for family in missed if family in telling]
        who = f"growth of {place[1]} on {place[0]}"
        if left:
            families = listed([one.family for one in left], 1)
            gaps.append(f"{who} is not decided on {families} ({left[0].line}): {MEND}")
        if owed:
            why = "no time was left for it, or it was withdrawn before; give a larger --budget"
            gaps.append(f"{who} was not measured on {listed(owed)}: {why}")
        notes.append(
            f"{who} by family: {len(rows) - len(left)} decided, {len(left)} undecided, "
            f"{len(missed)} not measured"
        )
    # Of all others an undecided cell fails nothing.
    counts = Counter(
        one.implementation for one in growth if one.outcome == "inconclusive" and not one.own
    )
    if counts:
        shown = listed([f"{name} ({count})" for name, count in counts.most_common()], SHOWN)
        notes.append(
            f"growth inconclusive in {counts.total()} of {len(growth)} bound cells: {shown}"
        )
    return gaps, notes
