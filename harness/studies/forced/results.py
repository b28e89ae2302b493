"""What a walk finds, on one schema or on many added up.

All of it goes to JSON and back, since it travels from worker processes and rests in the record of
a walk that can be resumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from typing import Any

from harness.events import ForcedWitness

WITNESSES = 3
"""Kept of one policy on one schema; all are counted."""


@dataclass(slots=True)
class Tally:
    """Counts of one policy; see :class:`harness.events.Forced`."""

    sequences: int = 0
    forced_tokens: int = 0
    non_canonical: int = 0
    non_canonical_instances: int = 0
    non_canonical_schemas: int = 0
    seam: int = 0
    unsafe: int = 0
    undecided: int = 0
    longer: int = 0
    shorter: int = 0
    gave_up: int = 0
    seconds: float = 0.0
    not_admitted: int = 0
    outside_mask: int = 0


@dataclass(slots=True)
class Walked:
    """What was found on schemas.

    schemas: those with an instance that was walked. instances, tokens: walked. refused: by schema,
    why it is none for llguidance; refused_instances: texts that the grammar does not admit. failed:
    by schema, how its walk broke off. The other counts are those of
    :class:`harness.events.ForcedCorpus`.
    """

    schemas: int = 0
    instances: int = 0
    tokens: int = 0
    refused: dict[str, str] = field(default_factory=dict)
    refused_instances: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    sampled: int = 0
    listed: int = 0
    listed_tokens: int = 0
    listed_short: int = 0
    misjudged: int = 0
    differing: dict[str, int] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)
    witnesses: list[ForcedWitness] = field(default_factory=list)


def added(one: Any, other: Any) -> Any:
    """The sum of two counts, or of what has counts, member by member."""
    if isinstance(one, dict):
        both = {name: added(one[name], other[name]) for name in one.keys() & other.keys()}
        return {**one, **other, **both}
    if isinstance(one, Tally | Walked):
        names = [member.name for member in fields(one)]
        return type(one)(*(added(getattr(one, name), getattr(other, name)) for name in names))
    return one + other


def total(results: Iterable[Walked], policies: Sequence[str]) -> Walked:
    """The sum over schemas, policies in the order given."""
    found: Walked = reduce(added, results, Walked(tallies={name: Tally() for name in policies}))
    return found
