"""What of the growth of the user's own candidates a run did not decide, in words.

A candidate that nobody has seen to keep its bound has not kept it: a run that leaves a cell of it
undecided passes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.families.catalog import TELLING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.events import GrowthJudged

SHOWN = 3
"""Families that a line lists; the report has all."""

MEND = "give a larger --budget, or a [[scaling]] entry with the bound that it is to keep"


def rows_of(growth: Iterable[GrowthJudged]) -> dict[tuple[str, str], list[GrowthJudged]]:
    """The judged times of own candidates, by vocabulary and name."""
    found: dict[tuple[str, str], list[GrowthJudged]] = {}
    for one in growth:
        if one.own and one.measure == "time":
            found.setdefault((one.vocabulary, one.implementation), []).append(one)
    return found


def gaps(
    growth: Iterable[GrowthJudged], unmeasured: Mapping[tuple[str, str], Sequence[str]]
) -> list[str]:
    """A line for each candidate and vocabulary with growth that was not decided.

    unmeasured: by vocabulary and name, the families that there was no time for. Only of the telling
    ones each is owed.
    """
    lines = []
    for (vocabulary, name), rows in rows_of(growth).items():
        left = [one for one in rows if one.outcome == "inconclusive"]
        if left:
            first, more = left[0], len(left) - 1
            rest = f", and {more} more" if more else ""
            lines.append(
                f"growth of {name} on {vocabulary} is not decided on {first.family}{rest} "
                f"({first.line}): {MEND}"
            )
    telling = {family.name for family in TELLING}
    for (vocabulary, name), families in unmeasured.items():
        owed = [family for family in families if family in telling]
        if owed:
            more = len(owed) - SHOWN
            rest = f" and {more} more" if more > 0 else ""
            lines.append(
                f"growth of {name} on {vocabulary} was not measured on {', '.join(owed[:SHOWN])}"
                f"{rest}: no time was left; give a larger --budget"
            )
    return lines


def counted(
    growth: Iterable[GrowthJudged], unmeasured: Mapping[tuple[str, str], Sequence[str]]
) -> list[str]:
    """A line for each candidate and vocabulary: families decided, undecided, and not measured."""
    by_place = rows_of(growth)
    lines = []
    for place in dict.fromkeys([*by_place, *unmeasured]):
        rows = by_place.get(place, [])
        undecided = sum(one.outcome == "inconclusive" for one in rows)
        vocabulary, name = place
        lines.append(
            f"growth of {name} on {vocabulary} by family: {len(rows) - undecided} decided, "
            f"{undecided} undecided, {len(unmeasured.get(place, ()))} not measured"
        )
    return lines
