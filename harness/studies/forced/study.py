"""The study of forced tokens in a run: a sample of our own schemas on one vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.events import ImplementationFailed, Phase

if TYPE_CHECKING:
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary
    from harness.engine.state import RunState
    from harness.engine.study import Session


class ForcedSample:
    """Walks forced tokens, in workers of its own, beside what is asked of the session's."""

    beside = True
    alone = False

    def __init__(self, run: RunState) -> None:
        self._run = run

    def concerns(self, source: str) -> bool:
        """Whether forced tokens are walked on a vocabulary."""
        return source in self._run.plan.walked

    def prepare(self, source: str, vocabulary: Vocabulary) -> Iterator[str]:
        """Nothing is made on first use that another worker does not make."""
        yield from ()

    def step(self, session: Session) -> None:
        """Walk the sample, until the session's time for cases is over at the most."""
        from harness.studies.forced.sample import walk_sample  # noqa: PLC0415 (imports llguidance)

        run, vocabulary = self._run, session.vocabulary
        run.emit(Phase(f"forcing tokens of {vocabulary.id}"))
        trouble = walk_sample(
            vocabulary,
            run.plan.seed,
            run.emit,
            hurried=run.plan.budget.seconds is not None,
            stopped=run.stop.is_set,
            over=lambda: session.over,
        )
        if trouble is not None:
            run.emit(ImplementationFailed("forced tokens", vocabulary.id, trouble))
