"""What the ledger keeps of each run: its versions, its verdict, its findings, its growth."""

from __future__ import annotations

from typing import Annotated, Any

import sqlalchemy as sa
from sqlalchemy.orm import Mapped, mapped_column

from harness.ledger.engine import Base

Key = Annotated[str, mapped_column(primary_key=True)]
Id = Annotated[str, mapped_column(sa.String(32), primary_key=True)]
Time = Annotated[str, mapped_column(sa.String(40), index=True)]
OfRun = Annotated[
    str, mapped_column(sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True)
]


class Run(Base):
    """A run that came to its end, be it an early one.

    id: 32 hex digits. started: ISO 8601 in UTC, so that its order is that of time. verdict:
    ``pass``, ``fail`` or ``not-examined``. campaign: the name of its campaign, if any.
    """

    __tablename__ = "runs"

    id: Mapped[Id]
    started: Mapped[Time]
    command: Mapped[str]
    suite: Mapped[str]
    budget: Mapped[str]
    seed: Mapped[int]
    machine: Mapped[str]
    campaign: Mapped[str | None]
    verdict: Mapped[str]
    complete: Mapped[bool]
    exit_status: Mapped[int]
    reasons: Mapped[list[str]]
    seconds: Mapped[float]
    cases: Mapped[int]
    comparisons: Mapped[int]


class RunVersion(Base):
    """The version of tokgate, Python or an implementation in a run."""

    __tablename__ = "run_versions"

    run: Mapped[OfRun]
    name: Mapped[Key]
    version: Mapped[str]


class RunFinding(Base):
    """A finding of a run. count: how often its bucket was seen there. data: the input, which is not
    read with the other columns, as it may be long.
    """

    __tablename__ = "run_findings"

    run: Mapped[OfRun]
    id: Mapped[Key]
    bucket: Mapped[str] = mapped_column(index=True)
    vocabulary: Mapped[str]
    culprits: Mapped[list[str]]
    data: Mapped[bytes] = mapped_column(deferred=True)
    expected: Mapped[bool]
    count: Mapped[int]


class RunGrowth(Base):
    """The growth of an implementation on a family in a run, and its time at the largest size.

    points: pairs of bytes and seconds. bytes, seconds: the last of them.
    """

    __tablename__ = "run_growth"

    run: Mapped[OfRun]
    implementation: Mapped[Key]
    vocabulary: Mapped[Key]
    family: Mapped[Key]
    verdict: Mapped[str]
    exponent: Mapped[float | None]
    low: Mapped[float | None]
    high: Mapped[float | None]
    bytes: Mapped[int | None]
    seconds: Mapped[float | None]
    points: Mapped[list[Any]]


class RunVocabulary(Base):
    """A vocabulary of a run. source: the text by which it was given."""

    __tablename__ = "run_vocabularies"

    run: Mapped[OfRun]
    vocabulary: Mapped[Key]
    source: Mapped[str]
    format: Mapped[str]
    algorithm: Mapped[str]
    tokens: Mapped[int]
    fingerprint: Mapped[str]


class RunTally(Base):
    """How often an implementation was judged on a vocabulary in a run.

    cases: outcomes of it that some check judged. compared: of these, those that were compared with
    others' outcomes; wrong: those that differed, and were its fault. deaths: how often it gave no
    answer at all. trusted: it was a reference there. checks: that
    judged any outcome of it; generators: whose cases these were.
    """

    __tablename__ = "run_tallies"

    run: Mapped[OfRun]
    implementation: Mapped[Key]
    vocabulary: Mapped[Key]
    cases: Mapped[int]
    compared: Mapped[int]
    wrong: Mapped[int]
    deaths: Mapped[int]
    trusted: Mapped[bool]
    checks: Mapped[list[str]]
    generators: Mapped[list[str]]


class FindingDetail(Base):
    """A finding in full, as a run has told it.

    It is kept once for each set of versions of the implementations that it blames, and again where
    a run has a smaller input. versions: of these, as text. size: of the input. event: the line
    of a record, compressed. reproducer: the text of its script.
    """

    __tablename__ = "finding_details"

    id: Mapped[Key]
    run: Mapped[OfRun]
    versions: Mapped[str]
    size: Mapped[int]
    event: Mapped[bytes]
    reproducer: Mapped[str | None]


class MeasuredSpeed(Base):
    """How fast an implementation encoded one kind of text at one size, in one measurement.

    id: of the measurement, 32 hex digits; it is no run, and stands beside them. row: the name of
    the implementation, with `` count`` where it only counted. kind: ``fresh``, ``warm``, ``cold``.
    best, median, slowest: MiB/s of CPU time over all rounds. answer: as in
    :class:`harness.events.Benched`.
    """

    __tablename__ = "measured_speeds"

    id: Mapped[Id]
    row: Mapped[Key]
    vocabulary: Mapped[Key]
    mode: Mapped[Key]
    text: Mapped[Key]
    size: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[Key]
    started: Mapped[Time]
    cpu: Mapped[str]
    implementation: Mapped[str]
    version: Mapped[str]
    answer: Mapped[str]
    rounds: Mapped[int]
    best: Mapped[float]
    median: Mapped[float]
    slowest: Mapped[float]
