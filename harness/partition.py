"""Partitions: implementations grouped by equal outcome on one case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.outcomes import Failed, Outcome, Unsupported

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Part:
    """Names with one outcome: a class of a partition."""

    names: tuple[str, ...]
    outcome: Outcome


def comparable(outcome: Outcome) -> bool:
    """Whether an outcome takes part in comparisons; failures are the survival check's."""
    return not isinstance(outcome, Unsupported | Failed)


def partition(outcomes: Mapping[str, Outcome], references: frozenset[str]) -> tuple[Part, ...]:
    """Group names by equal outcome, the trusted part first.

    Trusted is the part with a reference; among several or none, the largest, then the one with
    the earliest name. The others follow by size, then by order. Outcomes that take no part in
    comparisons are left out.
    """
    names: dict[Outcome, list[str]] = {}
    for name, outcome in outcomes.items():
        if comparable(outcome):
            names.setdefault(outcome, []).append(name)
    parts = [Part(tuple(members), outcome) for outcome, members in names.items()]
    order = {name: place for place, name in enumerate(outcomes)}

    def rank(part: Part) -> tuple[bool, int, int]:
        trusted = any(name in references for name in part.names)
        return (not trusted, -len(part.names), order[part.names[0]])

    return tuple(sorted(parts, key=rank))


def culprits(parts: tuple[Part, ...]) -> tuple[str, ...]:
    """Everybody outside the trusted part, in order."""
    return tuple(name for part in parts[1:] for name in part.names)
