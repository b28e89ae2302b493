"""A target: one vocabulary under one seed, fuzzed in rounds, each of which is kept or lost whole.

A round takes a few batches, chosen from what was known then, asks them, or as much of them as is
done in a few seconds (``sizing.py``), judges them in order, learns from each, and gives what is to
be committed. What a round does depends on what was committed before and on nothing else: no clock,
no thread, no other target. So a round that was cut off is done again, alike, and any number of
targets may run side by side, or one after another.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import time
from concurrent.futures import wait
from dataclasses import dataclass, replace
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
)
from harness.findings.tracker import FindingTracker
from harness.studies.fuzz.arms import CORPUS, SHARED, Generated, Maker, Mutated
from harness.studies.fuzz.asking import Portion, rates_of, send
from harness.studies.fuzz.behaviour import BatchBehaviour, Map, Shapes, observe
from harness.studies.fuzz.corpus import Corpus, Entry
from harness.studies.fuzz.cost import EVERY, dearer
from harness.studies.fuzz.coverage import COVERAGE, Covered, targets
from harness.studies.fuzz.crossing import limit
from harness.studies.fuzz.examples import inputs, mark, share
from harness.studies.fuzz.schedule import Schedule, gain
from harness.studies.fuzz.sizing import (
    GROWTH,
    Begun,
    Part,
    TooLong,
    Waiting,
    after,
    next_size,
    taken,
    weight,
)
from harness.studies.fuzz.state import Round, State
from harness.studies.fuzz.structured import STRUCTURED, Structured
from harness.workers.pool import OutOfTime, Stopped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hypothesis.database import ExampleDatabase

    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.engine.planning import Plan
    from harness.studies.fuzz.store import Kept
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


@dataclass(frozen=True, slots=True)
class Guides:
    """What helps a target besides generators and the corpus; see :class:`FuzzPlan`.

    examples: Hypothesis's database to share inputs through.
    """

    structured: bool = False
    coverage: bool = False
    costly: bool = False
    examples: ExampleDatabase | None = None


@dataclass(slots=True)
class _Opened:
    """What a target has while it is loaded into a pool."""

    vocabulary: Vocabulary
    contracts: Sequence[Contract]
    makers: dict[str, Maker]
    shapes: Shapes


class Target:
    """Fuzzes one vocabulary. Not thread-safe, but for :meth:`stop`.

    plan: with this vocabulary alone. save: writes a finding's folder. kept: how it was committed
    last, if ever. guides: what there is besides generators and the corpus. round_seconds: after
    which a round is given up, to be done again in smaller ones; None: never. clock: of rounds.
    """

    def __init__(
        self,
        plan: Plan,
        source: str,
        shard: int,
        save: Callable[[str, Violation, Contract], str | None],
        kept: Kept | None = None,
        guides: Guides | None = None,
        round_seconds: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._events: list[Event] = []
        self._tracker = FindingTracker(
            self._events.append, save, plan.expectations, plan.versions, unhurried=True
        )
        self._run = RunState(plan, self._events.append, self._tracker)
        self._judge = Judge(self._run, self._before_a_finding)
        self._pool: WorkerPool | None = None
        self.name = f"{source}#{shard}"
        self.source, self.shard = source, shard
        self._guides = guides or Guides()
        self._round_seconds, self._clock = round_seconds, clock
        self._underway: Begun | None = None
        self._opened: _Opened | None = None
        self.asked: dict[str, Contract] = {}
        self._makers: dict[str, Maker] = {}
        self._said: dict[str, str] = {}
        self._committed = {found.id: found for found in kept.findings} if kept else {}
        self._shared: list[bytes] = []
        self.state = kept.state if kept else State()
        self._map = Map(kept.map if kept else None)
        self.corpus = Corpus(kept.corpus if kept else (), self.state.picks)
        self._tracker.restore(self.state.tracker(kept.findings if kept else ()))
        self._run.tally.add(self.state.tally)

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
        self._events.clear()
        pool.claims.take()  # of rounds that are lost
        contracts = self._run.open(pool, self.source, vocabulary)
        self.asked = {name: one for one in contracts for name in one.names}
        self._warm_up(pool, vocabulary, contracts)
        pool.charge({name: (losses[0], losses[1]) for name, losses in self.state.losses.items()})
        self.state.opened = [
            event.to_json()
            for event in self._events
            if isinstance(event, VocabularyLoaded | ContractOpened | ImplementationFailed)
        ]
        makers = self._makers = self._makers or self._made(vocabulary, contracts)
        self._take_up(vocabulary)
        self._schedule = Schedule(
            {name: maker.cost for name, maker in makers.items()},
            f"{self.seed}/{self.source}/{self.shard}",
        )
        if self.state.schedule:
            self._schedule.restore(self.state.schedule)
        self._opened = _Opened(vocabulary, contracts, makers, Shapes(vocabulary))
        self._run_examples(pool)

    def _warm_up(
        self, pool: WorkerPool, vocabulary: Vocabulary, contracts: Sequence[Contract]
    ) -> None:
        """Have libraries and generators make what they make on first use."""
        for contract in contracts:
            pool.ask(contract, Inputs.of([b""])).wait()
        for generator in self._run.plan.generators:
            next(generator.cases(vocabulary, self.seed), None)

    def _made(self, vocabulary: Vocabulary, contracts: Sequence[Contract]) -> dict[str, Maker]:
        """All arms; kept from one opening to the next, as their streams are."""
        seed, shard = self.seed, self.shard
        longest = self._run.plan.suite.max_input
        makers: dict[str, Maker] = {
            generator.name: Generated(generator, vocabulary, seed, shard, longest)
            for generator in self._run.plan.generators
        }
        makers[CORPUS] = Mutated(lambda: self.corpus, vocabulary, seed, shard)
        if self._guides.structured:
            makers[STRUCTURED] = Structured(vocabulary, seed, shard, self._run.stop.is_set)
        covered = targets(vocabulary, contracts) if self._guides.coverage else []
        if covered:
            makers[COVERAGE] = Covered(
                covered, vocabulary, seed, shard, self.state.covered, self._run.stop.is_set
            )
        return makers

    def _take_up(self, vocabulary: Vocabulary) -> None:
        """What others have shared, and this target has not seen, is asked in the next round."""
        examples = self._guides.examples
        if examples is None:
            return
        share(vocabulary, examples, self._smallest())
        known = {*self.state.shared, *map(mark, self._smallest())}
        self._shared = [
            data
            for data in inputs(vocabulary, examples)
            if mark(data) not in known and vocabulary.can_encode(data)
        ]

    def _smallest(self) -> list[bytes]:
        return [base64.b64decode(found.input_b64) for found in self.findings if found.minimal]

    def share(self) -> None:
        """Put the inputs of findings where others take them up; after a commit."""
        if self._guides.examples is not None and self._opened is not None:
            share(self._opened.vocabulary, self._guides.examples, self._smallest())

    def close(self) -> None:
        """Let go of the pool and of all processes of arms."""
        for maker in self._makers.values():
            maker.close()
        self._opened = None
        self._pool = None

    def round(self, pool: WorkerPool) -> Round | None:
        """One round; None when there is nothing left to ask. Raises Stopped, TooLong.

        After these the target is not to be used: a new one goes on from what was committed.
        """
        assert self._opened is not None, "open it first"
        started = self._clock()
        # As one that goes on elsewhere from what was committed, and knows no more than that.
        self._tracker.restore(self._tracker.snapshot())
        waiting = [Waiting.from_json(one) for one in self.state.waiting]
        waiting = waiting or [Waiting(name, batch) for name, batch in self._chosen()]
        if not waiting:
            return None
        joined = len(self.corpus)
        most = limit(self._run.plan.budget.cases, self.state.crossed)
        left = None if most is None else most - self.state.cases
        parts = taken(waiting, self.state.round_size, left)
        contracts, known = self._opened.contracts, self.state.rates
        asked = [(part, send(pool, contracts, part.batch, known)) for part in parts]
        size = sum(weight(part.batch.inputs) for part in parts)
        alone = size <= weight(parts[0].batch.inputs[:1])  # one input, which has its own limits
        self._underway = None if alone else Begun(started, size)
        came = []
        for part, sent in asked:
            self._await(sent)
            came.append(self._learn(pool, part, sent))
        self._underway = None
        self._tracker.settle(pool)
        if self._run.plan.budget.seconds is not None:  # time is what limits the campaign
            seen = rates_of([portion for _, sent in asked for portion in sent])
            self.state.rates = known if seen is None else seen
        self.state.waiting = [one.to_json() for one in after(waiting, parts, came)]
        seconds = self._clock() - started
        self.state.round_size = next_size(self.state.round_size, size, seconds)
        return self._result(pool, joined, seconds)

    def lessened(self, size: int) -> Round:
        """No round, but that the next one is to take on no more than ``size``, to be committed."""
        self.state.round_size = size
        packed = self._map.packed()
        return Round(self.name, self.state, packed, len(self.corpus), [], [], [], [], 0.0)

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

    def _before_a_finding(self) -> None:
        """Raise TooLong where several findings of a round take more than its time."""
        self._give_up_if_late(())

    def _give_up_if_late(self, owing: Sequence[str]) -> None:
        if self._underway is None or self._round_seconds is None or self._run.stop.is_set():
            return
        spent = self._clock() - self._underway.started
        if spent > self._round_seconds:
            # It would have taken longer still, nobody knows how long.
            size = next_size(self.state.round_size, self._underway.size, GROWTH * spent)
            raise TooLong(size, owing)

    def _chosen(self) -> list[tuple[str, Batch]]:
        """The batches of a round, with their arms."""
        assert self._opened is not None
        chosen: list[tuple[str, Batch]] = []
        busy: list[str] = []
        can_encode = self._opened.vocabulary.can_encode
        others = [data for data in map(base64.b64decode, self.state.given) if can_encode(data)]
        if self._shared or others:
            chosen.append((SHARED, Batch(SHARED, self.seed, 0, 0, [*self._shared, *others])))
            self.state.shared += map(mark, self._shared)
        self._shared, self.state.given = [], []
        # An arm that turns out to have nothing is no batch: all of them may, for a toy's alphabet.
        wanted = BATCHES_A_ROUND if self.state.batches >= BATCHES_A_ROUND else 1
        most = wanted + len(self._opened.makers)
        while len(busy) < most and sum(name != SHARED for name, _ in chosen) < wanted:
            number = self.state.batches + len(busy)
            name = self._schedule.choose(number, busy)
            if name is None:
                break
            busy.append(name)
            maker = self._opened.makers[name]
            place = self.state.taken.get(name, 0)
            batch = maker.take(number, place)
            if batch is None:
                if maker.lasting:
                    self._schedule.reward(name, number, 0, 0.0)
                else:
                    self._schedule.end(name)
                continue
            self.state.taken[name] = place + 1
            chosen.append((name, batch))
        self.state.batches += len(busy) - sum(name != SHARED for name, _ in chosen)
        return chosen

    def _learn(self, pool: WorkerPool, part: Part, sent: Sequence[Portion]) -> Waiting:
        """Judge a part of a batch under each contract, keep the inputs that show something new.

        After its last part a batch is rewarded for what all of them came to, which is returned.
        """
        assert self._opened is not None
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
            behaviour = observe(seen, self._opened.shapes)
            new: dict[int, int] = dict(self._map.add(behaviour))
            shapes += self._count_disagreements(behaviour, new)
            for index, count in new.items():
                place = portion.first + index
                fresh[place] = fresh.get(place, 0) + count
        pending = [portion.pending for portion in sent]
        if self._guides.costly and number % EVERY == 0 and pending:
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
        self._schedule.reward(name, number, came.cases, worth)
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
            state.curve.append([state.cases, self.species[0], shapes, len(self.findings)])

    def _count_disagreements(self, behaviour: BatchBehaviour, fresh: dict[int, int]) -> int:
        """Count the shapes of a batch's disagreements; how many of them are new."""
        new = 0
        for index, shape in behaviour.disagreements.items():
            if shape not in self.state.disagreements:
                new += 1
                fresh[index] = fresh.get(index, 0) + 1
            self.state.disagreements[shape] = self.state.disagreements.get(shape, 0) + 1
        return new

    def _run_examples(self, pool: WorkerPool) -> None:
        """The examples of the expectations, once, and again where these have changed."""
        assert self._opened is not None
        digest = hashlib.sha256(repr(self._run.plan.expectations).encode()).hexdigest()
        if digest == self.state.judged_by:
            return
        self._run.tally.exercised.clear()
        self._run.tally.shown.clear()
        self._run.tally.unsure.clear()
        self._judge.examples(pool, self._opened.contracts)
        if not pool.out_of_time:
            self.state.judged_by = digest

    def _result(self, pool: WorkerPool, joined: int, seconds: float) -> Round:
        """What is to be committed."""
        if self._run.stop.is_set():
            raise Stopped
        withdrawn = pool.withdrawn()
        for name, reason in withdrawn.items():
            if self._said.get(name) != reason:
                self._events.append(Withdrawn(name, self.source, reason))
        self._said = withdrawn
        self.state.withdrawn |= withdrawn
        self.state.add(self._events)
        self._run.note_excused(pool, self.source)
        self._run.note_claims(pool)
        before, after = self._committed, {found.id: found for found in self.findings}
        self._committed = after
        state = self.state
        state.schedule = self._schedule.state()
        state.picks = list(self.corpus.picks)
        state.losses = {name: list(losses) for name, losses in pool.losses().items()}
        state.shared = sorted({*state.shared, *map(mark, self._smallest())})
        state.keep_tracker(self._tracker.snapshot())
        state.keep_tally(self._run.tally)
        events = list(self._events)
        self._events.clear()
        return Round(
            target=self.name,
            state=state,
            map=self._map.packed(),
            first=joined,
            joined=self.corpus.entries[joined:],
            findings=[found for name, found in after.items() if before.get(name) != found],
            gone=sorted(before.keys() - after.keys()),
            events=events,
            seconds=seconds,
        )
