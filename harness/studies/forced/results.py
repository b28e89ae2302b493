"""What a walk finds, schema by schema, and what it comes to.

All of it goes to JSON and back, since it travels from worker processes and rests in the record of
a walk that can be resumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from harness.events import ForcedWitness

WITNESSES = 3
"""Kept of one policy on one schema; all are counted."""


CHECKED = ("sampled", "listed", "listed_tokens", "listed_short", "misjudged")
"""The counts of how exact itself was checked."""


@dataclass(slots=True)
class Tally:
    """Counts of one policy.

    calls: boundaries at which it was asked. sequences: those where it gave tokens, forced_tokens
    in all. non_canonical: sequences that are not what the text's own encoding has there.
    seam: sequences after which the text before the boundary, by itself, encodes otherwise than in
    the whole text. unsafe: sequences that some sentence of the grammar contradicts, proved by that
    sentence; undecided: more than ``exact`` forces, and no sentence found against it.
    longer, shorter: than ``exact`` at the same boundary. gave_up: calls that raised. Of a whole
    engine: not_admitted: boundaries before which its mask lacked a token of the text; outside_mask:
    those at which it forced a token that its own mask does not admit.
    """

    calls: int = 0
    sequences: int = 0
    forced_tokens: int = 0
    non_canonical: int = 0
    seam: int = 0
    unsafe: int = 0
    undecided: int = 0
    longer: int = 0
    shorter: int = 0
    gave_up: int = 0
    instances: int = 0
    schemas: int = 0
    seconds: float = 0.0
    not_admitted: int = 0
    outside_mask: int = 0

    def add(self, other: Tally) -> None:
        """Add the counts of another."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


@dataclass(slots=True)
class SchemaResult:
    """What was found on one schema.

    instances, tokens: walked. refused: why the schema is none for llguidance, or its walk broke
    off; refused_instances: texts that the grammar does not admit. sampled: answers of exact that
    were checked by a continuation at random; listed: those checked by all sentences, as these are
    few, and listed_tokens what the definition forces there, listed_short what exact does not of
    it; misjudged: those of both that a sentence contradicts. differing: by pair of policies that
    ought to agree, boundaries where they do not.
    """

    name: str
    instances: int = 0
    tokens: int = 0
    refused_instances: int = 0
    refused: str = ""
    failed: str = ""
    sampled: int = 0
    listed: int = 0
    listed_tokens: int = 0
    listed_short: int = 0
    misjudged: int = 0
    differing: dict[str, int] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)
    witnesses: list[ForcedWitness] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @staticmethod
    def from_dict(raw: Mapping[str, Any]) -> SchemaResult:
        """From JSON. Raises TypeError or KeyError for what is no result."""
        plain = dict(raw)
        plain["tallies"] = {name: Tally(**one) for name, one in raw["tallies"].items()}
        plain["witnesses"] = [ForcedWitness(**one) for one in raw["witnesses"]]
        return SchemaResult(**plain)


@dataclass(slots=True)
class Totals:
    """The sum over schemas. schemas: those with an instance that was walked."""

    schemas: int = 0
    instances: int = 0
    tokens: int = 0
    refused_schemas: int = 0
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


def total(results: Iterable[SchemaResult], policies: Sequence[str]) -> Totals:
    """Add up, policies in the order given."""
    found = Totals(tallies={name: Tally() for name in policies})
    for result in results:
        found.schemas += result.instances > 0
        found.instances += result.instances
        found.tokens += result.tokens
        found.refused_schemas += bool(result.refused)
        found.refused_instances += result.refused_instances
        if result.failed:
            found.failed[result.name] = result.failed
        for check in CHECKED:
            setattr(found, check, getattr(found, check) + getattr(result, check))
        for pair, count in result.differing.items():
            found.differing[pair] = found.differing.get(pair, 0) + count
        for name, tally in result.tallies.items():
            if name in found.tallies:
                found.tallies[name].add(tally)
        found.witnesses += result.witnesses
    return found
