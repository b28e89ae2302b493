"""What a site is made of: the rows of all finished runs, in the order of time.

They come from the ledger, which ``reports`` does not read itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping, Sequence

    from harness.events import Found
    from reports.trends import Trend

NO_LIBRARIES = frozenset({"tokgate", "python"})
"""Entries among a run's versions that are no implementation."""


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run. campaign: of which it is a session, if of any. versions: of all that took part."""

    id: str
    when: datetime.datetime
    suite: str
    budget: str
    seed: int
    campaign: str | None
    complete: bool
    verdict: str
    cases: int
    comparisons: int
    versions: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class VocabularyRow:
    """A vocabulary of a run. source: the text by which it was given."""

    run: str
    name: str
    source: str
    format: str
    algorithm: str
    tokens: int
    fingerprint: str


@dataclass(frozen=True, slots=True)
class TallyRow:
    """How often a library was judged on a vocabulary in a run.

    cases: outcomes that some check judged; compared: of these, with others'; wrong: those at fault.
    trusted: it was a reference there, and others are compared with it. checks: that judged it;
    generators: whose cases these were.
    """

    run: str
    library: str
    vocabulary: str
    cases: int
    compared: int
    wrong: int
    deaths: int
    trusted: bool
    checks: Sequence[str] = ()
    generators: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FindingRow:
    """That a run saw a finding. expected: an expectation covered it there."""

    run: str
    id: str
    bucket: str
    vocabulary: str
    culprits: Sequence[str]
    expected: bool
    count: int


@dataclass(frozen=True, slots=True)
class GrowthRow:
    """The growth of a library on a family of inputs. bytes, seconds: at the largest size."""

    run: str
    library: str
    vocabulary: str
    family: str
    verdict: str
    exponent: float | None
    low: float | None
    high: float | None
    bytes: int | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class SpeedRow:
    """A speed of a library in a measurement: MiB/s of the best, the median and the slowest round.

    measurement: all with one name were measured side by side. row: the library, with `` count``
    where it only counted. kind: ``fresh``, ``warm`` or ``cold``. cpu: the processor's name.
    """

    measurement: str
    when: datetime.datetime
    cpu: str
    library: str
    version: str
    row: str
    vocabulary: str
    mode: str
    text: str
    size: int
    kind: str
    answer: str
    rounds: int
    best: float
    median: float
    slowest: float


@dataclass(frozen=True, slots=True)
class DetailRow:
    """A finding in full, as a run has told it. reproducer: its script, if it is kept."""

    run: str
    found: Found
    reproducer: str | None


@dataclass(frozen=True, slots=True, eq=False)
class History:
    """All rows, the oldest first; trends: series over all runs."""

    runs: Sequence[RunRow]
    vocabularies: Sequence[VocabularyRow] = ()
    tallies: Sequence[TallyRow] = ()
    findings: Sequence[FindingRow] = ()
    growth: Sequence[GrowthRow] = ()
    details: Sequence[DetailRow] = ()
    speeds: Sequence[SpeedRow] = ()
    trends: Sequence[Trend] = ()
