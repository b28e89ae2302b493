"""What the ledger keeps of runs and measurements of speed, as plain data.

A run is kept as a record of its own, much shorter than ``run.jsonl``: the events that say what it
came to, with a :class:`Tally` of its batches for each implementation on each vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.events import Event, Finished, Started
from harness.events.base import event
from harness.verdict.coverage import Coverage


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
