"""``tokgate adversary``: rounds against policies, in workers, with a record to go on from."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core.output import write_whole
from harness.studies.forced import counterexamples
from harness.studies.forced.adversary import WAYS, Caught, Round
from harness.studies.forced.counterexamples import Counterexample
from harness.studies.forced.journal import Journal
from harness.studies.forced.pool import results
from harness.studies.forced.run import versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.core.countdown import Countdown
    from harness.engine.suites import Budget
    from harness.studies.forced.counterexamples import Place
    from harness.studies.forced.jobs import Task

RECORD = "adversary.jsonl"
COUNTEREXAMPLES = "trophies.json"

ROUND = "round"
"""The kind of lines of the record about rounds."""


@dataclass
class Hunt:
    """A search in one vocabulary, and what it has caught, in earlier sittings, too.

    The policies of ``task`` take turns. folder: has ``adversary.jsonl``, one round a line, and
    ``trophies.json``, the best of all: counterexamples of other searches stay there until something
    worthier is caught. tried: grammars by policy; broke: by round, how it ended early; exhausted:
    policies and kinds without more to try. Raises OutputError, and SelectionError for a damaged
    ``trophies.json``.
    """

    task: Task
    budget: Budget
    folder: Path
    jobs: int = 1
    best: dict[Place, Counterexample] = field(default_factory=dict)
    tried: Counter[str] = field(default_factory=Counter)
    broke: dict[str, str] = field(default_factory=dict)
    exhausted: set[tuple[str, str]] = field(default_factory=set)

    def __post_init__(self) -> None:
        identity = {
            "vocabulary": self.task.vocabulary.fingerprint,
            "seed": self.task.seed,
            "versions": versions(),
        }
        self.journal = Journal(
            self.folder / RECORD, identity, {ROUND: (tuple[str, str, int], Caught)}
        )
        path = self.folder / COUNTEREXAMPLES
        known = counterexamples.read(path) if path.exists() else []
        self.best = counterexamples.merged(known)
        for (kind, *round_), caught in self.journal.done.items():
            if kind == ROUND:
                self._take(Round(*round_), caught)  # type: ignore[arg-type]

    def _take(self, one: Round, caught: Caught) -> None:
        self.tried[one.policy] += caught.tried
        if caught.broke:
            self.broke[f"{one.policy}, {one.kind} {one.number}"] = caught.broke
        elif not caught.tried:
            self.exhausted.add((one.policy, one.kind))
        if caught.counterexample is not None:
            own = self.task.vocabulary.id  # those that encode alike have one record
            found = replace(caught.counterexample, vocabulary=own, policy=one.policy, kind=one.kind)
            self.best = counterexamples.merged([*self.best.values(), found])

    def rounds(self) -> Iterator[Round]:
        """All rounds that were not played: policies and kinds take turns, without end.

        But for a vocabulary that has no more grammars to try.
        """
        for number in itertools.count():
            left = [
                (p, k) for k in WAYS for p in self.task.policies if (p, k) not in self.exhausted
            ]
            if not left:
                return
            for policy, kind in left:
                if (ROUND, policy, kind, number) not in self.journal.done:
                    yield Round(policy, kind, number)

    def add(self, one: Round, caught: Caught) -> None:
        """Write a round at once, and the counterexamples if there is a new one.

        Raises OutputError.
        """
        before = self.best
        self.journal.add((ROUND, one.policy, one.kind, one.number), caught)
        self._take(one, caught)
        if self.best != before:
            self.save()

    def save(self) -> None:
        """Write ``trophies.json``. Raises OutputError."""
        write_whole(self.folder / COUNTEREXAMPLES, counterexamples.to_json(self.best.values()))

    def own(self) -> list[Counterexample]:
        """The counterexamples of this vocabulary."""
        return [one for one in self.best.values() if one.vocabulary == self.task.vocabulary.id]

    def search(
        self,
        watch: Callable[[float, str], None],
        countdown: Countdown,
        prepared: Callable[[float], None] = lambda seconds: None,
    ) -> KeyboardInterrupt | None:
        """Play rounds until the budget is used up; the interrupt that ended it before, if one did.

        countdown: of the budget's seconds; it runs from the moment when the first worker has loaded
        its vocabulary, and ``prepared`` is told how long that took. A round that is on at the end
        is cut off and lost: whoever goes on plays it again. Cases are grammars tried, in whole
        rounds. Raises SelectionError, ImplementationError, OutputError.
        """
        tried = 0

        def ready() -> None:
            if not countdown.running:
                countdown.start()
                prepared(countdown.prepared)

        answers = results(
            self.task, self.rounds(), self.jobs, lambda: countdown.over, ready,
            left=self.journal.add_left,
        )  # fmt: skip
        watch(0.0, "loading the vocabulary")
        try:
            for one, answer in answers:
                caught = Caught(broke=answer) if isinstance(answer, str) else answer
                self.add(one, caught)
                tried += caught.tried
                seconds, cases = self.budget.seconds, self.budget.cases or 1
                share = tried / cases if seconds is None else countdown.spent / seconds
                watch(min(share, 1.0), self._said(one))
                if share >= 1:
                    break
        except KeyboardInterrupt as interrupt:
            return interrupt
        finally:
            answers.close()
            self.journal.close()
            self.save()
        return None

    def _said(self, one: Round) -> str:
        """The line of progress after a round."""
        deepest = max((own.depth for own in self.own() if own.policy == one.policy), default=0)
        return f"{one.policy}: {self.tried[one.policy]:,} grammars, {one.kind} {one.number}, " + (
            f"errs {deepest} deep" if deepest else "errs nowhere"
        )
