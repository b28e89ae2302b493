"""The study of growth: how the cost of encoding grows with the input, vocabulary by vocabulary."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from corpora.families.catalog import families
from harness.engine.least import named_on
from harness.events import FamiliesMeasured, Phase
from harness.studies.growth.jumps import costly_families
from harness.studies.growth.measurement import Measurement, chosen
from harness.verdict.bounds import own_candidates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary
    from harness.engine.state import RunState
    from harness.engine.study import Session

JUMPS_SECONDS = 5.0
"""Seconds for the growth on inputs that one of the user's own candidates was found to be slow on,
whatever time the run has left."""


class Growth:
    """Measures growth on one vocabulary, while its workers are loaded: that takes longest."""

    beside = False
    alone = True

    def __init__(self, run: RunState) -> None:
        self._run = run

    def concerns(self, source: str) -> bool:
        """Whether growth is measured on a vocabulary."""
        return source in self._run.plan.scaled

    def prepare(self, source: str, vocabulary: Vocabulary) -> Iterator[str]:
        """Have the families make what they make on first use, one a step."""
        for family in families(self._run.plan.families).values():
            family.suits(vocabulary)
            yield family.name

    def step(self, session: Session) -> None:
        """Measure families, for the part of the run's time that one vocabulary has for it."""
        run, plan, vocabulary = self._run, self._run.plan, session.vocabulary
        pool, contracts = session.pool, session.opened.contracts()
        run.emit(Phase(f"measuring growth on {vocabulary.id}"))
        names = {name for one in contracts for name in one.names}
        own = names & own_candidates(plan.participants, plan.named, plan.references)
        for name in sorted(own):
            self._follow_jumps(session, name)
        known = families(plan.families)
        whole = max(0.0, min(plan.scaling_seconds(run.countdown.seconds), run.left))
        measured = [known[name] for name in plan.measured]
        taken = measured or chosen(known, len(names), whole, plan.seed)
        # Own candidates are looked at on all families, the others on what there is time for.
        rest = [family for family in known.values() if family not in taken]
        besides = rest if own and not measured else []
        measurement = Measurement(
            pool,
            contracts,
            taken,
            plan.suite.scaling_bytes,
            steps=plan.suite.scaling_steps,
            own=own,
            besides=besides,
        )
        every = "scaling" in plan.asked.get("checks", ())
        owed = names if every else named_on(plan, session.source, sorted(names))
        measurement.run(whole, run.emit, run.stop.is_set, owed)
        if measurement.went_on or (owed and whole <= 0):
            with run.lock:
                run.tally.least.add(vocabulary.id)
        pool.limit_by(run.left_for_questions)
        left = measurement.left_out
        if left:
            count = f"{len(left)} of {len(taken) + len(besides)} families"
            run.emit(Phase(f"growth on {vocabulary.id}: no time was left for {count}"))
        if not run.stop.is_set():
            fitting = sum(family.suits(vocabulary) for family in known.values())
            begun = [f.name for f in (*taken, *besides) if f.suits(vocabulary)]
            run.emit(FamiliesMeasured(vocabulary.id, fitting, begun, left, measurement.missed))

    def _follow_jumps(self, session: Session, name: str) -> None:
        """Measure growth on families made of the inputs that cost one far more than others did.

        It is measured even if it was withdrawn because of such inputs: small sizes come first.
        """
        run, pool, contracts = self._run, session.pool, session.opened.contracts()
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
