"""Partitions: implementations grouped by equal outcome on one case, and who is to blame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from harness.core.outcomes import Failed, Outcome, Unsupported
from harness.core.standing import Standing

NEITHER = "<>"
"""Stands between the names of equals that differ, in the bucket of a finding that blames nobody."""


@dataclass(frozen=True)
class Part:
    """Names with one outcome: a class of a partition."""

    names: tuple[str, ...]
    outcome: Outcome


@dataclass(frozen=True)
class Blame:
    """What a partition says of those who take part.

    parts: the first is the one that the others are compared with. culprits: the names that the
    finding is about. undecided: the culprits are equals, of which nobody can say who is wrong, so
    that nobody is blamed.
    """

    parts: tuple[Part, ...]
    culprits: tuple[str, ...]
    undecided: bool = False


def first_difference(one: Sequence[object], other: Sequence[object]) -> int | None:
    """The index from which on two sequences differ, one of which may end there; None if they are
    equal. None is no member."""
    pairs = enumerate(zip_longest(one, other))
    return next((at for at, (left, right) in pairs if left != right), None)


def comparable(outcome: Outcome) -> bool:
    """Whether an outcome takes part in comparisons; failures are the survival check's."""
    return not isinstance(outcome, Unsupported | Failed)


def partition(
    outcomes: Mapping[str, Outcome], standing: Mapping[str, Standing]
) -> tuple[Part, ...]:
    """Group names by equal outcome: the part with the most trusted name first.

    Among parts of one standing the largest comes first, then the one with the earliest name; that
    order is for readers, and blames nobody. Names without a standing are the user's own. Outcomes
    that take no part in comparisons are left out.
    """
    names: dict[Outcome, list[str]] = {}  # in the order of the earliest names
    for name, outcome in outcomes.items():
        if comparable(outcome):
            names.setdefault(outcome, []).append(name)
    parts = [Part(tuple(members), outcome) for outcome, members in names.items()]
    return tuple(sorted(parts, key=lambda one: (-standing_of(one, standing), -len(one.names))))


def standing_of(part: Part, standing: Mapping[str, Standing]) -> Standing:
    """The highest standing among the names of a part."""
    return max(standing.get(name, Standing.CANDIDATE) for name in part.names)


def blames(parts: tuple[Part, ...], standing: Mapping[str, Standing]) -> tuple[Blame, ...]:
    """Who is to blame for a partition; nobody, where all outcomes are equal.

    Whoever parts from the most trusted part is blamed. Where several parts are trusted equally,
    one blame says that they differ and that nobody can say who is wrong. Those who agree with none
    of these and are trusted less are blamed beside that. How many agree is no evidence: libraries
    have mistakes in common.
    """
    if len(parts) < 2:
        return ()
    highest = max(standing_of(part, standing) for part in parts)
    equals = [part for part in parts if standing_of(part, standing) == highest]
    lower = [part for part in parts if standing_of(part, standing) < highest]
    found = []
    if len(equals) > 1:
        # By name, so that the finding is the same in whatever order the user named them.
        equals.sort(key=lambda part: min(part.names))
        rivals = (
            name
            for part in equals
            for name in part.names
            if standing.get(name, Standing.CANDIDATE) == highest
        )
        found.append(Blame((*equals, *lower), tuple(rivals), undecided=True))
    if lower:
        blamed = tuple(name for part in lower for name in part.names)
        found.append(Blame((equals[0], *lower, *equals[1:]), blamed))
    return tuple(found)
