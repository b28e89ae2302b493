"""The study that prepares: all that runs compile or build on first use is made, and nothing asked.

Compiled functions and tables are kept on disk, so that later runs find them there.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from harness.core.outcomes import Inputs
from harness.findings import models
from harness.studies.forced.study import ForcedSample
from harness.studies.growth.study import Growth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary
    from harness.engine.state import RunState
    from harness.engine.study import Session


class Preparation:
    """Has everybody load each vocabulary, and makes what generators, families and judges make."""

    beside = False
    alone = False

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._growth = Growth(run)
        self._forced = ForcedSample(run)

    def concerns(self, source: str) -> bool:
        """Whether there is anything to prepare: there always is."""
        return source in self._run.plan.vocabularies

    def prepare(self, source: str, vocabulary: Vocabulary) -> Iterator[str]:
        """Nothing comes before the step: it has all the time that it takes."""
        yield from ()

    def step(self, session: Session) -> None:
        """Make what is made on first use."""
        run = self._run
        contracts = session.opened.contracts()
        for contract in contracts:
            if not run.stop.is_set():
                session.pool.ask(contract, Inputs.of([b""])).wait()
        with contextlib.closing(models.Compiling(models.modelled(session.vocabulary))) as compiling:
            compiling.wait(run.stop.is_set)
        for generator in run.plan.generators:
            if not run.stop.is_set():
                next(generator.cases(session.vocabulary, run.plan.seed), None)
        if self._growth.concerns(session.source):
            for _ in self._growth.prepare(session.source, session.vocabulary):
                if run.stop.is_set():
                    return
        if self._forced.concerns(session.source):
            self._forced.step(session)
