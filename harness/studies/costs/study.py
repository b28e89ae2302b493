"""The study of costs other than time for a byte: the user's own candidates first."""

from __future__ import annotations

import contextlib
import math
import time
from typing import TYPE_CHECKING

from corpora.families.catalog import families
from harness.core.messages import Meter
from harness.engine.costs import Loaded
from harness.engine.least import named_on
from harness.events import Phase
from harness.studies.costs import axes, left, memory, told
from harness.studies.growth.cell import Axis
from harness.verdict.bounds import own_candidates
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.families.base import Family
    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant
    from harness.engine.state import RunState
    from harness.engine.study import Session
    from harness.events import Measured
    from harness.workers.pool import WorkerPool

SHARE = 0.1
"""The share of the time for growth that goes into these costs."""

LEAST_SECONDS = 1.0
"""Seconds that each of the user's own candidates has at the least, even where the run has none."""

AXES_SECONDS = 1.0
"""Seconds on one vocabulary for the axes of one of the user's own candidates; those for which it is
not enough are measured on the next vocabulary."""

LOAD_SECONDS = 2.0
"""Likewise for loading, once a run. What looks superlinear is measured until it is decided."""

PROBE = 256
"""Bytes of the text by which a mode is found in which a program answers."""


class Costs:
    """Measures memory and growth in other numbers on one vocabulary, while its workers are loaded.

    It goes before the growth of time, which takes all the time that it can get. The user's own
    candidates are owed their share on one vocabulary of each algorithm, however little time there
    is; on others they have what there is, as everybody has.
    """

    beside = False
    alone = True

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._measured: set[tuple[str, str]] = set()
        """Implementations, and algorithms and axes for which their cost is known."""

    def concerns(self, source: str) -> bool:
        """Whether growth is measured on a vocabulary."""
        return source in self._run.plan.scaled

    def prepare(self, source: str, vocabulary: Vocabulary) -> Iterator[str]:
        """Have the random vocabularies made that the user's own candidates are to load."""
        plan, (size, largest) = self._run.plan, axes.LOADED
        own = own_candidates(plan.participants, plan.named, plan.references)
        while own and size <= largest:
            if axes.drawn(vocabulary.algorithm, size) is not None:
                yield f"random vocabulary of {size:,} tokens"
            size *= 2

    def step(self, session: Session) -> None:
        """Measure the user's own candidates, then the others that were named, then the rest."""
        run, plan, stop = self._run, self._run.plan, self._run.stop.is_set
        contracts, vocabulary = session.opened.contracts(), session.vocabulary
        participants = {one.name: one for each in contracts for one in each.participants}
        own = own_candidates(plan.participants, plan.named, plan.references)
        named = named_on(plan, session.source, sorted(participants))
        order = sorted(participants, key=lambda name: (name not in own, name not in named))
        share = SHARE * plan.scaling_seconds(run.countdown.seconds)
        end = time.monotonic() + max(0.0, min(share, run.left))
        suiting = [one for one in families(plan.families).values() if one.suits(vocabulary)]
        if not order or not suiting or (share <= 0 and not own):
            return
        run.emit(Phase(f"measuring memory on {vocabulary.id}"))
        many = left.inputs_of(vocabulary, suiting)
        for place, name in enumerate(order):
            once = name, vocabulary.algorithm.value
            owed = name in own and once not in self._measured
            seconds = (end - time.monotonic()) / (len(order) - place)
            if stop() or (seconds <= 0 and not owed):
                continue
            session.pool.limit_by((lambda: math.inf) if owed else run.left_for_questions)
            stopped = within(max(seconds, LEAST_SECONDS * owed), stop)
            with contextlib.suppress(OutOfTime):
                probe = suiting[0].make(vocabulary, PROBE, 0)
                on = answering(session.pool, participants[name], contracts, probe)
                if on is not None:
                    self._examine(on, contracts, suiting, many, stopped, owed=owed)
                    self._measured.add(once)
        session.pool.limit_by(run.left_for_questions)

    def _examine(
        self,
        on: Loaded,
        contracts: Sequence[Contract],
        suiting: Sequence[Family],
        many: Sequence[bytes],
        stopped: Callable[[], bool],
        *,
        owed: bool,
    ) -> None:
        """All costs of one implementation, as far as there is time.

        owed: its memory, what it leaves behind and what it says are measured in any case.
        """
        halted = self._run.stop.is_set
        for family in memory.chosen(suiting):
            if owed or not stopped():
                self._say(memory.measure_memory(on, family, stopped))
        if owed or not stopped():
            self._say(left.measure_left(on, many, stopped))
        if owed or not stopped():
            # It ends by itself, at a size that tells.
            self._say(told.measure_told(on, suiting[0], halted if owed else stopped))
        part = within(AXES_SECONDS, halted) if owed else stopped
        for name, row, asking in axes.AXES:
            if self._due(on, row) and not part():
                ask = asking(on, contracts, suiting[0])
                axis = Axis(name, row, axes.SIZES, ask) if ask is not None else None
                self._measure(axis, on, suiting[0], part)
        part = within(LOAD_SECONDS, halted)
        # Each load is of seconds for some.
        if owed and self._due(on, "loading") and not part():
            with axes.loading(on, self._run.plan.limits, halted) as axis:
                self._measure(axis, on, suiting[0], part, axes.LOAD_LIMIT)

    def _due(self, on: Loaded, row: str) -> bool:
        """Whether it has not been measured along an axis yet: another vocabulary says the same."""
        return (on.participant.name, row) not in self._measured

    def _measure(
        self,
        axis: Axis | None,
        on: Loaded,
        family: Family,
        stopped: Callable[[], bool],
        limit: float = axes.LIMIT,
    ) -> None:
        if axis is not None and (said := axes.measure_axis(axis, on, family, stopped, limit)):
            self._measured.add((on.participant.name, axis.row))
            self._say(said)

    def _say(self, said: Measured | None) -> None:
        if said is not None and not self._run.stop.is_set():
            self._run.emit(said)


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


def within(seconds: float, stopped: Callable[[], bool]) -> Callable[[], bool]:
    """Whether a time is over that begins now, or nothing more is to be asked."""
    end = time.monotonic() + seconds
    return lambda: stopped() or time.monotonic() >= end
