"""Coverage: what a run examined, and what it did not.

It is the one fold of a run's record: who was asked what, who answered, what was judged, what was
left open with the reason, and what was found. The gate, the exit status, the ledger and every
report read this object, and nothing else, so that they cannot contradict one another.

A *cell* is one implementation under one comparison (a vocabulary in a mode) for one check. What the
user named and the run did not examine is a *gap*: a run with a gap passes nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter

from harness.events import (
    BatchDone,
    ContractOpened,
    Counted,
    Event,
    FamiliesMeasured,
    Finished,
    Forced,
    Found,
    ImplementationFailed,
    Measured,
    NotReached,
    SlowOnce,
    Started,
    TextsCompared,
    TextsGiven,
    TextsRead,
    Unsettled,
    VocabularyLoaded,
    VocabularyRefused,
    Withdrawn,
)

LEAST_CASES = 200
"""Answers of a named implementation that are enough under one comparison. Where fewer cases were
asked, half of them are: an implementation may decline a part of all inputs."""

EQUIVALENCE, SURVIVAL = "equivalence", "survival"
"""The check that compares implementations, and the one that says who failed on what."""

SCALING, CANONICALITY = "scaling", "canonicality"
"""Checks that measure instead of judging cases: growth of implementations, and the tokens that our
policies force on a vocabulary."""

GIVEN = "given"
"""The suite of runs on inputs that were given (replay, minimize), which may concern one alone."""


class State(StrEnum):
    """What a run knows of one check of one implementation under one comparison."""

    JUDGED = "ok"
    UNSETTLED = "not settled"
    UNANSWERED = "no answer"
    DECLINED = "unsupported"
    FAILED = "failed to start"
    NOT_ASKED = "not tested"


@dataclass(frozen=True)
class Cell:
    """One check of one implementation under one comparison.

    judged: outcomes that the check judged. at_fault: cases that it found wrong, before anybody
    looked into them. unsettled: those that nobody looked into. reason: why nothing was judged, or
    why something was not settled.
    """

    state: State
    judged: int = 0
    at_fault: int = 0
    unsettled: int = 0
    reason: str = ""


@dataclass
class Answers:
    """How the cases asked of an implementation under one comparison ended.

    answered: with ids or a rejection. failed: with a crash, a time-out, an exception. declined:
    with ``Unsupported``. reason: what it said of the first that it declined.
    """

    answered: int = 0
    failed: int = 0
    declined: int = 0
    reason: str = ""

    @property
    def examined(self) -> int:
        """Cases that say something of the implementation: what it failed on was examined, too."""
        return self.answered + self.failed

    @property
    def asked(self) -> int:
        """All cases."""
        return self.examined + self.declined

    @property
    def enough(self) -> bool:
        """Whether so much was examined that the implementation was."""
        return enough(self.examined, self.asked)


def enough(number: int, of: int) -> bool:
    """Whether so many of all cases are enough to say that something was examined."""
    return number >= LEAST_CASES or (number > 0 and 2 * number >= of)


LATEST: dict[type[Event], tuple[str, ...]] = {
    VocabularyLoaded: ("vocabularies", "id"),
    ContractOpened: ("contracts", "id"),
    ImplementationFailed: ("failures", "implementation", "vocabulary"),
    Withdrawn: ("withdrawn", "implementation", "vocabulary"),
    NotReached: ("not_reached", "source"),
    Measured: ("growth", "implementation", "vocabulary", "family", "measure"),
    Forced: ("forced", "implementation", "vocabulary", "method"),
    TextsRead: ("texts", "vocabulary"),
}
"""Events of which the latest about the same thing counts: the field of the coverage that has them,
and by what they are kept there."""


@dataclass
class Coverage:
    """The fold. Each field is what the events of that name say, the latest of each counting.

    answers: by implementation and comparison. judged, at_fault: outcomes by comparison, check and
    implementation. unsettled: violations that nobody looked into, likewise. unmeasured: by
    vocabulary and the user's own candidate, the families on which its growth was not measured.
    counts: how often each bucket was seen. given, texts, documents: the user's texts, how far they
    were read on each vocabulary, and how many documents were compared.
    generators: by name, the sums of ``cases``, ``bytes``, ``comparisons`` and ``violations``;
    judged_of: by comparison and implementation, the checks that judged it, each with a generator of
    those cases.
    """

    started: Started | None = None
    finished: Finished | None = None
    vocabularies: dict[str, VocabularyLoaded] = field(default_factory=dict)
    contracts: dict[str, ContractOpened] = field(default_factory=dict)
    failures: dict[tuple[str, str], ImplementationFailed] = field(default_factory=dict)
    refused: Counter[str] = field(default_factory=Counter)
    withdrawn: dict[tuple[str, str], Withdrawn] = field(default_factory=dict)
    not_reached: dict[str, NotReached] = field(default_factory=dict)
    excused: Counter[str] = field(default_factory=Counter)
    answers: dict[tuple[str, str], Answers] = field(default_factory=dict)
    judged: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    at_fault: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    unsettled: dict[tuple[str, str, str], list[Unsettled]] = field(default_factory=dict)
    findings: dict[str, Found] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    generators: dict[str, Counter[str]] = field(default_factory=dict)
    judged_of: dict[tuple[str, str], set[tuple[str, str]]] = field(default_factory=dict)
    growth: dict[tuple[str, str, str, str], Measured] = field(default_factory=dict)
    forced: dict[tuple[str, str, str], Forced] = field(default_factory=dict)
    unmeasured: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    cases: int = 0
    comparisons: int = 0
    given: TextsGiven | None = None
    texts: dict[str, TextsRead] = field(default_factory=dict)
    documents: int = 0

    @classmethod
    def of(cls, events: Iterable[Event]) -> Coverage:
        """What these events say."""
        made = cls()
        for event in events:
            made.consume(event)
        return made

    def consume(self, event: Event) -> None:
        """Take note of an event."""
        if type(event) in LATEST:
            name, *about = LATEST[type(event)]
            getattr(self, name)[attrgetter(*about)(event)] = event
        match event:
            case Started():
                self.started, self.finished = event, None  # a resumed run is open again
            case Finished():
                self.finished = event
            case VocabularyLoaded():
                self.not_reached.pop(event.source, None)  # a run that was resumed has reached it
            case VocabularyRefused():
                self.refused[event.implementation] += 1
            case SlowOnce():
                self.excused[event.implementation] += 1
            case BatchDone():
                self._batch(event)
            case Unsettled():
                for name in event.implementations:
                    cell = event.contract, event.check, name
                    self.unsettled.setdefault(cell, []).append(event)
            case FamiliesMeasured():
                for name, families in event.missed.items():
                    self.unmeasured[event.vocabulary, name] = families
            case Counted():
                self.counts[event.bucket] = event.count
            case Found():
                self.findings.pop(event.replaces or "", None)
                self.findings[event.id] = event
            case TextsGiven():
                self.given = event
            case TextsCompared():
                self.documents += max((one.documents for one in event.counts.values()), default=0)

    def named(self, kind: str) -> list[str]:
        """What the user asked for by name (:attr:`harness.events.Started.named`)."""
        return [] if self.started is None else self.started.named.get(kind, [])

    @property
    def on_given_inputs(self) -> bool:
        """Whether it is a run on inputs that were given, which may concern one alone."""
        return self.started is not None and self.started.suite == GIVEN

    @property
    def complete(self) -> bool:
        """Whether the run came to its own end."""
        return self.finished is not None and self.finished.complete

    def _batch(self, batch: BatchDone) -> None:
        self.cases += batch.cases
        self.comparisons += batch.comparisons
        totals = self.generators.setdefault(batch.generator, Counter())
        totals.update({name: getattr(batch, name) for name in ("cases", "bytes", "comparisons")})
        totals["violations"] += sum(sum(one.values()) for one in batch.violations.values())
        for sums, counted in ((self.judged, batch.exercised), (self.at_fault, batch.violations)):
            for check, by_name in counted.items():
                for name, number in by_name.items():
                    sums[batch.contract, check, name] += number
                    if number:
                        ways = self.judged_of.setdefault((batch.contract, name), set())
                        ways.add((check, batch.generator))
        for name, (answered, failed, declined) in batch.answers.items():
            answers = self.answers.setdefault((name, batch.contract), Answers())
            answers.answered += answered
            answers.failed += failed
            answers.declined += declined
            answers.reason = answers.reason or batch.declined.get(name, "")

    def answered(self, name: str, contract: str) -> Answers:
        """How the cases asked of an implementation under a comparison ended."""
        return self.answers.get((name, contract), Answers())

    def compared_under(self, contract: ContractOpened, name: str) -> int:
        """How many answers of an implementation were compared under a comparison."""
        return self.judged[contract.id, EQUIVALENCE, name]

    def opened_on(self, vocabulary: str) -> list[ContractOpened]:
        """The comparisons on a vocabulary."""
        return [one for one in self.contracts.values() if one.vocabulary == vocabulary]

    def cell(self, name: str, contract: ContractOpened, check: str) -> Cell:
        """What is known of one check of one implementation under one comparison."""
        place, answers = (contract.id, check, name), self.answered(name, contract.id)
        on = name, contract.vocabulary
        line = self.withdrawn[on].line if on in self.withdrawn else ""
        judged, unsettled = self.judged[place], self.unsettled.get(place, [])
        state, reason = State.NOT_ASKED, line or "nothing that this check could judge was answered"
        if unsettled:
            state, reason = State.UNSETTLED, unsettled[0].reason
        elif on in self.failures:
            state, reason = State.FAILED, self.failures[on].message
        elif judged:
            state, reason = State.JUDGED, line
        elif name not in contract.implementations:
            state = State.DECLINED
            reason = contract.excluded.get(name, "it takes no part in this comparison")
        elif check not in contract.checks:
            reason = "this check was not asked for here"
        elif answers.declined and not answers.examined:
            state = State.UNANSWERED
            reason = line or answers.reason or "every input was declined"
        return Cell(
            state, judged, self.at_fault[place], sum(one.count for one in unsettled), reason
        )

    def cases_of(self, name: str, contract: str, exact: Collection[str]) -> int:
        """How many cases of an implementation count as examined under a comparison.

        exact: those of the comparison who mean to give the ids that the vocabulary defines. They
        were examined where they were compared, if anybody was; the others where they answered. What
        somebody failed on was examined, too.
        """
        answers = self.answered(name, contract)
        compared = {one: self.judged[contract, EQUIVALENCE, one] for one in exact}
        if len(compared) > 1 and any(compared.values()) and name in compared:
            return answers.failed + compared[name]
        return answers.examined

    @property
    def compared(self) -> set[str]:
        """Implementations of which any answer was compared with another's."""
        return {name for (_, check, name), n in self.judged.items() if n and check == EQUIVALENCE}

    @property
    def examined(self) -> set[str]:
        """Implementations of which any check judged anything, or whose cost was measured."""
        judged = {name for (_, _, name), number in self.judged.items() if number}
        return judged.union(name for name, *_ in (*self.growth, *self.forced))

    @property
    def comparing(self) -> bool:
        """Whether the run was to compare.

        It was not where other checks were chosen, or where none of those that were named means to
        give the ids that the vocabulary defines.
        """
        opened = list(self.contracts.values())
        if self.on_given_inputs:
            return any(EQUIVALENCE in one.checks for one in opened)
        checks, named = self.named("checks"), self.named("implementations")
        if checks and EQUIVALENCE not in checks:
            return False
        # Greedy, minimal and the like mean to give other ids than the vocabulary defines.
        takes_part = {name for one in opened for name in named if name in one.implementations}
        exact = {name for one in opened for name in one.exact or one.implementations}
        return not takes_part or bool(takes_part & exact)
