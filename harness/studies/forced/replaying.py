"""Counterexamples asked again: their grammars, of policies as they are today."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from corpora.vocabularies import sources
from harness.engine.selection import SelectionError
from harness.engine.trust import fetched
from harness.studies.forced import counterexamples
from harness.studies.forced.counterexamples import Counterexample
from harness.studies.forced.jobs import Task
from harness.studies.forced.policies import EXACT, named
from harness.studies.forced.pool import WorkersFailed, results
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from harness.studies.forced.policies import Policies

Depths = dict[str, int | None]
"""By policy, how deep it errs; None where it does not."""


@dataclass(frozen=True, slots=True)
class Replay:
    """A job for a worker: one counterexample's grammar against policies."""

    counterexample: Counterexample
    policies: tuple[str, ...]
    answer: ClassVar[Any] = tuple[Counterexample, Depths]

    def fits(self, answer: tuple[Counterexample, Depths]) -> bool:
        """See :class:`harness.studies.forced.jobs.Job`."""
        return answer[0] == self.counterexample and list(answer[1]) == list(self.policies)

    def run(
        self, policies: Policies, task: Task, beat: Callable[[], None]
    ) -> tuple[Counterexample, Depths]:
        """See :class:`harness.studies.forced.jobs.Job`."""
        found: Depths = {}
        for name in self.policies:
            beat()
            opponent = counterexamples.Opponent(policies, name)
            again = counterexamples.again(opponent, self.counterexample)
            found[name] = None if again is None else again.depth
        return self.counterexample, found

    def broken(self, how: str) -> tuple[Counterexample, Depths]:
        """See :class:`harness.studies.forced.jobs.Job`."""
        raise ImplementationError(f"adversary: {self.counterexample.vocabulary}: {how}")


def replayed(
    source: str, vocab: str | None, policies: Sequence[str], seconds: float, memory: int
) -> Iterator[tuple[Counterexample, Depths]]:
    """Ask policies about the counterexamples of a file again.

    vocab: of those of this vocabulary only. policies: those to ask; of none, each counterexample's
    own and exact. Raises SelectionError, VocabularyError, ImplementationError.
    """
    found = counterexamples.read(source)
    known = None if vocab is None else sources.resolve(vocab)
    if known is not None:
        found = [one for one in found if one.vocabulary == known.id]
        if not found:
            raise SelectionError(f"counterexamples {source}: none of them is for {known.id}")
    elif any(fetched(one.vocabulary) for one in found):
        raise SelectionError(
            f"counterexamples {source}: they name vocabularies to download; give --vocab"
        )
    asked = named(policies) if policies else None
    for _, group in groupby(sorted(found, key=lambda one: one.place), lambda one: one.vocabulary):
        own = list(group)
        vocabulary = known or sources.resolve(own[0].vocabulary)
        names = asked or list(dict.fromkeys([*(one.policy for one in own), EXACT]))
        task = Task(vocabulary, names, "flexible", 0, seconds, memory)
        jobs = [Replay(one, tuple(asked or dict.fromkeys((one.policy, EXACT)))) for one in own]
        try:
            yield from results(task, jobs, 1)
        except WorkersFailed as error:
            raise error.mendable("adversary") from error
