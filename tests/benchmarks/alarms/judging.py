"""What a run's record says that is false: pure functions of its events and of how it ended."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from harness.events import (
    BatchDone,
    Event,
    Finished,
    Found,
    GrowthJudged,
    Measured,
    Started,
    Withdrawn,
)
from tests.benchmarks.alarms.plan import PLANTED, SLOW

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LINEAR = ("bpe.*", "spm.*", "unigram.*", "wordpiece.*", "mine", "stdio-example", *PLANTED)
"""Implementations whose cost is known to be linear, or n log n, which is within it."""

NOT_LINEAR = ("bpe.naive",)
"""Those of them that are not: the definition itself looks through all pairs for each merge."""

STARVED = 3.0
"""The slow implementation starves another where that one is judged on fewer than so many times its
cases: left to itself it would have a hundred times as many."""

FINDING, WITHDRAWAL, GROWTH, EXIT = "finding", "withdrawal", "growth", "exit status"
"""Kinds of accusations."""

SAID_WITHDRAWN = re.compile(r"^(\S+) on (\S+): ((?:withdrawn|could not be started again).*)$", re.M)
"""A withdrawal as ``tokgate fuzz`` prints it, which did not always keep it in its record."""

SAID_SLOW = re.compile(r"\bslow\b(?!-)")
"""A note that somebody was slow once under load; ``slow-100x`` is the name of an implementation."""


@dataclass(frozen=True, slots=True)
class Accusation:
    """Something that a run holds against an implementation.

    kind: :data:`FINDING`, :data:`WITHDRAWAL`, :data:`GROWTH` or :data:`EXIT`. about: the bucket of
    a finding, the family of a growth verdict. stage: of a finding. blamed: the implementations.
    """

    kind: str
    about: str
    vocabulary: str
    blamed: tuple[str, ...]
    message: str
    stage: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended, as seen from outside.

    exit_status: None where it had to be killed. seconds: of the whole command. first_case,
    verdict: seconds after its start, None where they could not be seen. output: what it printed.
    """

    exit_status: int | None
    seconds: float
    first_case: float | None = None
    verdict: float | None = None
    output: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A run's record, judged.

    accusations: all that the run holds against anybody and that the shipped expectations do not
    know of. cells, inconclusive: growth verdicts that a bound is on, and those left open. grown:
    cells in which growth was measured or judged. notes: of the run's end. slow_notes: those that
    say that somebody was slow once under load. outcomes: by implementation, how many of its
    answers were judged. budget: seconds, None where the command was given none. preparing,
    checking: seconds until the first case, and from there to the verdict.
    """

    accusations: tuple[Accusation, ...]
    exit_status: int | None
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    cells: int
    inconclusive: int
    grown: int
    slow_notes: int
    cases: int
    comparisons: int
    outcomes: dict[str, int]
    seconds: float
    budget: float | None
    preparing: float | None
    checking: float | None

    def of(self, kind: str) -> list[Accusation]:
        """Return the accusations of a kind."""
        return [one for one in self.accusations if one.kind == kind]

    @property
    def overrun(self) -> float | None:
        """How much longer than its budget it took from the first case to the verdict, in %."""
        if self.checking is None or not self.budget:
            return None
        return 100 * (self.checking / self.budget - 1)

    @property
    def cases_a_second(self) -> float | None:
        """Cases from the first to the verdict, a second."""
        return self.cases / self.checking if self.checking else None


@dataclass(frozen=True, slots=True)
class Naming:
    """Whether a planted mistake was named rightly.

    named: by a finding that blames it alone, with the stage it is to have. wrong: what is said of
    others, or of it with another cause. missed: it is guilty and was not named, or it was never
    judged at all. starved: those that had hardly more cases than the slow implementation.
    """

    named: bool
    wrong: tuple[Accusation, ...] = ()
    missed: bool = False
    starved: tuple[str, ...] = field(default=())

    @property
    def right(self) -> bool:
        """Whether nothing is to be said against the run."""
        return not (self.wrong or self.missed or self.starved)


def judged(events: Iterable[Event], ended: Ended) -> Judged:
    """Judge a record. It may be cut short, or be empty where the command wrote none."""
    findings: dict[str, Found] = {}
    withdrawals: dict[tuple[str, str], str] = {}
    growth: list[GrowthJudged] = []
    measured: list[Measured] = []
    outcomes: Counter[str] = Counter()
    cases = comparisons = 0
    started: Started | None = None
    finished: Finished | None = None
    for event in events:
        match event:
            case Started():
                started = event
            case Found():
                if event.replaces is not None:
                    findings.pop(event.replaces, None)
                findings[event.id] = event
            case Withdrawn():
                withdrawals[event.implementation, event.vocabulary] = event.message
            case GrowthJudged():
                growth.append(event)
            case Measured():
                measured.append(event)
            case BatchDone():
                cases += event.cases
                comparisons += event.comparisons
                outcomes.update(event.exercised.get("survival", {}))
            case Finished():
                finished = event
            case _:
                pass
    for name, vocabulary, message in SAID_WITHDRAWN.findall(ended.output):
        withdrawals.setdefault((name, vocabulary), message)
    accusations = [
        *(_of_finding(found) for found in findings.values() if found.expected is None),
        *(Accusation(WITHDRAWAL, "", v, (n,), m) for (n, v), m in withdrawals.items()),
        *_of_growth(growth, measured),
    ]
    reasons = tuple(finished.reasons) if finished else ()
    if ended.exit_status != 0 and not accusations:
        accusations.append(_of_exit(ended, reasons))
    notes = tuple(finished.notes) if finished else ()
    seen = ended.first_case is not None and ended.verdict is not None
    return Judged(
        accusations=tuple(accusations),
        exit_status=ended.exit_status,
        reasons=reasons,
        notes=notes,
        cells=len(growth),
        inconclusive=sum(one.outcome == "inconclusive" for one in growth),
        grown=max(len(measured), len(growth)),
        slow_notes=sum(SAID_SLOW.search(note) is not None for note in notes),
        cases=finished.cases if finished else cases,
        comparisons=finished.comparisons if finished else comparisons,
        outcomes=dict(outcomes),
        seconds=ended.seconds,
        budget=seconds_of(started.budget) if started else None,
        preparing=ended.first_case,
        checking=(ended.verdict or 0.0) - (ended.first_case or 0.0) if seen else None,
    )


def seconds_of(budget: str) -> float | None:
    """Return the seconds of a budget as it stands in a record, None for one that is not in time."""
    found = re.fullmatch(r"([\d.]+)s", budget)
    return float(found[1]) if found else None


def known_linear(implementation: str) -> bool:
    """Return whether the cost of an implementation is known to be linear or n log n."""
    return any(fnmatchcase(implementation, pattern) for pattern in LINEAR) and not any(
        fnmatchcase(implementation, pattern) for pattern in NOT_LINEAR
    )


def naming(run: Judged, planted: str) -> Naming:
    """Judge how a run named the mistake planted in it, one of :data:`PLANTED`."""
    _, stage = PLANTED[planted]
    if planted == SLOW:
        own = run.outcomes.get(planted, 0)
        others = {name: count for name, count in run.outcomes.items() if name != planted}
        starved = sorted(name for name, count in others.items() if count < STARVED * own)
        return Naming(not run.accusations, run.accusations, not own, tuple(starved))
    wrong = tuple(one for one in run.accusations if not _deserved(one, planted, stage))
    named = any(
        one.kind == FINDING and one.blamed == (planted,) and one.stage == stage
        for one in run.accusations
    )
    return Naming(named, wrong, not named)


def _deserved(one: Accusation, planted: str, stage: str) -> bool:
    """Whether the planted implementation, and nobody else, may be accused of this."""
    if one.blamed != (planted,):
        return False
    # What hangs or leaks is withdrawn for it, and how its cost grows is anybody's guess.
    return one.kind in (WITHDRAWAL, GROWTH) or (one.kind == FINDING and one.stage == stage)


def _of_finding(found: Found) -> Accusation:
    failures = [
        f"{', '.join(group.implementations)}: {group.kind} {group.message}".rstrip()
        for group in found.partition
        if group.message
    ]
    message = "; ".join([found.difference, *failures])
    return Accusation(
        FINDING, found.bucket, found.vocabulary, tuple(found.culprits), message, found.stage
    )


def _of_growth(growth: Sequence[GrowthJudged], measured: Sequence[Measured]) -> list[Accusation]:
    """Bounds that were broken, and verdicts on what is known to be linear, each cell once."""
    cells: dict[tuple[str, str, str, str], Accusation] = {}
    for one in growth:
        if one.outcome == "fail":
            key = one.implementation, one.vocabulary, one.family, one.measure
            cells[key] = Accusation(
                GROWTH,
                f"{one.family}, {one.measure}",
                one.vocabulary,
                (one.implementation,),
                f"breaks its bound {one.bound}: {one.line}",
            )
    for cell in measured:
        key = cell.implementation, cell.vocabulary, cell.family, cell.measure
        if cell.verdict == "superlinear" and known_linear(cell.implementation):
            points = ", ".join(f"{size:g}: {cost:.3g}" for size, cost in cell.points)
            cells.setdefault(
                key,
                Accusation(
                    GROWTH,
                    f"{cell.family}, {cell.measure}",
                    cell.vocabulary,
                    (cell.implementation,),
                    f"said to be superlinear (exponent {cell.exponent}; {points})",
                ),
            )
    return list(cells.values())


def _of_exit(ended: Ended, reasons: Sequence[str]) -> Accusation:
    if ended.exit_status is None:
        what = f"no end after {ended.seconds:.0f} s; it was killed"
    else:
        what = f"exit status {ended.exit_status}"
    last = ended.output.rstrip().rsplit("\n", 1)[-1]
    return Accusation(EXIT, what, "", (), "; ".join(reasons) or last)
