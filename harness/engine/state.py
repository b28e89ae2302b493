"""What all parts of a run share: its plan and clock, what it has found, and how it is stopped; and
a vocabulary in the implementations of a run: who has loaded it, and who could not."""

from __future__ import annotations

import copy
import math
import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from corpora.vocabularies.embedded import RANDOM
from corpora.vocabularies.preflight import IMPROPER, preflight
from harness.core.comparisons import contracts_of, faulty, modes_of
from harness.core.countdown import Countdown
from harness.core.messages import Loaded
from harness.core.outcomes import Status
from harness.core.standing import references_of
from harness.engine.plan import Plan, Tally
from harness.events import (
    ContractOpened,
    ImplementationFailed,
    NotReached,
    Preparing,
    SlowOnce,
    VocabularyLoaded,
    VocabularyRefused,
)
from harness.findings.tracker import FindingTracker
from harness.workers.claims import Claim, summed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.events import Event
    from harness.findings.folder import FindingsFolder
    from harness.workers.pool import WorkerPool

    Tell = Callable[[Event], None]

NO_TIME = "no time was left for it: give a larger --budget, or name it with --vocab"

SETTLE_SECONDS = 30.0
"""After the last case of a vocabulary what was found there is looked into for so many seconds more,
if it takes that long, and for longer on a busy machine. To ask again and to make an input minimal
takes up to four seconds for each kind of difference, and most runs find a few kinds on a
vocabulary. Where everything is wrong it would take hours, and what is left is told by the event
``Unsettled``."""


LAST = 0.04
"""Share of a budget, at its end, in which no new case is asked: what was asked is judged then, and
what was found is minimised."""

LAST_SECONDS, MOST_LAST = 1.0, 0.1
"""The end of a run has so many seconds, which is enough to minimise most findings, but no more than
this share of a short budget."""


TELL_SECONDS = 1.0
"""Seconds between two events about who is still loading."""

LOOK_SECONDS = 0.02
"""Seconds between two looks at who has loaded, while nothing else can be done."""


class NamedFailed(Exception):
    """An implementation that the user named cannot load a vocabulary, which ends the run.

    trace: the message, of which the words of the error have the first line.
    """

    def __init__(self, name: str, vocabulary: str, trace: str) -> None:
        super().__init__(name, vocabulary, trace)
        self.trace = trace

    def __str__(self) -> str:
        name, vocabulary, trace = self.args
        line = trace.split("\n", 1)[0]
        return f"{name} cannot load {vocabulary}: {line}"


def left_for_cases(countdown: Countdown) -> float:
    """The seconds until no new case is to be asked; infinite where time is no limit."""
    if countdown.seconds is None:
        return float("inf")
    return countdown.left - last_seconds(countdown.seconds)


def last_seconds(budget: float) -> float:
    """The seconds at the end of a budget in which no new case is asked."""
    return max(LAST * budget, min(LAST_SECONDS, MOST_LAST * budget))


def tracker_of(plan: Plan, emit: Tell, folder: FindingsFolder) -> FindingTracker:
    """A tracker of what a plan finds, with its folders."""
    return FindingTracker(
        emit,
        folder.save_finding,
        plan.expectations,
        plan.versions,
        unhurried=plan.unhurried,
        drop=folder.drop,
    )


class RunState:
    """A run on its way. Thread-safe.

    emit: takes the run's events, from several threads, one call at a time. tracker: keeps what is
    found. stop: set when the run is to end. lock: guards the tally.
    """

    def __init__(self, plan: Plan, emit: Tell, tracker: FindingTracker) -> None:
        self.plan = plan
        self.emit = emit
        self.tracker = tracker
        self.stop = threading.Event()
        self.lock = threading.Lock()
        self.countdown = Countdown(plan.budget.seconds)
        self._settled_by = -math.inf
        self.tally = Tally()

    @classmethod
    def begun(cls, plan: Plan, emit: Tell, folder: FindingsFolder) -> RunState:
        """A run with a tracker, which has the time that there is for findings."""
        run = cls(plan, emit, tracker_of(plan, emit, folder))
        run.tracker.limit_by(run.left_for_findings)
        return run

    def part(self, emit: Tell, folder: FindingsFolder | None = None) -> RunState:
        """The run as one vocabulary has it: on the same clock, and stopped with this one.

        folder: for findings of its own, with a tracker and a tally of its own; else these are
        shared. Who hangs, and was waited for, is known to all: nobody is waited for twice.
        """
        part = copy.copy(self)
        part.emit = emit
        if folder is not None:
            part.tracker = tracker_of(self.plan, emit, folder)
            part.tracker.limit_by(part.left_for_findings)
            part.tally = Tally(hung=self.tally.hung, awaited=self.tally.awaited)
        return part

    @property
    def left(self) -> float:
        """Seconds until no new case is to be asked."""
        return left_for_cases(self.countdown)

    def left_for_questions(self) -> float:
        """Seconds until no question at all is asked; before the first case there is no limit."""
        return self.countdown.left if self.countdown.running else math.inf

    def settle_until(self, end: float) -> None:
        """Give findings time up to this moment of the monotonic clock, whatever the budget says."""
        self._settled_by = max(self._settled_by, end)

    def left_for_findings(self) -> float:
        """Seconds in which what was found may still be looked into."""
        if self.countdown.seconds is None:
            return math.inf
        return self._settled_by - time.monotonic()

    def stop_at_the_first(self) -> None:
        """End the run where the first unexpected finding is to end it, and there is one."""
        if self.plan.fail_fast and self.tracker.unexpected:
            self.stop.set()

    def note_unreached(self, source: str) -> None:
        """Tell of a vocabulary for which no time was left."""
        self.emit(NotReached(source, NO_TIME))

    def note_excused(self, pool: WorkerPool, vocabulary: str) -> None:
        """Tell the failures that did not come back; nothing fails for them."""
        for one in pool.excused():
            self.emit(SlowOnce.of(one, vocabulary))
            with self.lock:
                self.tally.excused[one.implementation] += 1

    def note_claims(self, pool: WorkerPool) -> None:
        """Take note of what became of the capabilities that were claimed."""
        with self.lock:
            known = map(Claim._make, self.tally.claims)
            self.tally.claims[:] = summed([*known, *pool.claims.take()])

    def begin(self, pool: WorkerPool, source: str, vocabulary: Vocabulary) -> Opened:
        """Have all that can run a vocabulary load it."""
        opened = Opened(pool, source, vocabulary, self)
        opened.begin()
        return opened


