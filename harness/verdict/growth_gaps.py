"""What of the growth of the user's own candidates a run did not decide, in words.

A candidate that nobody has seen to keep its bound has not kept it: a run that leaves a cell of it
undecided passes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.families.catalog import TELLING
from harness.verdict.gaps import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.events import GrowthJudged

MEND = "give a larger --budget, or a [[scaling]] entry with the bound that it is to keep"

Place = tuple[str, str]
"""A vocabulary, and the name of an implementation."""


def rows_of(growth: Iterable[GrowthJudged]) -> dict[Place, list[GrowthJudged]]:
    """The judged times of own candidates."""
    found: dict[Place, list[GrowthJudged]] = {}
    for one in growth:
        if one.own and one.measure == "time":
            found.setdefault((one.vocabulary, one.implementation), []).append(one)
    return found


def undecided(rows: Iterable[GrowthJudged]) -> list[GrowthJudged]:
    """Those that neither keep their bound nor break it."""
    return [one for one in rows if one.outcome == "inconclusive"]


def gaps(growth: Iterable[GrowthJudged], unmeasured: Mapping[Place, Sequence[str]]) -> list[str]:
    """A line for each candidate and vocabulary with growth that was not decided.

    unmeasured: the families that there was no time for. Only of the telling ones each is owed.
    """
    lines = []
    for (vocabulary, name), rows in rows_of(growth).items():
        left = undecided(rows)
        if left:
            families = listed([one.family for one in left], 1)
            where = f"growth of {name} on {vocabulary} is not decided on {families}"
            lines.append(f"{where} ({left[0].line}): {MEND}")
    telling = {family.name for family in TELLING}
    for (vocabulary, name), missed in unmeasured.items():
        owed = [family for family in missed if family in telling]
        if owed:
            lines.append(
                f"growth of {name} on {vocabulary} was not measured on {listed(owed)}: "
                "no time was left for it, or it was withdrawn before; give a larger --budget"
            )
    return lines


def counted(growth: Iterable[GrowthJudged], unmeasured: Mapping[Place, Sequence[str]]) -> list[str]:
    """A line for each candidate and vocabulary: families decided, undecided, and not measured."""
    by_place = rows_of(growth)
    lines = []
    for place in dict.fromkeys([*by_place, *unmeasured]):
        rows = by_place.get(place, [])
        left = len(undecided(rows))
        vocabulary, name = place
        lines.append(
            f"growth of {name} on {vocabulary} by family: {len(rows) - left} decided, "
            f"{left} undecided, {len(unmeasured.get(place, ()))} not measured"
        )
    return lines
