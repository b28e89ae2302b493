"""The study of checks: cases are asked of all who take part, and their answers judged."""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.outcomes import Inputs
from harness.engine.examples import due, with_examples
from harness.engine.inquiry import Inquiry
from harness.engine.judging import Judge
from harness.engine.pace import PATIENCE, Pacer
from harness.engine.streams import Batch
from harness.engine.taking import takes
from harness.engine.texts import Texts
from harness.engine.waiting import LONGEST_WAIT, SUSPECT_SECONDS
from harness.events import Phase
from harness.findings.models import Compiling, modelled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.engine.state import RunState
    from harness.engine.study import Session
    from harness.workers.pool import Pending, WorkerPool

MOMENT = 2.0
"""Seconds after the end of a vocabulary's time in which judges still ask about what was found."""

IN_FLIGHT = 2
"""Batches asked ahead of the one being judged, so that no worker waits for the harness."""


EXPLAINED = "equivalence"
"""The check whose findings are explained by models, which are compiled on a first run."""


class Checks:
    """Asks the cases of a plan on one vocabulary after another, and judges the answers."""

    beside = False
    alone = False

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
        contracts = session.opened.contracts(loaded=True)
        self._judge.examples(pool, contracts)
        for pending, batch in self._asked(pool, session.vocabulary, contracts):
            if run.stop.is_set():
                return
            self._judge.judge(pool, pending.wait(), batch)
            run.stop_at_the_first()

    def _in_time(self, session: Session) -> None:
        """Ask each at its own pace, until the session's time is over."""
        stopped = self._run.stop.is_set
        with (
            contextlib.closing(Compiling(modelled(session.vocabulary))) as compiling,
            contextlib.closing(
                Inquiry(
                    self._judge.look_into,
                    lambda one: one.violation.check != EXPLAINED or compiling.ready(),
                    stopped,
                )
            ) as inquiry,
        ):
            self._ask_in_time(session, inquiry, compiling)

    def _ask_in_time(self, session: Session, inquiry: Inquiry, compiling: Compiling) -> None:
        run, pool, opened = self._run, session.pool, session.opened
        pacer = Pacer(
            pool,
            opened.contracts(),
            takes,
            lambda seen, batch: self._judge.judge(
                pool, seen, batch, session.end, looked_into=inquiry.take
            ),
        )
        examples = [False]

        def over() -> bool:
            opened.look()
            inquiry.look()
            if not examples[0] and compiling.ready() and opened.ready(everybody=True):
                self._judge.examples(pool, opened.contracts(loaded=True))
                examples[0] = not pool.out_of_time  # else again, after the vocabulary's time
            run.stop_at_the_first()
            return run.stop.is_set() or session.over

        half = (time.monotonic() + session.end) / 2
        cases = self._texts.first(
            session.vocabulary, opened.contracts(), lambda: time.monotonic() > half
        )
        # What the judges ask of a slow one is not to take the time of other vocabularies.
        pool.limit_by(
            lambda: min(run.left_for_questions(), session.end + MOMENT - time.monotonic())
        )
        try:
            pacer.run(cases, over)
            loading = set(pool.loading())
            owing = pacer.finish(lambda name, seconds: self._worth_waiting(session, name, seconds))
            owed = not examples[0] and any(due(run.plan, opened.contracts(loaded=True)))
            pool.resume()  # also who owes an answer is asked about what was found
            self._end(inquiry, compiling, session, owed=owed)
            with pool.turn:
                run.tracker.settle(pool)
        except BaseException:
            run.stop.set()
            pool.kill()  # judges that wait for answers are told so
            raise
        finally:
            pacer.close()
            pool.limit_by(run.left_for_questions)
        if run.stop.is_set():
            return
        with run.lock:
            run.tally.unanswered.update(set(owing) - loading)
            for name in {*owing, *loading}:
                run.tally.late.setdefault(name, []).append(session.vocabulary.id)
        if not examples[0] and compiling.ready():
            idle = set(owing) - with_examples(run.plan)  # they would only take time
            self._judge.examples(pool, opened.contracts(loaded=True, besides=idle))

    def _end(self, inquiry: Inquiry, compiling: Compiling, session: Session, *, owed: bool) -> None:
        """Look into what is left at the end of a session.

        Where models are still being compiled, on a first run, what needs them is waited for if the
        user has named implementations: a gate is to miss nothing. A run of all that there is goes
        on to the next vocabulary, and says so. owed: whether examples of expectations wait, too.
        """
        run = self._run
        if not compiling.ready() and run.plan.named and (owed or inquiry.unready()):
            compiling.wait(run.stop.is_set)
            session.pool.limit_by(run.left_for_questions)
            if run.countdown.over:
                with run.lock:
                    run.tally.compiled.add(session.vocabulary.id)
        dropped = inquiry.drop_unready()
        inquiry.finish()
        if dropped:
            with run.lock:
                run.tally.unexplained[session.vocabulary.id] += dropped

    def _worth_waiting(self, session: Session, name: str, seconds: float) -> bool:
        """Whether to wait on for an answer that is owed for so many seconds.

        As long as the vocabulary has time, and a moment longer; and after that if it may be a hang.
        Not for who is loading; nor for longer than until a time-out is sure; nor, while the whole
        run has no more time, for who was found to hang before.
        """
        run = self._run
        if run.stop.is_set():
            return False
        if time.monotonic() < session.end + PATIENCE:
            return True
        if name in session.pool.loading():
            return False
        known = name in run.tally.hung
        if known and run.left <= 0:
            return False
        suspect = session.pool.at_work(name) > SUSPECT_SECONDS
        waiting = suspect and seconds < LONGEST_WAIT * run.plan.limits.seconds
        if waiting and run.countdown.over:
            run.tally.awaited.add(name)
        return waiting

    def _asked(
        self, pool: WorkerPool, vocabulary: Vocabulary, contracts: Sequence[Contract]
    ) -> Iterator[tuple[Pending, Batch]]:
        """Batches with their answers on the way, a few asked ahead, as many cases as are wanted."""
        plan = self._run.plan
        ahead: deque[tuple[Pending, Batch]] = deque()
        done: Counter[str] = Counter()
        # Those with special tokens get few of the cases, so that they never use a budget up.
        ordinary = [contract for contract in contracts if contract.mode.special == "none"]
        decisive = ordinary or contracts
        half = (plan.budget.cases or 0) // 2
        for batch in self._texts.first(vocabulary, contracts, lambda: sum(done.values()) >= half):
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
