"""Judging what was answered: the checks are put to a batch, and what they say is told."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.checks.questions import judge
from harness.core.outcomes import Status
from harness.engine.examples import exercises
from harness.engine.samples import comparisons, due, sample
from harness.events import BatchDone
from harness.findings.entries import Entry
from harness.verdict.coverage import Coverage
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from corpora.generators.base import Case
    from harness.checks.base import Observation
    from harness.core.comparisons import Contract
    from harness.core.outcomes import Results
    from harness.engine.state import RunState
    from harness.engine.streams import Batch
    from harness.engine.texts import Texts
    from harness.workers.pool import WorkerPool

Kind = tuple[str, str, str | None, tuple[str, ...]]
"""What a violation seems to be: its comparison, check, stage and culprits."""

TIMED_OUT = Status.TIMED_OUT.label

MOST_WAITING = 500
"""Violations that wait to be looked into, at the most. A judge that has another one waits then:
where everything is wrong, the time is better spent on what is known to be wrong."""

LOOK_SECONDS = 0.05
"""Seconds between two looks at whether the run was stopped, or its time for findings is over."""


class Judge:
    """Puts the checks of a run to what was answered, and hands violations to the tracker.

    texts: the user's own, where there are any.
    """

    def __init__(self, run: RunState, texts: Texts | None = None) -> None:
        self._run, self._texts = run, texts
        self._whole: dict[str, Contract] = {}
        self.coverage = Coverage()
        """What was examined so far, of the vocabularies that were judged here."""

    def _case(self, batch: Batch, index: int) -> Case:
        """The provenance of an input, with its file and line where it is a text of the user's."""
        case = batch.case(index)
        place = self._run.plan.places.get(case.data)
        return replace(case, place=place) if case.place is None and place is not None else case

    def judge(
        self,
        pool: WorkerPool,
        seen: Observation,
        batch: Batch,
        found: Callable[[Entry], object],
        end: float = float("inf"),
        always: Container[str] = (),
    ) -> None:
        """Put all checks to a batch that was answered.

        found: called with each violation. After ``end`` the checks that have further questions are
        left out. always: checks that take this batch, even if they sample.
        """
        run, contract = self._run, seen.contract
        exercised: dict[str, dict[str, int]] = {}
        violations: dict[str, dict[str, int]] = {}
        forced: dict[str, dict[str, int]] = {}
        for check in run.plan.checks:
            first, part = 0, seen
            if run.plan.sampled:
                if check.name not in always and not due(check, batch, contract):
                    continue
                first, part = sample(check, batch, seen)
            late = time.monotonic() > end and check.asks_further
            if late or not check.applies(contract):
                continue
            try:
                judgement = judge(pool, check, part)
            except OutOfTime:
                continue  # as if it had never been put
            exercised[check.name] = dict(judgement.exercised)
            forced |= {name: dict(counts) for name, counts in judgement.forced.items()}
            blamed = Counter(name for one in judgement.violations for name in one.culprits)
            if blamed:
                violations[check.name] = dict(blamed)
            for shown in judgement.violations:
                if shown.check == "survival" and shown.stage == TIMED_OUT:
                    run.tally.hung.update(shown.culprits)
            for shown in judgement.violations:
                if run.stop.is_set():
                    return
                violation = replace(shown, index=first + shown.index)
                # Of a batch that few have answered others may say which of two equals is wrong.
                whole = self._whole.get(contract.id, contract) if violation.undecided else contract
                found(Entry(whole, violation, self._case(batch, violation.index)))
        done = BatchDone(
            contract=contract.id,
            generator=batch.generator,
            cases=len(batch.inputs),
            bytes=len(seen.inputs.data),
            comparisons=comparisons(seen) if "equivalence" in exercised else 0,
            exercised=exercised,
            violations=violations,
            forced=forced,
            answers={name: answers_in(results) for name, results in seen.results.items()},
            declined={
                name: declined
                for name, results in seen.results.items()
                if (declined := first_declined(results)) is not None
            },
        )
        run.tracker.tell()
        with run.lock:
            self.coverage.consume(done)
        run.emit(done)
        if self._texts is not None:
            self._texts.compared(seen, batch)

    def look_into(self, pool: WorkerPool, entry: Entry) -> None:
        """Hand a violation to the tracker, which asks again, and makes it minimal."""
        with pool.turn:
            self._run.tracker.consider(pool, entry)

    def open(self, contracts: Sequence[Contract]) -> None:
        """Take note of who takes part in the contracts of a vocabulary."""
        self._whole |= {one.id: one for one in contracts}

    def examples(self, pool: WorkerPool, contracts: Sequence[Contract]) -> None:
        """Run the examples of the expectations that concern these contracts."""
        for one in exercises(self._run.plan, self._run.tracker, pool, contracts):
            with self._run.lock:
                tally = self._run.tally
                (tally.exercised if one.exercised else tally.unsure).add(one.place)
                if one.shown:
                    tally.shown.add(one.place)


