"""The study of checks: cases are asked of all who take part, and their answers judged."""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections import Counter, deque
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.core.machine_load import stretched
from harness.core.outcomes import Inputs
from harness.engine.examiner import Study
from harness.engine.feed import PATIENCE, Feed
from harness.engine.judge import Judge, ViolationQueue
from harness.engine.least import Share, named_on
from harness.engine.samples import LONG, offered, takes
from harness.engine.state import SETTLE_SECONDS
from harness.engine.streams import Batch
from harness.engine.texts import Texts
from harness.events import Phase
from harness.verdict.coverage import LEAST_CASES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract, Observation
    from harness.engine.session import Session
    from harness.engine.state import RunState
    from harness.findings.entries import Entry
    from harness.workers.pool import Pending, WorkerPool

MOMENT = 2.0
"""Seconds after the end of a vocabulary's time in which judges still ask about what was found."""

LONGEST_WAIT = 30.0
"""A run waits so many times the limit of a request for an answer that may be a hang. On a quiet
machine it takes three times that limit to ask again alone, in a new process; the limit is CPU time,
so that it takes longer where others have the processor. Only a hang makes a run go on so long."""

SUSPECT_SECONDS = 0.5
"""Seconds of its own, of CPU time or of waiting, after which who is at a single input may hang; who
was kept from the processor may not."""

IN_FLIGHT = 2
"""Batches asked ahead of the one being judged, so that no worker waits for the harness."""


