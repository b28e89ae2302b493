"""The campaign: cases to workers to checks to findings, vocabulary by vocabulary.

A lane is one set of workers that goes through vocabularies one after another; ``jobs`` lanes run
side by side. Within a lane a batch is being encoded while the one before it is judged.
"""

from __future__ import annotations

import math
import queue
import threading
import time
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.families.catalog import families
from harness.checks import CHECKS
from harness.core.comparisons import Contract
from harness.core.countdown import Countdown
from harness.core.outcomes import Inputs, Status
from harness.engine.budgeting import left_for_cases, share
from harness.engine.examples import exercises, with_examples
from harness.engine.opening import NamedFailed, Opened
from harness.engine.pace import PATIENCE, Pacer
from harness.engine.planning import Plan, Tally
from harness.engine.starting import Start
from harness.engine.streams import Batch, batches
from harness.engine.taking import comparisons, due, takes
from harness.events import (
    BatchDone,
    FamiliesMeasured,
    ImplementationFailed,
    Phase,
    SlowOnce,
    Withdrawn,
)
from harness.findings import left_processes as leavings
from harness.studies.growth.exact import count_instructions
from harness.studies.growth.measurement import Measurement, chosen, counts_steps, taking_part
from harness.workers.instructions import wrapper
from harness.workers.pool import OutOfTime, Pending, Stopped, WorkerPool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Observation
    from harness.events import Event
    from harness.findings.tracker import FindingTracker

LONGEST_WAIT = 30.0
"""How many times the limit of a request a run waits for an answer that may be a hang. On a quiet
machine it takes three times that, to ask again alone, in a new process; the limit is CPU time, so
that it takes as much longer as others have the processor. Only a hang makes a run go on so long."""

MOMENT = 2.0
"""Seconds after the end of a vocabulary's time in which judges still ask about what was found."""

SUSPECT_SECONDS = 0.5
"""Seconds of its own, of CPU time or of sitting, after which who is at a single input may hang; who
was kept from the processor may not."""

OF_WHAT_IS_KNOWN = frozenset({"survival", "equivalence"})
"""Checks without further questions: they take no time to speak of."""

TIMED_OUT = Status.TIMED_OUT.label

INSTRUCTIONS_SHARE = 0.25
"""Of the time for growth, where instructions are counted besides."""

IN_FLIGHT = 2
"""Batches asked ahead of the one being judged, so that no worker waits for the harness."""


