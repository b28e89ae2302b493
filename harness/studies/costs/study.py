"""The study of costs other than time for a byte: the user's own candidates first."""

from __future__ import annotations

import contextlib
import math
import time
from typing import TYPE_CHECKING

from corpora.families.catalog import families
from harness.engine.least import named_on
from harness.events import Phase
from harness.studies.costs import left, load, memory, told
from harness.studies.costs.axes import AXES, measure_axis
from harness.studies.costs.subject import answering, within
from harness.verdict.bounds import own_candidates
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.families.base import Family
    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.engine.state import RunState
    from harness.engine.study import Session
    from harness.events import Measured
    from harness.studies.costs.subject import Stopped, Subject

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
        plan = self._run.plan
        if own_candidates(plan.participants, plan.named, plan.references):
            for size in load.SIZES:
                if load.drawn(vocabulary.algorithm, size) is not None:
                    yield f"random vocabulary of {size:,} tokens"

    def step(self, session: Session) -> None:
        """Measure the user's own candidates, then the others that were named, then the rest."""
        run, plan = self._run, self._run.plan
        contracts = session.opened.contracts()
        participants = {one.name: one for each in contracts for one in each.participants}
        own = own_candidates(plan.participants, plan.named, plan.references)
        named = named_on(plan, session.source, sorted(participants))
        order = sorted(participants, key=lambda name: (name not in own, name not in named))
        share = SHARE * plan.scaling_seconds(run.countdown.seconds)
        end = time.monotonic() + max(0.0, min(share, run.left))
        if not order or (share <= 0 and not own):
            return
        run.emit(Phase(f"measuring memory on {session.vocabulary.id}"))
        known = families(plan.families)
        suiting = [one for one in known.values() if one.suits(session.vocabulary)]
        many = left.inputs_of(session.vocabulary, suiting) if suiting else []
        for place, name in enumerate(order):
            once = name, session.vocabulary.algorithm.value
            owed = name in own and once not in self._measured
            seconds = (end - time.monotonic()) / (len(order) - place)
            if run.stop.is_set() or not suiting:
                break
            if seconds <= 0 and not owed:
                continue
            session.pool.limit_by((lambda: math.inf) if owed else run.left_for_questions)
            stopped = within(max(seconds, LEAST_SECONDS if owed else 0.0), run.stop.is_set)
            with contextlib.suppress(OutOfTime):
                probe = suiting[0].make(session.vocabulary, PROBE, 0)
                subject = answering(session.pool, participants[name], contracts, probe)
                if subject is not None:
                    self._examine(subject, contracts, suiting, many, stopped, owed=owed)
                    self._measured.add(once)
        session.pool.limit_by(run.left_for_questions)

    def _examine(
        self,
        subject: Subject,
        contracts: Sequence[Contract],
        suiting: Sequence[Family],
        many: Sequence[bytes],
        stopped: Stopped,
        *,
        owed: bool,
    ) -> None:
        """All costs of one implementation, as far as there is time.

        owed: its memory and what it leaves behind are measured in any case.
        """
        for family in memory.chosen(suiting):
            if owed or not stopped():
                self._say(memory.measure_memory(subject, family, stopped))
        if owed or not stopped():
            self._say(left.measure_left(subject, many, stopped))
        halted = self._run.stop.is_set
        if owed or not stopped():
            # It ends by itself, at a size that tells.
            self._say(told.measure_told(subject, suiting[0], halted if owed else stopped))
        part = within(AXES_SECONDS, halted) if owed else stopped
        self._axes(subject, contracts, suiting[0], part)
        if owed:
            self._load(subject, within(LOAD_SECONDS, halted))

    def _axes(
        self, subject: Subject, contracts: Sequence[Contract], family: Family, stopped: Stopped
    ) -> None:
        """What else grows, on the first vocabulary on which it does: another says the same."""
        name = subject.name
        for axis in AXES:
            if (name, axis.row) in self._measured or stopped():
                continue
            said = measure_axis(axis, subject, contracts, family, stopped)
            if said is not None:
                self._measured.add((name, axis.row))
                self._say(said)

    def _load(self, subject: Subject, stopped: Stopped) -> None:
        """What a vocabulary costs to load, of the user's own: each load is of seconds for some."""
        name, vocabulary = subject.name, subject.contract.vocabulary
        if (name, load.ROW) in self._measured or stopped():
            return
        limits, halted = self._run.plan.limits, self._run.stop.is_set
        said = load.measure_load(
            subject.participant, vocabulary.algorithm, limits, vocabulary.id, stopped, halted
        )
        if said is not None:
            self._measured.add((name, load.ROW))
            self._say(said)

    def _say(self, said: Measured | None) -> None:
        if said is not None and not self._run.stop.is_set():
            self._run.emit(said)
