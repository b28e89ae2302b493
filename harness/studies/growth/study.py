"""The study of growth: what encoding costs, and how that grows, vocabulary by vocabulary."""

from __future__ import annotations

import contextlib
import math
import time
from functools import partial
from typing import TYPE_CHECKING

from corpora.families.catalog import families
from harness.core.messages import Meter
from harness.engine.costs import Loaded
from harness.engine.examiner import Study
from harness.engine.least import named_on
from harness.events import FamiliesMeasured, Phase
from harness.studies.costs import axes, left, memory, told
from harness.studies.growth.cell import Axis
from harness.studies.growth.jumps import costly_families
from harness.studies.growth.measurement import Measurement, chosen
from harness.verdict.bounds import own_candidates
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from corpora.families.base import Family
    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant
    from harness.engine.session import Session
    from harness.engine.state import RunState
    from harness.events import Measured
    from harness.workers.pool import WorkerPool

    Stopped = Callable[[], bool]

JUMPS_SECONDS = 5.0
"""Seconds for the growth on inputs that one of the user's own candidates was found to be slow on,
whatever time the run has left."""

SHARE = 0.1
"""The share of the time for growth that goes into costs other than time for a byte."""

AXES_SECONDS = 1.0
"""Seconds on one vocabulary for the axes of one of the user's own candidates; those for which it is
not enough are measured on the next vocabulary."""

LOAD_SECONDS = 2.0
"""Likewise for loading, once a run. What looks superlinear is measured until it is decided."""

PROBE = 256
"""Bytes of the text by which a mode is found in which a program answers."""