class Campaign:
    """One run of a plan. ``emit`` is called from several threads, one call at a time."""

    def __init__(self, plan: Plan, emit: Callable[[Event], None], tracker: FindingTracker) -> None:
        self._plan = plan
        self._emit = emit
        self._tracker = tracker
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._pools: list[WorkerPool] = []
        self._contracts: dict[str, Contract] = {}
        """By implementation the last contract under which it was asked."""
        self._unmeasured = set(plan.scaled)
        self._scaling_seconds = 0.0
        self._weight = sum(map(plan.weight, plan.visited))
        self._loads: list[float] = []
        self.countdown = Countdown(plan.budget.seconds)
        self._start = Start((), 0)
        self.tally = Tally()

    def run(self, seconds: float | None) -> None:
        """Check all vocabularies, for ``seconds`` from the first case on (None: without a limit).

        An exception of a lane, KeyboardInterrupt included, stops all and is raised again.
        """
        if seconds != self.countdown.seconds:
            self.countdown = Countdown(seconds)
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        for source in self._plan.visited:
            waiting.put(source)
        self._scaling_seconds = self._plan.scaling_seconds(seconds)
        jobs = max(1, min(self._plan.jobs, len(self._plan.visited)))
        self._start = Start(self._plan.named if seconds is not None else (), jobs)
        with ThreadPoolExecutor(jobs, thread_name_prefix="lane") as lanes:
            futures = [lanes.submit(self._lane, waiting, jobs) for _ in range(jobs)]
            try:
                # Wake up now and then: a thread that only waits is deaf to Ctrl-C.
                while wait(futures, timeout=0.2).not_done:
                    if any(f.done() and f.exception() for f in futures):
                        break
                for future in futures:
                    future.result()
            except BaseException:
                self.stop()
                raise

    @property
    def left(self) -> float:
        """Seconds until no new case is to be asked."""
        return left_for_cases(self.countdown)

    def _left_for_questions(self) -> float:
        """Seconds until no question at all is asked; before the first case there is no limit."""
        return self.countdown.left if self.countdown.running else math.inf

    def stop(self) -> None:
        """End all lanes and kill all workers, from any thread."""
        self._stop.set()
        with self._lock:
            for pool in self._pools:
                pool.kill()

    def _lane(self, waiting: queue.SimpleQueue[str], jobs: int) -> None:
        pool = WorkerPool(self._plan.participants, self._plan.limits)
        pool.limit_by(self._left_for_questions)
        with self._lock:
            self._pools.append(pool)
        try:
            while not self._stop.is_set():
                try:
                    source = waiting.get_nowait()
                except queue.Empty:
                    return
                if self.left <= 0:
                    self._note_unreached(source)
                    continue
                with self._lock:
                    ahead = self._weight
                    self._weight -= self._plan.weight(source)
                self._vocabulary(pool, source, lambda: self._share(source, ahead, jobs))  # noqa: B023
        except Stopped:
            return
        finally:
            self._start.come(pool)
            pool.close()
            if not self._stop.is_set() and CHECKS[leavings.CHECK] in self._plan.checks:
                leavings.note(self._tracker, pool.left(), self._contracts, self._plan.seed)

    def _note_unreached(self, source: str) -> None:
        with self._lock:
            self.tally.unreached.append(source)

    def _share(self, source: str, ahead: float, jobs: int) -> float:
        """The seconds for which a vocabulary is checked, from now on."""
        growth = self._scaling_seconds * len(self._unmeasured) / jobs
        with self._lock:
            usual = sum(self._loads) / len(self._loads) if self._loads else 0.0
            to_load = usual * (ahead - self._plan.weight(source)) / jobs
        weight = self._plan.weight(source)
        return share(self.left, weight, ahead, jobs, growth + to_load)

    def _vocabulary(self, pool: WorkerPool, source: str, seconds: Callable[[], float]) -> None:
        """Load a vocabulary, check it for as many seconds as it is given then, measure growth."""
        self._emit(Phase(f"loading {source}"))
        began = time.monotonic()
        vocabulary = self._plan.vocabularies[source]()
        opened = self._begin(pool, source, vocabulary)
        # Those whom the user named are all waited for: a gate that has not seen one says nothing.
        everybody = bool(self._plan.named) or self.countdown.seconds is None
        steps = self._prepared(source, vocabulary)

        def over() -> bool:
            return self._stop.is_set() or self.left <= 0

        opened.wait(everybody=everybody, stopped=over, meanwhile=steps)
        while not over() and next(steps, None) is not None:
            opened.look()
        if not self._stop.is_set():
            opened.announce()
        with self._lock:
            self._loads.append((time.monotonic() - began) / self._plan.weight(source))
        self._start.wait(pool, pool.loaded(), over)
        if over():
            if not self._stop.is_set():
                self._note_unreached(source)
            return
        self.countdown.start()
        end = time.monotonic() + seconds()  # infinite where time is no limit
        walked = source in self._plan.walked
        with ThreadPoolExecutor(1, thread_name_prefix="walk") as beside:
            walking = beside.submit(self._walk, vocabulary, end) if walked else None
            try:
                if self._plan.checks:
                    self._check(pool, vocabulary, opened, end)
                if walking is not None:
                    walking.result()
            except BaseException:
                self._stop.set()
                raise
        if source in self._plan.scaled and not self._stop.is_set():
            self._measure(pool, vocabulary, opened.contracts(loaded=True))
        self._unmeasured.discard(source)
        if self._stop.is_set():
            return
        opened.look()
        self._contracts |= {name: c for c in opened.contracts(loaded=True) for name in c.names}
        self._note_excused(pool, vocabulary.id)
        for name, reason in pool.withdrawn().items():
            self._emit(Withdrawn(name, vocabulary.id, reason))

    def _prepared(self, source: str, vocabulary: Vocabulary) -> Iterator[str]:
        """Have generators and families make what they make on first use, step by step.

        It takes seconds on a large vocabulary, which no clock could cut off, and which would be
        most of a short budget.
        """
        if self.countdown.seconds is None:
            return
        if self._plan.checks:
            for generator in self._plan.generators:
                next(generator.cases(vocabulary, self._plan.seed), None)
                yield generator.name
        if source in self._plan.scaled:
            for family in families(self._plan.families).values():
                family.suits(vocabulary)
                yield family.name

    def _note_excused(self, pool: WorkerPool, vocabulary: str) -> None:
        """Tell the failures that did not come back; nothing fails for them."""
        for one in pool.excused():
            self._emit(SlowOnce.of(one, vocabulary))
            with self._lock:
                self.tally.excused[one.implementation] += 1

    def _check(self, pool: WorkerPool, vocabulary: Vocabulary, opened: Opened, end: float) -> None:
        """Ask cases, until ``end`` or as many as the budget has, and judge the answers."""
        self._emit(Phase(f"checking {vocabulary.id}"))
        if self.countdown.seconds is None:
            contracts = opened.contracts(loaded=True)
            self._examples(pool, contracts)
            for pending, batch in self._asked(pool, vocabulary, contracts):
                if self._stop.is_set():
                    return
                self._judge(pool, pending.wait(), batch)
                self._stop_at_the_first()
            return
        pacer = Pacer(
            pool,
            opened.contracts(),
            takes,
            lambda seen, batch: self._judge(pool, seen, batch, end),
        )
        examples = [False]

        def over() -> bool:
            opened.look()
            if opened.ready(everybody=True) and not examples[0]:
                self._examples(pool, opened.contracts(loaded=True))
                examples[0] = not pool.out_of_time  # else again, after the vocabulary's time
            self._stop_at_the_first()
            return self._stop.is_set() or time.monotonic() > end

        plan = self._plan
        # What the judges ask of a slow one is not to take the time of other vocabularies.
        pool.limit_by(lambda: min(self._left_for_questions(), end + MOMENT - time.monotonic()))
        try:
            pacer.run(batches(plan.generators, vocabulary, plan.seed, plan.suite.max_input), over)
            loading = set(pool.loading())
            owing = pacer.finish(
                lambda name, seconds: self._worth_waiting(pool, name, seconds, end)
            )
        except BaseException:
            self._stop.set()
            pool.kill()  # judges that wait for answers are told so
            raise
        finally:
            pacer.close()
            pool.limit_by(self._left_for_questions)
        if self._stop.is_set():
            return
        with self._lock:
            self.tally.unanswered.update(set(owing) - loading)
            for name in {*owing, *loading}:
                self.tally.late.setdefault(name, []).append(vocabulary.id)
        pool.resume()
        if not examples[0]:
            idle = set(owing) - with_examples(self._plan)  # they would only take time
            self._examples(pool, opened.contracts(loaded=True, besides=idle))

    def _worth_waiting(self, pool: WorkerPool, name: str, seconds: float, end: float) -> bool:
        """Whether to wait on for an answer that is owed for so many seconds.

        As long as the vocabulary has time, and a moment longer; and after that if it may be a hang.
        Not for who is loading; nor for longer than until a time-out is sure; nor, while the whole
        run has no more time, for who was found to hang before.
        """
        if self._stop.is_set():
            return False
        if time.monotonic() < end + PATIENCE:
            return True
        if name in pool.loading():
            return False
        known = name in self.tally.hung
        if known and self.left <= 0:
            return False
        suspect = pool.at_work(name) > SUSPECT_SECONDS
        waiting = suspect and seconds < LONGEST_WAIT * self._plan.limits.seconds
        if waiting and self.countdown.over:
            self.tally.awaited.add(name)
        return waiting

    def _stop_at_the_first(self) -> None:
        if self._plan.fail_fast and self._tracker.unexpected:
            self._stop.set()

    def _warm_up(
        self, pool: WorkerPool, vocabulary: Vocabulary, contracts: Sequence[Contract]
    ) -> None:
        """Have libraries and generators make what they make on first use."""
        for contract in contracts:
            pool.ask(contract, Inputs.of([b""])).wait()
        for generator in self._plan.generators:
            next(generator.cases(vocabulary, self._plan.seed), None)

    def _examples(self, pool: WorkerPool, contracts: Sequence[Contract]) -> None:
        """Run the examples of the expectations that concern these contracts."""
        for one in exercises(self._plan, self._tracker, pool, contracts):
            with self._lock:
                if one.exercised:
                    self.tally.exercised.add(one.place)
                if one.shown:
                    self.tally.shown.add(one.place)

    def _walk(self, vocabulary: Vocabulary, end: float) -> None:
        """Walk forced tokens on a sample of our own schemas, until ``end`` at the most."""
        from harness.studies.forced.sample import walk_sample  # noqa: PLC0415 (imports llguidance)

        self._emit(Phase(f"forcing tokens of {vocabulary.id}"))
        hurried = self._plan.budget.seconds is not None
        trouble = walk_sample(
            vocabulary,
            self._plan.seed,
            self._emit,
            hurried=hurried,
            stopped=self._stop.is_set,
            over=lambda: time.monotonic() > end,
        )
        if trouble is not None:
            self._emit(ImplementationFailed("forced tokens", vocabulary.id, trouble))
            with self._lock:
                self.tally.failed_to_load.append(("forced tokens", vocabulary.id, trouble))

    def _measure(
        self, pool: WorkerPool, vocabulary: Vocabulary, contracts: Sequence[Contract]
    ) -> None:
        """Growth on one vocabulary, while its workers are loaded: that takes longest."""
        self._emit(Phase(f"measuring growth on {vocabulary.id}"))
        suite, names = self._plan.suite, {name for one in contracts for name in one.names}
        known = families(self._plan.families)
        whole = max(0.0, min(self._scaling_seconds, self.left))
        taken = [known[name] for name in self._plan.measured] or chosen(
            known, len(names), whole, self._plan.seed
        )
        counting = wrapper() if suite.scaling_instructions else ()
        seconds = whole * (1 - INSTRUCTIONS_SHARE if counting else 1)
        measurement = Measurement(
            pool, contracts, taken, suite.scaling_bytes, steps=suite.scaling_steps
        )
        measurement.run(seconds, self._emit, self._stop.is_set)
        if measurement.left_out:
            count = f"{len(measurement.left_out)} of {len(taken)} families"
            self._emit(Phase(f"growth on {vocabulary.id}: no time was left for {count}"))
        if not self._stop.is_set():
            fitting = sum(family.suits(vocabulary) for family in known.values())
            names_taken = [family.name for family in taken if family.suits(vocabulary)]
            left = measurement.left_out
            self._emit(FamiliesMeasured(vocabulary.id, fitting, names_taken, left))
        if counting and not self._stop.is_set():
            self._emit(Phase(f"counting instructions on {vocabulary.id}"))
            others = [c for c, _ in taking_part(contracts) if not counts_steps(c)]
            rest = max(0.0, min(whole * INSTRUCTIONS_SHARE, self.left))
            count_instructions(
                others,
                vocabulary,
                taken,
                counting,
                self._plan.limits,
                rest,
                self._emit,
                self._stop.is_set,
                self._left_for_questions,
            )

    def _begin(self, pool: WorkerPool, source: str, vocabulary: Vocabulary) -> Opened:
        """Have all that can run a vocabulary load it."""
        plan = self._plan
        opened = Opened(pool, source, vocabulary, plan, self._emit, self._failed)
        opened.begin()
        return opened

    def _failed(self, name: str, vocabulary: str, message: str, *, refused: bool) -> None:
        """Take note of one that could not load, or, refused, would not."""
        with self._lock:
            if refused:
                self.tally.refused[name] += 1
            else:
                self.tally.failed_to_load.append((name, vocabulary, message))
        if name in self._plan.named and not refused:
            # Who was asked for by name and cannot run makes the whole run worthless.
            raise NamedFailed(name, vocabulary, message)

    def _open(self, pool: WorkerPool, source: str, vocabulary: Vocabulary) -> list[Contract]:
        """Load the vocabulary into all that can run it, and open its contracts."""
        opened = self._begin(pool, source, vocabulary)
        opened.wait(everybody=True, stopped=self._stop.is_set)
        opened.announce()
        return opened.contracts(loaded=True)

    def _asked(
        self, pool: WorkerPool, vocabulary: Vocabulary, contracts: Sequence[Contract]
    ) -> Iterator[tuple[Pending, Batch]]:
        """Batches with their answers on the way, a few asked ahead, as many cases as are wanted."""
        plan = self._plan
        ahead: deque[tuple[Pending, Batch]] = deque()
        done: Counter[str] = Counter()
        # Those with special tokens get few of the cases, so that they never use a budget up.
        ordinary = [contract for contract in contracts if contract.mode.special == "none"]
        decisive = ordinary or contracts
        for batch in batches(plan.generators, vocabulary, plan.seed, plan.suite.max_input):
            if self._stop.is_set():
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

    def _judge(
        self, pool: WorkerPool, seen: Observation, batch: Batch, end: float = float("inf")
    ) -> int:
        """Put all checks to a batch that was answered; how many of its cases are at fault.

        After ``end`` those that have further questions are left out.
        """
        contract = seen.contract
        at_fault: set[int] = set()
        exercised: dict[str, dict[str, int]] = {}
        violations: dict[str, dict[str, int]] = {}
        for check in self._plan.checks:
            if not check.applies(contract):
                continue
            if self._plan.sampled and not due(check, batch, contract):
                continue
            if time.monotonic() > end and check.name not in OF_WHAT_IS_KNOWN:
                continue
            try:
                judgement = pool.judge(check, seen)
            except OutOfTime:
                continue  # as if it had never been put
            exercised[check.name] = dict(judgement.exercised)
            blamed: Counter[str] = Counter()
            for violation in judgement.violations:
                blamed.update(violation.culprits)
                at_fault.add(violation.index)
                if violation.check == "survival" and violation.stage == TIMED_OUT:
                    self.tally.hung.update(violation.culprits)
                if self._stop.is_set():
                    return len(at_fault)
                self._before_a_finding()
                with pool.turn:
                    self._tracker.consider(pool, contract, violation, batch.case(violation.index))
            if blamed:
                violations[check.name] = dict(blamed)
        compared = comparisons(seen) if "equivalence" in exercised else 0
        with self._lock:
            for judged in exercised.values():
                self.tally.judged.update(name for name, count in judged.items() if count)
            self.tally.cases += len(batch.inputs)
            self.tally.comparisons += compared
        self._emit(
            BatchDone(
                contract=contract.id,
                generator=batch.generator,
                cases=len(batch.inputs),
                bytes=len(seen.inputs.data),
                comparisons=compared,
                exercised=exercised,
                violations=violations,
            )
        )
        return len(at_fault)

    def _before_a_finding(self) -> None:
        """Is called before a violation is looked into, which may take seconds."""
