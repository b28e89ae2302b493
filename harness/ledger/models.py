"""What the ledger keeps of runs and measurements of speed, as plain data.

A run is kept as a record of its own, much shorter than ``run.jsonl``: the events that say what it
came to, with a :class:`Tally` of its batches for each implementation on each vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.events import Event, Finished, Started
from harness.events.base import event
from harness.verdict.coverage import EQUIVALENCE, SURVIVAL, Coverage


@event
class Tally(Event):
    """How often an implementation was judged on a vocabulary in a run.

    cases: outcomes of it that some check judged. compared: of these, those that were compared with
    others' outcomes; wrong: those that differed, and were its fault. deaths: how often it gave no
    answer at all. trusted: it was a reference there. checks: that judged any outcome of it;
    generators: whose cases these were.
    """

    implementation: str
    vocabulary: str
    cases: int
    compared: int
    wrong: int
    deaths: int
    trusted: bool
    checks: list[str]
    generators: list[str]


def tallies(coverage: Coverage) -> list[Tally]:
    """What batches add up to for each implementation on each vocabulary, over all comparisons.

    A case counts once under each comparison, however many checks judged it.
    """
    made: dict[tuple[str, str], Tally] = {}
    judged, at_fault = coverage.judged, coverage.at_fault
    for (where, name), ways in coverage.judged_of.items():
        contract = coverage.contracts.get(where)
        if contract is None:
            continue
        checks, generators = map(set, zip(*ways, strict=True))
        place = name, contract.vocabulary
        so_far = made.get(place) or Tally(*place, 0, 0, 0, 0, False, [], [])
        compared = judged[where, EQUIVALENCE, name]
        made[place] = Tally(
            *place,
            cases=so_far.cases + max(judged[where, check, name] for check in checks),
            compared=so_far.compared + compared,
            wrong=so_far.wrong + min(at_fault[where, EQUIVALENCE, name], compared),
            deaths=so_far.deaths + at_fault[where, SURVIVAL, name],
            trusted=so_far.trusted or name in contract.references,
            checks=sorted(checks.union(so_far.checks)),
            generators=sorted(generators.union(so_far.generators)),
        )
    return list(made.values())


@event
class Script(Event):
    """The text of the reproducer of a finding."""

    finding: str
    text: str


@dataclass(frozen=True, eq=False)
class Run:
    """A run that came to its end, be it an early one.

    id: 32 hex digits. campaign: the name of its campaign, if any. began: its time is in UTC.
    coverage: what its events say, without batches; these are in the tallies. scripts: reproducers,
    by the ids of their findings.
    """

    id: str
    campaign: str | None
    began: Started
    ended: Finished
    coverage: Coverage
    tallies: Sequence[Tally]
    scripts: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class History:
    """All runs, and the events of each measurement of speed, in the order of time."""

    runs: Sequence[Run]
    measurements: Sequence[Sequence[Event]]