class Growth(Study):
    """Measures costs on one vocabulary, while its workers are loaded: that takes longest.

    Memory and growth in other numbers go first, as time by bytes takes all the time that it can
    get. The user's own candidates are owed their share of these on one vocabulary of each
    algorithm, however little time there is; on others they have what there is, as everybody has.
    """

    alone = True

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._measured: set[tuple[str, str]] = set()
        """Implementations, and algorithms and axes for which their cost is known."""

    def concerns(self, source: str) -> bool:
        """Whether growth is measured on a vocabulary."""
        return source in self._run.plan.scaled

    def prepare(self, source: str, vocabulary: Vocabulary) -> Iterator[str]:
        """Have what is made on first use made, one a step.

        That is what the families make, and the random vocabularies that own candidates load.
        """
        plan, (size, largest) = self._run.plan, axes.LOADED
        for family in families(plan.families).values():
            family.suits(vocabulary)
            yield family.name
        while own_candidates(plan.participants, plan.named, plan.references) and size <= largest:
            if axes.drawn(vocabulary.algorithm, size) is not None:
                yield f"random vocabulary of {size:,} tokens"
            size *= 2

    def step(self, session: Session) -> None:
        """Measure for the part of the run's time that one vocabulary has for it."""
        run, plan, contracts = self._run, self._run.plan, session.contracts()
        participants = {one.name: one for each in contracts for one in each.participants}
        own = own_candidates(plan.participants, plan.named, plan.references) & participants.keys()
        named = named_on(plan, session.source, sorted(participants))
        order = sorted(
            participants.values(), key=lambda c: (c.name not in own, c.name not in named)
        )
        if order and (plan.scaling_seconds(run.countdown.seconds) > 0 or own):
            self._measure_others(session, order, own)
            session.pool.limit_by(run.left_for_questions)
        run.emit(Phase(f"measuring growth on {session.vocabulary.id}"))
        for name in sorted(own):
            self._follow_jumps(session, name)
        owed = list(participants) if "scaling" in plan.asked.get("checks", ()) else named
        self._measure_times(session, own, list(participants), owed)

    # Costs other than time for a byte.

    def _measure_others(
        self, session: Session, order: Sequence[Participant], own: Collection[str]
    ) -> None:
        """Measure the user's own candidates, then the others that were named, then the rest."""
        run, stop, vocabulary = self._run, self._run.stop.is_set, session.vocabulary
        share = SHARE * run.plan.scaling_seconds(run.countdown.seconds)
        end = time.monotonic() + max(0.0, min(share, run.left))
        suiting = [f for f in families(run.plan.families).values() if f.suits(vocabulary)]
        run.emit(Phase(f"measuring memory on {vocabulary.id}"))
        many = left.inputs_of(vocabulary, suiting) if suiting else []
        for place, one in enumerate(order):
            once = one.name, vocabulary.algorithm.value
            owed = one.name in own and once not in self._measured
            seconds = (end - time.monotonic()) / (len(order) - place)
            if stop() or not suiting or (seconds <= 0 and not owed):
                continue
            session.pool.limit_by((lambda: math.inf) if owed else run.left_for_questions)
            stopped = within(seconds, stop)
            with contextlib.suppress(OutOfTime):
                contracts, probe = session.contracts(), suiting[0].make(vocabulary, PROBE, 0)
                on = answering(session.pool, one, contracts, probe)
                if on is not None:
                    self._examine(on, contracts, suiting, many, stopped, owed=owed)
                    self._measured.add(once)

    def _examine(
        self,
        on: Loaded,
        contracts: Sequence[Contract],
        suiting: Sequence[Family],
        many: Sequence[bytes],
        stopped: Stopped,
        *,
        owed: bool,
    ) -> None:
        """All costs of one implementation, as far as there is time.

        owed: its memory, what it leaves behind and what it says are measured in any case.
        """
        halted, control = self._run.stop.is_set, suiting[0]
        until = halted if owed else stopped  # each ends by itself, at a size that tells
        for measure in (
            *(partial(memory.measure_memory, on, family) for family in memory.chosen(suiting)),
            partial(left.measure_left, on, many),
            partial(told.measure_told, on, control),
        ):
            if not until():
                self._say(measure(until))
        part = within(AXES_SECONDS, halted) if owed else stopped
        for name, row, asking in axes.AXES:
            if self._due(on, row) and not part() and (ask := asking(on, contracts, control)):
                self._measure(Axis(name, row, axes.SIZES, ask), on, control, part, axes.LIMIT)
        part = within(LOAD_SECONDS, halted)
        # Each load is of seconds for some.
        if owed and self._due(on, "loading") and not part():
            with axes.loading(on, self._run.plan.limits, halted) as axis:
                if axis is not None:
                    self._measure(axis, on, control, part, axes.LOAD_LIMIT)

    def _due(self, on: Loaded, row: str) -> bool:
        """Whether it has not been measured along an axis yet: another vocabulary says the same."""
        return (on.participant.name, row) not in self._measured

    def _measure(
        self, axis: Axis, on: Loaded, family: Family, stopped: Stopped, limit: float
    ) -> None:
        if said := axes.measure_axis(axis, on, family, stopped, limit):
            self._measured.add((on.participant.name, axis.row))
            self._say(said)

    def _say(self, said: Measured | None) -> None:
        if said is not None and not self._run.stop.is_set():
            self._run.emit(said)

    # Time for a byte.

    def _measure_times(
        self, session: Session, own: Collection[str], names: Sequence[str], owed: Sequence[str]
    ) -> None:
        """Measure families. owed: who gets a first look whatever time there is."""
        run, plan, vocabulary = self._run, self._run.plan, session.vocabulary
        known = families(plan.families)
        whole = max(0.0, min(plan.scaling_seconds(run.countdown.seconds), run.left))
        measured = [known[name] for name in plan.measured]
        taken = measured or chosen(known, len(names), whole, plan.seed)
        # Own candidates are looked at on all families, the others on what there is time for.
        rest = [family for family in known.values() if family not in taken]
        besides = rest if own and not measured else []
        measurement = Measurement(
            session.pool,
            session.contracts(),
            taken,
            plan.suite.scaling_bytes,
            own=own,
            besides=besides,
        )
        measurement.run(whole, run.emit, run.stop.is_set, owed)
        if measurement.went_on or (owed and whole <= 0):
            with run.lock:
                run.tally.least.add(vocabulary.id)
        session.pool.limit_by(run.left_for_questions)
        lacking = measurement.left_out
        if lacking:
            count = f"{len(lacking)} of {len(taken) + len(besides)} families"
            run.emit(Phase(f"growth on {vocabulary.id}: no time was left for {count}"))
        if not run.stop.is_set():
            fitting = sum(family.suits(vocabulary) for family in known.values())
            begun = [f.name for f in (*taken, *besides) if f.suits(vocabulary)]
            run.emit(FamiliesMeasured(vocabulary.id, fitting, begun, lacking, measurement.missed))

    def _follow_jumps(self, session: Session, name: str) -> None:
        """Measure growth on families made of the inputs that cost one far more than others did.

        It is measured even if it was withdrawn because of such inputs: small sizes come first.
        """
        run, pool, contracts = self._run, session.pool, session.contracts()
        made = costly_families(pool, name, contracts)
        if not made or run.stop.is_set():
            return
        end, losses = time.monotonic() + JUMPS_SECONDS, pool.losses()
        pool.charge({other: lost for other, lost in losses.items() if other != name})
        pool.limit_by(lambda: end - time.monotonic())
        largest = run.plan.suite.scaling_bytes
        jumped = Measurement(pool, contracts, [], largest, own={name}, besides=made)
        jumped.run(JUMPS_SECONDS, run.emit, run.stop.is_set)
        pool.limit_by(run.left_for_questions)
        pool.charge(losses)


def answering(
    pool: WorkerPool, participant: Participant, contracts: Sequence[Contract], probe: bytes
) -> Loaded | None:
    """The implementation under the first contract in whose mode it encodes a probe, if any.

    A program over stdio has no other way to say that it does not do a mode. Raises Stopped and
    OutOfTime.
    """
    for contract in contracts:
        if participant.name in contract.names and participant.name not in pool.withdrawn():
            on = Loaded(pool, participant, contract)
            if not on.gauge([probe], Meter.TIME).status.any():
                return on
    return None


def within(seconds: float, stopped: Stopped) -> Stopped:
    """Whether a time is over that begins now, or nothing more is to be asked."""
    end = time.monotonic() + seconds
    return lambda: stopped() or time.monotonic() >= end