def answers_in(results: Results) -> list[int]:
    """How many cases were answered (ids or a rejection), failed on, and not supported."""
    if not results.messages:
        return [len(results), 0, 0]
    answered = int(results.answered.sum())
    unsupported = int((results.status == Status.UNSUPPORTED).sum())
    return [answered, len(results) - answered - unsupported, unsupported]


def first_declined(results: Results) -> str | None:
    """What an implementation said of the first case that it does not support, if there is one."""
    for index, message in sorted(results.messages.items()):
        if results.status[index] == Status.UNSUPPORTED:
            return message.split("\n", 1)[0]
    return None


class ViolationQueue:
    """Violations that wait, and the thread that looks into them, those of the rarest kind first.

    That goes on beside the judges, who never wait for it: asking about a violation again, and
    making its input minimal, takes up to seconds. A judge that did so itself would keep its batch,
    and with it the run, waiting.

    look_into: called with one violation after another. stopped: whether the run was ended. over:
    whether no more time is left for findings; what comes or waits then is not looked into. first:
    called before any violation is looked into.
    """

    def __init__(
        self,
        look_into: Callable[[Entry], None],
        stopped: Callable[[], bool],
        over: Callable[[], bool],
        first: Callable[[], None] = lambda: None,
    ) -> None:
        self._look_into = look_into
        self._stopped = stopped
        self._over = over
        self._first = first
        self._waiting: dict[Kind, deque[Entry]] = {}
        self._taken: Counter[Kind] = Counter()
        self._changed = threading.Condition()
        self._closing = False
        self._hurried = False
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="violations")
        self._ended = self._thread.submit(self._run)

    def take(self, entry: Entry) -> None:
        """Keep a violation until it is its turn; wait where too many are kept already."""
        kind = kind_of(entry)
        with self._changed:
            while self._number() >= MOST_WAITING and not (self._hurried or self._idle()):
                self._changed.wait(LOOK_SECONDS)
            self._waiting.setdefault(kind, deque()).append(entry)
            self._changed.notify_all()

    def hurry(self) -> None:
        """Let no judge wait any more: no new case is asked, so that little more is to come."""
        with self._changed:
            self._hurried = True
            self._changed.notify_all()

    def look(self) -> None:
        """Raise what ended the thread, if anything did."""
        if self._ended.done():
            self._ended.result()

    def finish(self) -> list[Entry]:
        """Look into what is left, while there is time for it; gives what was not looked into.

        Raises what the thread raised.
        """
        self._close()
        self._ended.result()
        return [one for ones in self._waiting.values() for one in ones]

    def close(self) -> None:
        """End after the violation that is being looked into; what is left is dropped."""
        with self._changed:
            self._waiting.clear()
        self._close()
        self._thread.shutdown(wait=True)

    def _close(self) -> None:
        with self._changed:
            self._closing = True
            self._changed.notify_all()

    def _idle(self) -> bool:
        """Whether nothing more is looked into."""
        return self._stopped() or self._over() or self._ended.done()

    def _number(self) -> int:
        return sum(map(len, self._waiting.values()))

    def _next(self) -> Entry | None:
        """The violation to look into next, as soon as there is one; None at the end."""
        with self._changed:
            while not self._stopped() and not (self._closing and self._over()):
                if self._waiting and not self._over():
                    kind = min(self._waiting, key=self._taken.__getitem__)
                    self._taken[kind] += 1
                    entry = self._waiting[kind].popleft()
                    if not self._waiting[kind]:
                        del self._waiting[kind]
                    self._changed.notify_all()
                    return entry
                if self._closing and not self._waiting:
                    return None
                self._changed.wait(LOOK_SECONDS)
        return None

    def _run(self) -> None:
        self._first()
        while (entry := self._next()) is not None:
            self._look_into(entry)


def kind_of(entry: Entry) -> Kind:
    """What a violation seems to be before anything is asked about it."""
    violation = entry.violation
    return entry.contract.id, violation.check, violation.stage, tuple(violation.culprits)
