"""A target: one vocabulary under one seed, fuzzed in rounds, each of which is kept or lost whole.

A round asks a batch, judges it, learns from it, and gives what is to be committed. What a round
does depends on what was committed before and on nothing else: no clock, no thread, no other target.
So a round that was cut off is done again, alike, and any number of targets may run side by side, or
one after another, on any machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.core.outcomes import Inputs
from harness.engine.judge import Judge
from harness.engine.session import Session
from harness.engine.state import RunState
from harness.engine.streams import Batch
from harness.events import (
    ContractOpened,
    Event,
    ImplementationFailed,
    VocabularyLoaded,
    Withdrawn,
)  # fmt: skip
from harness.findings.tracker import FindingTracker
from harness.studies.campaigns.loop import Loop, Maker, derived
from harness.studies.campaigns.state import Kept
from harness.studies.fuzz import known
from harness.studies.fuzz.arms import (
    CORPUS,
    SHARED,
    STRUCTURED,
    STRUCTURED_COST,
    generated,
    mutated,
    structured,
)
from harness.studies.fuzz.asking import answered, rates_of, send
from harness.studies.fuzz.behaviour import EVERY, Map, Shapes, dearer, observe
from harness.studies.fuzz.corpus import Corpus, Entry
from harness.studies.fuzz.coverage import COST, COVERAGE, covered, targets
from harness.studies.fuzz.examples import inputs, mark, open_examples
from harness.studies.fuzz.state import State
from harness.workers.pool import OutOfTime, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.studies.campaigns.state import Round
    from harness.studies.campaigns.units import Save
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.workers.pool import WorkerPool

READMIT_EVERY = 64
"""Batches after which deaths and time-outs no longer count: an implementation that was withdrawn
for them gets another chance, or a campaign of months would leave it out after its first minutes."""

LAST_LOOKS_SECONDS = 10.0
"""What was found is looked into for so many seconds after a campaign's last case: enough to make
one slow finding minimal, or dozens of quick ones."""

CURVE_STEP = 1.1
"""The curve of discoveries has a point each time the cases have grown by this factor."""

JOINED_GAIN, DISAGREEMENT_GAIN, BUCKET_GAIN = 5.0, 5.0, 20.0
"""The gains of three discoveries: a batch all of whose inputs join the corpus (early on nearly all
do), a new shape of disagreement, a new bucket of findings."""


class Target:
    """Fuzzes one vocabulary; see :class:`harness.studies.campaigns.units.Target`.

    name: of the target. parts: how it was committed last; none where it never was. pool: of
    workers, which may have had other vocabularies before. save: writes a finding's folder.
    """

    def __init__(
        self, plan: FuzzPlan, name: str, parts: Mapping[str, bytes], pool: WorkerPool, save: Save
    ) -> None:
        self._kept = Kept(State, parts)
        self.state = state = self._kept.state
        self.name, (self._source, self._shard) = name, plan.targets[name]
        self._plan, alone = plan, plan.alone(self._source)
        self._events: list[Event] = []
        self._tracker = FindingTracker(
            self._events.append, save, alone.expectations, alone.versions, unhurried=True
        )
        self._run = RunState(alone, self._events.append, self._tracker)
        self._judge = Judge(self._run)
        self._pool = pool
        self._left: Callable[[], float] = lambda: math.inf
        self._contracts: Sequence[Contract] = ()
        self._others: list[bytes] = []
        self._map = Map(state.map)
        self._corpus = Corpus(state.corpus)
        self._tracker.restore(state.snapshot)
        self._run.tally.add(state.tally)

    def limit_by(self, left: Callable[[], float]) -> None:
        """End with the time of a session; left: the seconds until then.

        What was not answered then is lost; what was answered is judged, without further questions.
        """
        self._left = left
        self._pool.limit_by(left)
        self._tracker.limit_by(lambda: left() + LAST_LOOKS_SECONDS)

    def stop(self) -> None:
        """End what is on, from any thread: its workers are killed."""
        self._run.stop.set()
        self._pool.kill()

    def _ended(self) -> bool:
        return self._run.stop.is_set() or self._left() <= 0

    def open(self, others: Sequence[bytes] = ()) -> None:
        """Load the vocabulary into a pool, and be ready to go on where it was left.

        The examples of the expectations come with the loading, where they were not run yet: their
        number is given, whatever the budget. others: inputs of other targets, which are asked
        first. Raises Stopped, where it is stopped or time is up.
        """
        state, plan = self.state, self._run.plan
        vocabulary, pool = plan.vocabularies[self._source](), self._pool
        pool.claims.clear()  # of rounds that are lost
        session = Session(pool, self._source, vocabulary, self._run)
        if not session.load(self._ended):
            raise Stopped
        self._contracts = session.contracts()
        self._shapes = Shapes(vocabulary)
        for contract in self._contracts:  # libraries make what they make on first use
            pool.ask(contract, Inputs.of([b""])).wait()
        for generator in plan.generators:
            next(generator.cases(vocabulary, plan.seed), None)
        pool.charge(state.losses)
        lasting = VocabularyLoaded | ContractOpened | ImplementationFailed
        state.opened = [one.to_json() for one in self._events if isinstance(one, lasting)]
        if self._plan.database is not None:
            others = [*others, *inputs(vocabulary, open_examples(self._plan.database))]
        had = {*state.shared, *map(mark, [*self._smallest(), *(one.data for one in state.corpus)])}
        self._others = [
            one for one in others if mark(one) not in had and vocabulary.can_encode(one)
        ]
        seed = f"{plan.seed}/{self._source}/{self._shard}"
        costs = {STRUCTURED: STRUCTURED_COST, COVERAGE: COST}
        self._loop = Loop(self._makers(vocabulary), seed, state.schedule, costs)
        self._run_examples()

    def _makers(self, vocabulary: Vocabulary) -> dict[str, Maker[Batch]]:
        """All arms; they are kept from one opening to the next, as their streams are."""
        plan, shard = self._run.plan, self._shard
        seeded = partial(derived, plan.seed, shard)
        makers = {
            one.name: generated(one, vocabulary, seeded, plan.suite.max_input)
            for one in plan.generators
        }
        makers[CORPUS] = mutated(self._corpus, vocabulary, plan.seed, shard)
        if self._plan.structured:
            makers[STRUCTURED] = structured(vocabulary, seeded)
        if self._plan.coverage and (able := targets(vocabulary, self._contracts)):
            kept = self.state.covered
            makers[COVERAGE] = covered(able, vocabulary, seeded, kept, self._ended)
        return makers

    def _smallest(self) -> list[bytes]:
        return [one.input for one in self._tracker.findings if one.minimal]

    def _run_examples(self) -> None:
        """The examples of the expectations, once, and again where these have changed."""
        self._judge.open(self._contracts)
        digest = hashlib.sha256(repr(self._run.plan.expectations).encode()).hexdigest()
        if digest == self.state.judged_by:
            return
        tally = self._run.tally
        for places in (tally.exercised, tally.shown, tally.unsure):
            places.clear()
        self._judge.examples(self._pool, self._contracts)
        if not self._pool.out_of_time:
            self.state.judged_by = digest

    def ask_again(self) -> Round | None:
        """What has become of what was found, or was fixed: see :mod:`harness.studies.fuzz.known`.

        None where nothing has changed. Raises Stopped.
        """
        state, contracts = self.state, {one.id: one for one in self._contracts}
        before = len(self._events)
        fixed = known.asked_again(state.findings, state.fixed, contracts, self._pool, self._tracker)
        unsettled = self._events[before:]
        same = fixed == state.fixed and self._tracker.findings == state.findings
        # The deaths and the claims of these questions are none of the campaign's.
        self._pool.charge(state.losses)
        self._pool.excused()
        self._pool.claims.clear()
        if same and not unsettled:
            return None
        state.fixed = fixed
        return self._result(0.0)

    def round(self) -> Round | None:
        """One batch: of others' inputs where there are any, else of the arm that is chosen."""
        began = time.monotonic()
        # As one that goes on elsewhere from what was committed, and knows no more than that.
        self._tracker.restore(self._tracker.snapshot())
        self._draw_curve()
        others, self._others = self._others, []
        if others:
            self.state.shared += map(mark, others)
            self._learn(SHARED, Batch(SHARED, self._run.plan.seed, 0, 0, others))
        elif not self._something_is_asked():
            return None
        self._tracker.settle(self._pool)
        return self._result(time.monotonic() - began)

    def _something_is_asked(self) -> bool:
        """Take turns of the loop until one has inputs: who has nothing now may have some later."""
        before = self.state.cases
        for _ in range(2 * len(self.state.schedule.arms)):
            if not self._loop.turn(self._learn):
                return False
            if self.state.cases > before:
                return True
        return False

    def _learn(self, arm: str, batch: Batch) -> tuple[int, float]:
        """Ask a batch, judge it under each contract, and keep the inputs that show something new.

        The feedback of the loop: how many cases it was, and what that was worth.
        """
        state, pool, budget = self.state, self._pool, self._run.plan.budget
        if budget.cases is not None and arm != SHARED:
            batch = replace(batch, inputs=batch.inputs[: budget.cases - state.cases])
        if not (count := len(batch.inputs)):
            return 0, 0.0
        asked, sent = time.monotonic(), send(pool, self._contracts, batch, state.rates)
        answered(sent, self._ended)
        before = {found.id for found in self._tracker.findings}
        fresh: set[int] = set()
        shapes = len(state.disagreements)
        for portion in sent:
            seen = portion.pending.wait()
            self._judge.judge(pool, seen, portion.batch, partial(self._judge.look_into, pool))
            if self._run.stop.is_set():
                raise Stopped
            behaviour = observe(seen, self._shapes)
            fresh |= {portion.first + index for index in self._map.add(behaviour)}
            for index, shape in behaviour.disagreements.items():
                times = state.disagreements[shape] = state.disagreements.get(shape, 0) + 1
                if times == 1:
                    fresh.add(portion.first + index)
        if self._plan.costly and state.schedule.number % EVERY == 0 and sent:
            contract = sent[0].pending.contract
            with contextlib.suppress(OutOfTime):
                fresh |= dearer(pool, contract, batch.inputs, state.costs)
        if budget.seconds is not None:  # time is what limits the campaign
            state.rates = rates_of(sent, asked) or state.rates
        joined = sum(self._corpus.join(Entry(batch.inputs[i], arm)) for i in sorted(fresh))
        if arm == SHARED:  # no arm, and no batch of the schedule
            return 0, 0.0
        state.cases += count
        if (state.schedule.number + 1) % READMIT_EVERY == 0:
            pool.charge({})
        worth = JOINED_GAIN * joined / count
        worth += DISAGREEMENT_GAIN * (len(state.disagreements) - shapes)
        worth += BUCKET_GAIN * len({one.id for one in self._tracker.findings} - before)
        return count, worth

    def _draw_curve(self) -> None:
        """Have a point where the cases have grown by so much."""
        state, found = self.state, len(self._tracker.findings)
        before = state.curve[-1][0] if state.curve else 0
        if state.cases > CURVE_STEP * before:
            behaviours = self._map.species[0]
            state.curve.append((state.cases, behaviours, len(state.disagreements), found))

    def _result(self, seconds: float) -> Round:
        """What is to be committed."""
        state, pool = self.state, self._pool
        withdrawn = pool.withdrawn()
        for name, reason in withdrawn.items():
            if state.withdrawn.get(name) != reason:
                self._events.append(Withdrawn(name, self._source, reason))
        state.withdrawn |= withdrawn
        state.add(self._events)
        self._run.note_answers(pool, self._source)
        state.losses = pool.losses()
        state.shared = sorted({*state.shared, *map(mark, self._smallest())})
        state.snapshot = self._tracker.snapshot()
        state.tally = self._run.tally.plain()
        state.map = self._map.counts
        done = self._kept.round(self.name, self._events, seconds)
        self._events.clear()
        return done