@dataclass(slots=True)
class Opened:
    """One vocabulary in the workers of a pool. Not thread-safe."""

    pool: WorkerPool
    source: str
    vocabulary: Vocabulary
    run: RunState
    _contracts: list[Contract] = field(default_factory=list)
    _last_shown: float = 0.0
    _failed: dict[str, str] = field(default_factory=dict)

    def begin(self) -> None:
        """Have everybody load who says that it can."""
        vocabulary, plan = self.vocabulary, self.run.plan
        faults = faulty(vocabulary, plan.participants)
        able = [c for c in plan.participants if c.name not in faults]
        possible = contracts_of(vocabulary, able, plan.references, proper=True)
        if plan.only_texts:  # they are asked as they are tokenized in use, and in no other way
            possible = possible[:1]
        names = list(dict.fromkeys(name for one in possible for name in one.names))
        # The workers load while this process looks at the vocabulary.
        self.pool.begin_loading(vocabulary, names, modes_of(vocabulary))
        problems = preflight(vocabulary)
        proper = not any(problem.kind in IMPROPER for problem in problems)
        messages = (problem.message for problem in problems)
        self.run.emit(VocabularyLoaded.of(vocabulary, self.source, messages))
        self._contracts = [replace(one, proper=proper) for one in possible]
        self._take({name: Loaded(line, Status.ERRORED.label) for name, line in faults.items()})

    def wait(self, stopped: Callable[[], bool], meanwhile: Iterator[object] | None = None) -> None:
        """Wait until all have loaded or failed, or ``stopped`` turns true.

        meanwhile: what is done, step by step, while there is nothing else to do.
        """
        while self.pool.loading() and not stopped():
            if meanwhile is None or next(meanwhile, None) is None:
                time.sleep(LOOK_SECONDS)
            self._look()
        self._look()

    def _look(self) -> None:
        """Take note of who has loaded by now, and tell now and then who has not."""
        self._take(self.pool.settle())
        loading = self.pool.loading()
        now = time.monotonic()
        if loading and now - self._last_shown > TELL_SECONDS:
            self._last_shown = now
            waiting = dict.fromkeys(loading, "")
            self.run.emit(Preparing(self.vocabulary.id, list(self.pool.loaded()), waiting))

    def contracts(self) -> list[Contract]:
        """The contracts of the vocabulary, with those who have loaded it."""
        found = [self._loaded(one) for one in self._contracts]
        found = [one for one in found if one.participants]
        compared = [one for one in found if len(one.participants) > 1]
        return compared or found

    def _loaded(self, contract: Contract) -> Contract:
        """A contract without those who failed to load; another may be its reference then."""
        left = contract.among(set(self.pool.loaded()))
        if len(left.participants) == len(contract.participants):
            return contract
        references = references_of(
            self.vocabulary, contract.algorithm, left.participants, self.run.plan.references
        )
        return replace(left, references=references)

    def _take(self, failed: dict[str, Loaded]) -> None:
        """Tell those who could not load, or would not.

        Raises NamedFailed: who was asked for by name and cannot run makes the run worthless.
        """
        if self.pool.stopped:
            return
        drawn = self.source.startswith(RANDOM)  # it may be at fault: a refusal is an answer
        for name, answer in failed.items():
            message = answer.error or ""
            line = message.split("\n", 1)[0]
            if answer.unsupported:  # its own word: no failure
                self._failed[name] = line
            elif answer.refused and drawn:
                self._failed[name] = f"refused: {line}"
                self.run.emit(VocabularyRefused(name, self.vocabulary.id, message))
            else:
                self._failed[name] = f"could not load: {line}"
                self.run.emit(ImplementationFailed(name, self.vocabulary.id, message))
                if name in self.run.plan.named:
                    raise NamedFailed(name, self.vocabulary.id, message)

    def announce(self) -> None:
        """Tell the contracts, once all have loaded; where nobody has, the reasons of all."""
        for contract in self.contracts() or [one.among(()) for one in self._contracts]:
            self.run.emit(
                ContractOpened(
                    id=contract.id,
                    algorithm=contract.algorithm,
                    vocabulary=self.vocabulary.id,
                    mode=contract.mode.label,
                    implementations=contract.names,
                    references=sorted(contract.references & set(contract.names)),
                    excluded={**contract.excluded, **self._failed},
                    checks=[one.name for one in self.run.plan.checks if one.applies(contract)],
                    exact=contract.exact,
                )
            )