class Checks(Study):
    """Asks the cases of a plan on one vocabulary after another, and judges the answers."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._texts = Texts(run.plan, run.emit)
        self._judge = Judge(run, texts=self._texts)

    def concerns(self, source: str) -> bool:
        """Whether there is anything to check."""
        return bool(self._run.plan.checks)

    def prepare(self, source: str, vocabulary: Vocabulary) -> Iterator[str]:
        """Have the generators make what they make on first use, one a step."""
        for generator in self._run.plan.generators:
            next(generator.cases(vocabulary, self._run.plan.seed), None)
            yield generator.name

    def step(self, session: Session) -> None:
        """Ask cases, until its time is over or as many as the budget has, and judge the answers."""
        self._run.emit(Phase(f"checking {session.vocabulary.id}"))
        if self._run.countdown.seconds is None:
            self._by_number(session)
        else:
            self._in_time(session)

    def _by_number(self, session: Session) -> None:
        """Ask everybody everything, in one order, as many cases as are wanted."""
        run, pool = self._run, session.pool
        contracts = session.contracts()
        named = run.plan.asked.get("checks", ())
        done: Counter[str] = Counter()
        half = (run.plan.budget.cases or 0) // 2

        def late() -> bool:
            return sum(done.values()) >= half

        cases = self._texts.first(session.vocabulary, contracts, late)
        look_into = partial(self._judge.look_into, pool)
        self._judge.open(contracts)
        self._judge.examples(pool, contracts)
        for pending, batch in self._asked(pool, contracts, cases, done):
            if run.stop.is_set():
                return
            self._judge.judge(pool, pending.wait(), batch, look_into, always=named)
            run.stop_at_the_first()
        share = Share((), named, self._judge.coverage)
        self._ask_least(session, contracts, share, (), cases, look_into)
        with pool.turn:
            run.tracker.settle(pool)
        run.stop_at_the_first()

    def _in_time(self, session: Session) -> None:
        """Ask each at its own pace, until the session's time is over; then see to what is owed."""
        run, pool = self._run, session.pool
        run.settle_until(session.end + stretched(SETTLE_SECONDS))
        contracts = session.contracts()
        self._judge.open(contracts)

        def examples() -> None:
            """The examples of what is expected, while the first cases are asked."""
            with pool.lasting(lambda usual: max(usual, run.left_for_findings())):
                self._judge.examples(pool, contracts)

        def take(entry: Entry) -> None:
            """Have it looked into later, unless it is like others, which waits for nothing."""
            if not run.tracker.alike(entry):
                queue.take(entry)

        def judge(seen: Observation, batch: Batch) -> None:
            self._judge.judge(pool, seen, batch, take, session.end)

        queue = ViolationQueue(
            partial(self._judge.look_into, pool),
            run.stop.is_set,
            lambda: run.left_for_findings() <= 0,
            examples,
        )
        feed = Feed(pool, contracts, takes, judge)
        with contextlib.closing(queue), contextlib.closing(feed):
            try:
                self._ask_in_time(session, contracts, queue, feed, take)
                self._settle(session, queue)
            except BaseException:
                run.stop.set()
                pool.kill()  # judges that wait for answers are told so
                raise
        # Once nobody asks any more: whom the last look gave up is to answer in the next study.
        pool.limit_by(run.left_for_questions)

    def _ask_in_time(
        self,
        session: Session,
        contracts: Sequence[Contract],
        queue: ViolationQueue,
        feed: Feed,
        take: Callable[[Entry], None],
    ) -> None:
        run, pool = self._run, session.pool

        def left_for_judges() -> float:
            """What judges ask of a slow one is not to take the time of other vocabularies."""
            return min(run.left_for_questions(), session.end + MOMENT - time.monotonic())

        def over() -> bool:
            queue.look()
            run.stop_at_the_first()
            return run.stop.is_set() or session.over

        half = (time.monotonic() + session.end) / 2
        cases = self._texts.first(session.vocabulary, contracts, lambda: time.monotonic() > half)
        pool.limit_by(left_for_judges)
        feed.run(cases, over)
        queue.hurry()
        owing = feed.finish(lambda name, seconds: self._worth_waiting(session, name, seconds))
        # Who is given up, and answers again later, would seem to answer otherwise.
        with pool.turn if owing else contextlib.nullcontext():
            feed.judged(owing)
            pool.resume()
        if run.stop.is_set():
            return
        with run.lock:
            run.tally.unanswered.update(owing)
        pool.limit_by(lambda: math.inf)
        by_id = {contract.id: contract for contract in contracts}
        unanswered = ((by_id[contract.id], batch) for contract, batch in feed.unanswered)
        present = list(dict.fromkeys(name for one in contracts for name in one.names))
        named = named_on(run.plan, session.source, present)
        checks = run.plan.asked.get("checks", ())
        share = Share(named, checks, self._judge.coverage)
        self._ask_least(session, contracts, share, unanswered, cases, take)

    def _ask_least(
        self,
        session: Session,
        contracts: Sequence[Contract],
        share: Share,
        unanswered: Iterable[tuple[Contract, Batch]],
        cases: Iterator[Batch],
        found: Callable[[Entry], None],
    ) -> None:
        """Ask until what the user named has had its smallest share, or no generator adds to it.

        unanswered: what was held back, or was never answered, and comes first. found: called with
        each violation.
        """
        run, pool = self._run, session.pool

        def owing(contract: Contract) -> list[str]:
            return share.owing(contract, pool.withdrawn())

        def wanted(batch: Batch) -> bool:
            return any(takes(one, batch) and owing(one) for one in contracts)

        short = (batch for batch in cases if batch.generator not in LONG)
        rest = offered(short, wanted, len(run.plan.generators))
        pairs = ((one, batch) for batch in rest for one in contracts if takes(one, batch))
        batches = itertools.chain(unanswered, pairs)
        while any(map(owing, contracts)):
            contract, batch = next(batches, (None, None))
            if run.stop.is_set() or contract is None or batch is None:
                return
            names = owing(contract)
            if not names or batch.generator in LONG:
                continue
            if run.countdown.over:
                with run.lock:
                    run.tally.least.add(session.vocabulary.id)
            inputs = batch.inputs[:LEAST_CASES]
            together = share.with_companions(contract, names, pool.withdrawn())
            seen, some = pool.ask(together, Inputs.of(inputs)).wait(), replace(batch, inputs=inputs)
            self._judge.judge(pool, seen, some, found, always=share.checks)
            share.note(seen, run.tally.hung)
            run.stop_at_the_first()

    def _settle(self, session: Session, queue: ViolationQueue) -> None:
        """Look into all that was found, and tell what there was no time for."""
        run = self._run
        began = time.monotonic()
        run.settle_until(began + stretched(SETTLE_SECONDS))
        session.pool.limit_by(run.left_for_findings)
        left = queue.finish()
        if run.stop.is_set():
            return
        with session.pool.turn:
            for one in left:
                run.tracker.leave(one)
            run.tracker.settle(session.pool)
        if run.countdown.late > MOMENT and time.monotonic() - began > MOMENT:
            with run.lock:
                run.tally.settled.add(session.vocabulary.id)
        run.stop_at_the_first()

    def _worth_waiting(self, session: Session, name: str, seconds: float) -> bool:
        """Whether to wait on for an answer that is owed for so many seconds.

        As long as the vocabulary has time, and a moment longer; and after that if it may be a hang.
        Not for longer than until a time-out is sure; nor, while the whole run has no more time, for
        who was found to hang before.
        """
        run = self._run
        if run.stop.is_set():
            return False
        if time.monotonic() < session.end + PATIENCE:
            return True
        known = name in run.tally.hung
        if known and run.left <= 0:
            return False
        suspect = session.pool.workers[name].at_work > SUSPECT_SECONDS
        waiting = suspect and seconds < LONGEST_WAIT * run.plan.limits.seconds
        if waiting and run.countdown.over:
            run.tally.awaited.add(name)
        return waiting

    def _asked(
        self,
        pool: WorkerPool,
        contracts: Sequence[Contract],
        cases: Iterator[Batch],
        done: Counter[str],
    ) -> Iterator[tuple[Pending, Batch]]:
        """Batches with their answers on the way, a few asked ahead, as many cases as are wanted.

        done: how many were asked under each contract, which this counts.
        """
        plan = self._run.plan
        ahead: deque[tuple[Pending, Batch]] = deque()
        # Those with special tokens get few of the cases, so that they never use a budget up.
        ordinary = [contract for contract in contracts if contract.mode.special == "none"]
        decisive = ordinary or contracts

        def wanted(batch: Batch) -> bool:
            return any(takes(one, batch) for one in contracts)

        for batch in offered(cases, wanted, len(plan.generators)):
            if self._run.stop.is_set():
                break
            if plan.budget.cases is not None and all(
                done[contract.id] >= plan.budget.cases for contract in decisive
            ):
                break
            for contract in contracts:
                if not takes(contract, batch):
                    continue
                inputs = batch.inputs
                if plan.budget.cases is not None:
                    inputs = inputs[: max(0, plan.budget.cases - done[contract.id])]
                if inputs:
                    done[contract.id] += len(inputs)
                    asked = replace(batch, inputs=inputs)
                    ahead.append((pool.ask(contract, Inputs.of(inputs)), asked))
            while len(ahead) > IN_FLIGHT:
                yield ahead.popleft()
        yield from ahead
