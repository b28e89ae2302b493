"""A target: one vocabulary under one seed, fuzzed in rounds, each of which is kept or lost whole.

A round takes a few batches, chosen from what was known then, asks them, or as much of them as is
done in a few seconds (``sizing.py``), judges them in order, learns from each, and gives what is to
be committed. What a round does depends on what was committed before and on nothing else: no clock,
no thread, no other target. So a round that was cut off is done again, alike, and any number of
targets may run side by side, or one after another, on any machine.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import time
from concurrent.futures import wait
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.core.outcomes import Inputs
from harness.engine.judging import Judge
from harness.engine.state import RunState
from harness.engine.streams import Batch
from harness.events import (
    ContractOpened,
    Event,
    Found,
    ImplementationFailed,
    VocabularyLoaded,
    Withdrawn,
)  # fmt: skip
from harness.findings.tracker import FindingTracker
from harness.studies.fuzz.arms import CORPUS, SHARED, Generated, Mutated
from harness.studies.fuzz.asking import Portion, rates_of, send
from harness.studies.fuzz.behaviour import Map, Shapes, observe
from harness.studies.fuzz.corpus import Corpus, Entry
from harness.studies.fuzz.cost import EVERY, dearer
from harness.studies.fuzz.coverage import COVERAGE, Covered, targets
from harness.studies.fuzz.crossing import limit
from harness.studies.fuzz.examples import inputs, mark, open_examples
from harness.studies.fuzz.loop import Loop, Maker
from harness.studies.fuzz.plan import target_name
from harness.studies.fuzz.schedule import gain
from harness.studies.fuzz.sizing import (
    GROWTH,
    Part,
    TooLong,
    Waiting,
    after,
    next_size,
    taken,
    weight,
)  # fmt: skip
from harness.studies.fuzz.state import Kept, Round
from harness.studies.fuzz.structured import STRUCTURED, Structured
from harness.workers.pool import OutOfTime, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.studies.fuzz.plan import FuzzPlan
    from harness.workers.pool import WorkerPool

BATCHES_A_ROUND = 4
"""Asked together, so that no worker waits while answers are judged; small, so that little is done
again after a kill, and the schedule learns soon. As many rounds of one batch come first, so that a
short session has committed something."""

READMIT_EVERY = 64
"""Batches after which deaths and time-outs no longer count: an implementation that was withdrawn
for them gets another chance, or a campaign of months would leave it out after its first minutes."""

POLL_SECONDS = 0.2
"""Between two looks at how long a round takes."""

CURVE_STEP = 1.1
"""The curve of discoveries has a point each time the cases have grown by this factor."""


class Target:
    """Fuzzes one vocabulary. Not thread-safe, but for :meth:`stop`.

    save: writes a finding's folder. kept: how it was committed last. round_seconds: after which a
    round is given up, to be done again in smaller ones; None: never. clock: of rounds.
    """

    def __init__(
        self,
        plan: FuzzPlan,
        source: str,
        shard: int,
        save: Callable[[str, Violation, Contract], str | None],
        kept: Kept | None = None,
        round_seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kept = kept = kept or Kept()
        alone = plan.alone(source)
        self._plan = plan
        self._events: list[Event] = []
        self._tracker = FindingTracker(
            self._events.append, save, alone.expectations, alone.versions, unhurried=True
        )
        self._run = RunState(alone, self._events.append, self._tracker)
        self._judge = Judge(self._run, self._give_up_if_late)
        self._pool: WorkerPool | None = None
        self.name = target_name(source, shard)
        self.source, self.shard = source, shard
        self._round_seconds, self._clock = round_seconds, clock
        self._underway: tuple[float, int] | None = None
        """When the round of several inputs began that is on, and what they weigh."""
        self._contracts: Sequence[Contract] = ()
        self._loop: Loop[Batch] | None = None
        self._said: dict[str, str] = {}
        self._shared: list[bytes] = []
        self.state = kept.state
        self._map = Map(self.state.map)
        self.corpus = Corpus(self.state.corpus, self.state.picks)
        self._tracker.restore(self.state.tracker())
        self._run.tally.add(self.state.sums.plain())

    @property
    def findings(self) -> list[Found]:
        """All findings so far."""
        return self._tracker.findings

    @property
    def seed(self) -> int:
        """The campaign's seed."""
        return self._run.plan.seed

    @property
    def species(self) -> tuple[int, int, int]:
        """Behaviours seen, and how many of them in one input, and in two."""
        return self._map.species

    def limit_by(self, left: Callable[[], float]) -> None:
        """Minimise no longer than a session has time; left: the seconds until it is over."""
        self._tracker.limit_by(left)

    def stop(self) -> None:
        """End what is on, from any thread: its workers are killed."""
        self._run.stop.set()
        pool = self._pool
        if pool is not None:
            pool.kill()

    def open(self, pool: WorkerPool) -> None:
        """Load the vocabulary into a pool, and be ready to go on where it was left.

        The examples of the expectations come with the loading, where they were not run yet: their
        number is given, whatever the budget. Raises Stopped.
        """
        vocabulary = self._run.plan.vocabularies[self.source]()
        self._pool = pool
        pool.claims.take()  # of rounds that are lost
        self._contracts = self._run.open(pool, self.source, vocabulary)
        self._shapes, self._can_encode = Shapes(vocabulary), vocabulary.can_encode
        self._warm_up(pool, vocabulary, self._contracts)
        pool.charge(self.state.losses)
        self.state.opened = [
            event.to_json()
            for event in self._events
            if isinstance(event, VocabularyLoaded | ContractOpened | ImplementationFailed)
        ]
        self._take_up(vocabulary)
        makers = self._made(vocabulary, self._contracts)
        seed = f"{self.seed}/{self.source}/{self.shard}"
        self._loop = Loop(makers, seed, self.state.schedule, self.state.taken)
        self._run_examples(pool)

    def _warm_up(
        self, pool: WorkerPool, vocabulary: Vocabulary, contracts: Sequence[Contract]
    ) -> None:
        """Have libraries and generators make what they make on first use."""
        for contract in contracts:
            pool.ask(contract, Inputs.of([b""])).wait()
        for generator in self._run.plan.generators:
            next(generator.cases(vocabulary, self.seed), None)

    def _made(
        self, vocabulary: Vocabulary, contracts: Sequence[Contract]
    ) -> dict[str, Maker[Batch]]:
        """All arms; kept from one opening to the next, as their streams are."""
        seed, shard = self.seed, self.shard
        longest = self._run.plan.suite.max_input
        makers: dict[str, Maker[Batch]] = {
            generator.name: Generated(generator, vocabulary, seed, shard, longest)
            for generator in self._run.plan.generators
        }
        makers[CORPUS] = Mutated(lambda: self.corpus, vocabulary, seed, shard)
        if self._plan.structured:
            makers[STRUCTURED] = Structured(vocabulary, seed, shard, self._run.stop.is_set)
        covered = targets(vocabulary, contracts) if self._plan.coverage else []
        if covered:
            makers[COVERAGE] = Covered(
                covered, vocabulary, seed, shard, self.state.covered, self._run.stop.is_set
            )
        return makers

    def _take_up(self, vocabulary: Vocabulary) -> None:
        """What others have shared, and this target has not seen, is asked in the next round."""
        if self._plan.database is None:
            return
        known = {*self.state.shared, *map(mark, self._smallest())}
        self._shared = [
            data
            for data in inputs(vocabulary, open_examples(self._plan.database))
            if mark(data) not in known and vocabulary.can_encode(data)
        ]

    def _smallest(self) -> list[bytes]:
        return [base64.b64decode(found.input_b64) for found in self.findings if found.minimal]

    def close(self) -> None:
        """Let go of the pool and of all processes of arms."""
        if self._loop is not None:
            self._loop.close()
        self._pool = None

    def round(self, pool: WorkerPool) -> Round | None:
        """One round; None when there is nothing left to ask. Raises Stopped, TooLong.

        After these the target is not to be used: a new one goes on from what was committed.
        """
        started, state = self._clock(), self.state
        # As one that goes on elsewhere from what was committed, and knows no more than that.
        self._tracker.restore(self._tracker.snapshot())
        waiting = state.waiting or [Waiting.of(name, batch) for name, batch in self._chosen()]
        if not waiting:
            return None
        most = limit(self._run.plan.budget.cases, state.crossed)
        parts = taken(waiting, state.round_size, None if most is None else most - state.cases)
        asked = [(part, send(pool, self._contracts, part.batch, state.rates)) for part in parts]
        size = sum(weight(part.batch.inputs) for part in parts)
        alone = size <= weight(parts[0].batch.inputs[:1])  # one input, which has its own limits
        self._underway = None if alone else (started, size)
        came = []
        for part, sent in asked:
            self._await(sent)
            came.append(self._learn(pool, part, sent))
        self._underway = None
        self._tracker.settle(pool)
        if self._run.plan.budget.seconds is not None:  # time is what limits the campaign
            seen = rates_of([portion for _, sent in asked for portion in sent])
            state.rates = state.rates if seen is None else seen
        state.waiting = after(waiting, parts, came)
        seconds = self._clock() - started
        state.round_size = next_size(state.round_size, size, seconds)
        return self._result(pool, seconds)

    def _await(self, sent: Sequence[Portion]) -> None:
        """Wait for answers. Raises TooLong where the round takes more than its time."""
        asked = {name: one for portion in sent for name, one in portion.pending.futures.items()}
        futures = [
            one.future
            for portion in sent
            for one in portion.pending.futures.values()
            if one.future is not None
        ]
        while self._underway is not None and wait(futures, timeout=POLL_SECONDS).not_done:
            self._give_up_if_late([name for name, one in asked.items() if not one.done])

    def _give_up_if_late(self, owing: Sequence[str] = ()) -> None:
        """Raise TooLong where a round takes more than its time, with several findings in it, too.

        owing: who has not answered.
        """
        if self._underway is None or self._round_seconds is None or self._run.stop.is_set():
            return
        started, size = self._underway
        spent = self._clock() - started
        if spent > self._round_seconds:
            # It would have taken longer still, nobody knows how long.
            raise TooLong(next_size(self.state.round_size, size, GROWTH * spent), owing)

    def _chosen(self) -> list[tuple[str, Batch]]:
        """The batches of a round, with their arms."""
        assert self._loop is not None, "it is open"
        given: list[tuple[str, Batch]] = []
        others = [data for data in self.state.given if self._can_encode(data)]
        if self._shared or others:
            given.append((SHARED, Batch(SHARED, self.seed, 0, 0, [*self._shared, *others])))
            self.state.shared += map(mark, self._shared)
        self._shared, self.state.given = [], []
        wanted = BATCHES_A_ROUND if self.state.batches >= BATCHES_A_ROUND else 1
        chosen, nothing = self._loop.choose(self.state.batches, wanted)
        self.state.batches += nothing
        return given + chosen

    def _learn(self, pool: WorkerPool, part: Part, sent: Sequence[Portion]) -> Waiting:
        """Judge a part of a batch under each contract, keep the inputs that show something new.

        After its last part a batch is rewarded for what all of them came to, which is returned.
        """
        name, batch, before = part.waiting.arm, part.batch, part.waiting
        number = self.state.batches
        known = {found.id for found in self.findings}
        fresh: dict[int, int] = {}
        shapes = 0
        for portion in sent:
            seen = portion.pending.wait()
            self._judge.judge(pool, seen, portion.batch)
            if self._run.stop.is_set():
                raise Stopped
            behaviour = observe(seen, self._shapes)
            new: dict[int, int] = dict(self._map.add(behaviour))
            for index, shape in behaviour.disagreements.items():
                count = self.state.disagreements.get(shape, 0)
                self.state.disagreements[shape] = count + 1
                if not count:
                    shapes += 1
                    new[index] = new.get(index, 0) + 1
            for index, count in new.items():
                place = portion.first + index
                fresh[place] = fresh.get(place, 0) + count
        pending = [portion.pending for portion in sent]
        if self._plan.costly and number % EVERY == 0 and pending:
            with contextlib.suppress(OutOfTime):
                for index in dearer(pool, pending[0].contract, batch.inputs, self.state.costs):
                    fresh[index] = fresh.get(index, 0) + 1
        joined = sum(
            self.corpus.join(Entry(batch.inputs[index], name, count))
            for index, count in sorted(fresh.items())
        )
        came = replace(
            before,
            cases=before.cases + len(batch.inputs),
            joined=before.joined + joined,
            shapes=before.shapes + shapes,
            buckets=before.buckets + len({found.id for found in self.findings} - known),
        )
        if name == SHARED:  # no arm, and no batch of the schedule
            return came
        self.state.cases += len(batch.inputs)
        self.state.size += sum(map(len, batch.inputs))
        if not part.last:
            return came
        worth = gain(came.joined, came.shapes, came.buckets)
        assert self._loop is not None
        self._loop.reward(name, number, came.cases, worth)
        self.state.batches += 1
        self._draw_curve()
        if number % READMIT_EVERY == READMIT_EVERY - 1:
            pool.charge({})
        return came

    def _draw_curve(self) -> None:
        """Have a point where a batch ends: rounds end where the clock says."""
        state = self.state
        if not state.curve or state.cases >= CURVE_STEP * state.curve[-1][0]:
            shapes = len(state.disagreements)
            state.curve.append((state.cases, self.species[0], shapes, len(self.findings)))

    def _run_examples(self, pool: WorkerPool) -> None:
        """The examples of the expectations, once, and again where these have changed."""
        self._judge.open(self._contracts)
        digest = hashlib.sha256(repr(self._run.plan.expectations).encode()).hexdigest()
        if digest == self.state.judged_by:
            return
        self._run.tally.exercised.clear()
        self._run.tally.shown.clear()
        self._run.tally.unsure.clear()
        self._judge.examples(pool, self._contracts)
        if not pool.out_of_time:
            self.state.judged_by = digest

    def _result(self, pool: WorkerPool, seconds: float) -> Round:
        """What is to be committed."""
        if self._run.stop.is_set():
            raise Stopped
        withdrawn = pool.withdrawn()
        for name, reason in withdrawn.items():
            if self._said.get(name) != reason:
                self._events.append(Withdrawn(name, self.source, reason))
        self._said = withdrawn
        state = self.state
        state.withdrawn |= withdrawn
        state.add(self._events)
        self._run.note_excused(pool, self.source)
        self._run.note_claims(pool)
        state.corpus, state.picks = self.corpus.entries, self.corpus.picks
        state.losses = pool.losses()
        state.shared = sorted({*state.shared, *map(mark, self._smallest())})
        state.keep_tracker(self._tracker.snapshot())
        state.keep_tally(self._run.tally)
        state.map = self._map.counts
        done = self._kept.round(self.name, self._events, seconds)
        self._events.clear()
        return done
