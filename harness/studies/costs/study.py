"""The study of costs other than time for a byte: the user's own candidates first."""

from __future__ import annotations

import contextlib
import math
import time
from typing import TYPE_CHECKING

from corpora.families.catalog import families
from harness.engine.least import named_on
from harness.events import Phase
from harness.studies.costs import left, memory
from harness.studies.costs.subject import answering, within
from harness.verdict.bounds import own_candidates
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant
    from harness.engine.state import RunState
    from harness.engine.study import Session
    from harness.events import Measured
    from harness.studies.costs.subject import Stopped

SHARE = 0.1
"""The share of the time for growth that goes into these costs."""

LEAST_SECONDS = 1.0
"""Seconds that each of the user's own candidates has at the least, even where the run has none."""

PROBE = 256
"""Bytes of the text by which a mode is found in which a program answers."""


class Costs:
    """Measures memory and growth in other numbers on one vocabulary, while its workers are loaded.

    It goes before the growth of time, which takes all the time that it can get.
    """

    beside = False
    alone = True

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._many: tuple[str, list[bytes]] | None = None
        """The inputs by which what is left behind is measured, and of which vocabulary they are."""

    def concerns(self, source: str) -> bool:
        """Whether growth is measured on a vocabulary."""
        return source in self._run.plan.scaled

    def prepare(self, source: str, vocabulary: Vocabulary) -> Iterator[str]:
        """Nothing but what the study of growth prepares, too."""
        return iter(())

    def step(self, session: Session) -> None:
        """Measure the user's own candidates, then the others that were named, then the rest."""
        run, plan = self._run, self._run.plan
        participants = {
            one.name: one
            for contract in session.opened.contracts()
            for one in contract.participants
        }
        own = own_candidates(plan.participants, plan.named, plan.references)
        named = named_on(plan, session.source, sorted(participants))
        order = sorted(participants, key=lambda name: (name not in own, name not in named))
        share = SHARE * plan.scaling_seconds(run.countdown.seconds)
        end = time.monotonic() + max(0.0, min(share, run.left))
        if not order or (share <= 0 and not own):
            return
        run.emit(Phase(f"measuring memory on {session.vocabulary.id}"))
        for place, name in enumerate(order):
            seconds = (end - time.monotonic()) / (len(order) - place)
            if name in own:
                seconds = max(seconds, LEAST_SECONDS)
                session.pool.limit_by(lambda: math.inf)
            else:
                session.pool.limit_by(run.left_for_questions)
            if run.stop.is_set() or seconds <= 0:
                break
            with contextlib.suppress(OutOfTime):
                self._examine(session, participants[name], within(seconds, run.stop.is_set))
        session.pool.limit_by(run.left_for_questions)

    def _examine(self, session: Session, participant: Participant, stopped: Stopped) -> None:
        """All costs of one implementation, as far as there is time."""
        known = families(self._run.plan.families)
        suiting = [name for name, one in known.items() if one.suits(session.vocabulary)]
        if not suiting:
            return
        probe = known[suiting[0]].make(session.vocabulary, PROBE, 0)
        subject = answering(session.pool, participant, session.opened.contracts(), probe)
        if subject is None:
            return
        for family in memory.chosen(known, suiting):
            self._say(memory.measure_memory(subject, family, stopped))
        if self._many is None or self._many[0] != session.vocabulary.id:
            fitting = [known[name] for name in suiting]
            self._many = session.vocabulary.id, left.inputs_of(session.vocabulary, fitting)
        self._say(left.measure_left(subject, self._many[1], stopped))

    def _say(self, said: Measured | None) -> None:
        if said is not None and not self._run.stop.is_set():
            self._run.emit(said)
