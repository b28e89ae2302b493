"""``tokgate adversary``: rounds against policies, in workers, with a record to go on from."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from harness.core import stored
from harness.core.writing import Lines, cannot_write, write_whole
from harness.studies.forced import counterexamples
from harness.studies.forced.adversary import WAYS, Caught, Round
from harness.studies.forced.counterexamples import Counterexample
from harness.studies.forced.pool import WorkersFailed, results
from harness.studies.forced.run import versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from harness.core.countdown import Countdown
    from harness.engine.suites import Budget
    from harness.studies.forced.jobs import Task

RECORD = "adversary.jsonl"
COUNTEREXAMPLES = "trophies.json"


@dataclass(frozen=True, slots=True)
class Hunt:
    """A search: one vocabulary, the policies of ``task`` in turn."""

    task: Task
    budget: Budget
    jobs: int = 1

    def rounds(self, bag: Bag) -> Iterator[Round]:
        """All rounds that ``bag`` has not: policies and kinds take turns, without end.

        But for a vocabulary that has no more grammars to try; ``bag`` is looked at as it fills.
        """
        for number in itertools.count():
            left = [(p, k) for k in WAYS for p in self.task.policies if (p, k) not in bag.exhausted]
            if not left:
                return
            for policy, kind in left:
                if (policy, kind, number) not in bag.done:
                    yield Round(policy, kind, number)

    def identity(self, policy: str) -> dict[str, Any]:
        """What decides a round's result, besides its kind and number."""
        return {
            "vocabulary": self.task.vocabulary.fingerprint,
            "policy": policy,
            "seed": self.task.seed,
            "versions": versions(),
        }


@dataclass(slots=True)
class Bag:
    """What was caught. tried: grammars by policy; broke: by round, how it ended early.

    done: rounds by policy, kind and number; exhausted: policies and kinds without more to try.
    left: what workers left behind, a line each.
    """

    best: dict[tuple[str, str, str], Counterexample] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)
    broke: dict[str, str] = field(default_factory=dict)
    done: set[tuple[str, str, int]] = field(default_factory=set)
    exhausted: set[tuple[str, str]] = field(default_factory=set)
    left: list[str] = field(default_factory=list)

    def add(self, caught: Caught) -> None:
        """Take in a round."""
        policy = caught.policy
        self.done.add((policy, caught.kind, caught.number))
        self.tried[policy] = self.tried.get(policy, 0) + caught.tried
        if caught.broke:
            self.broke[f"{policy}, {caught.kind} {caught.number}"] = caught.broke
        elif not caught.tried:
            self.exhausted.add((policy, caught.kind))
        if caught.counterexample is not None:
            self.best = counterexamples.merged([*self.best.values(), caught.counterexample])


class _Line(msgspec.Struct):
    """A line of the record: a round of a hunt."""

    hunt: dict[str, Any]
    kind: str
    number: Annotated[int, msgspec.Meta(ge=0)]
    tried: Annotated[int, msgspec.Meta(ge=0)]
    broke: str
    trophy: counterexamples.Written | None
    """A counterexample, by the name that records have had from the beginning."""


class _LeftLine(msgspec.Struct):
    """A line of processes that a worker has left behind."""

    left: str


class HuntRecord:
    """A folder's ``adversary.jsonl``, one round a line, and ``trophies.json``, the best of all.

    Hunts of other vocabularies, policies and seeds in the same folder are kept, and what
    ``trophies.json`` already has stays until something worthier is caught.
    """

    def __init__(self, folder: Path, hunt: Hunt) -> None:
        self.bag = Bag()
        self._folder, self._hunt = folder, hunt
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / RECORD
            known = {json.dumps(hunt.identity(one)): one for one in hunt.task.policies}
            kept = []
            for number, line in stored.lines(path) if path.exists() else ():
                try:
                    self._take(line, known)
                except ValueError as error:
                    mend = "remove that line to play its round again"
                    raise stored.damaged(path, f"line {number}: {error}", mend) from error
                kept.append(line)
            write_whole(path, "".join(f"{line}\n" for line in kept))
            self._file = Lines(path, afresh=False)
        except OSError as error:
            raise cannot_write(f"--out {folder}", error) from error
        if (folder / COUNTEREXAMPLES).exists():
            self.bag.best = counterexamples.merged(
                [*counterexamples.read(folder / COUNTEREXAMPLES), *self.bag.best.values()]
            )

    def _take(self, line: str, known: dict[str, str]) -> None:
        """Take in a line, if it is one of this hunt. Raises ValueError with the field at fault."""
        parsed = stored.parsed(line)
        if isinstance(parsed, dict) and "left" in parsed:
            self.bag.left.append(stored.typed(parsed, _LeftLine).left)
            return
        raw = stored.typed(parsed, _Line)
        counterexample = None if raw.trophy is None else counterexamples.typed(raw.trophy, "trophy")
        if counterexample:
            # Vocabularies that encode alike have one fingerprint, and so one hunt.
            counterexample = replace(counterexample, vocabulary=self._hunt.task.vocabulary.id)
        policy = known.get(json.dumps(raw.hunt), "")
        if policy:
            self.bag.add(Caught(policy, raw.kind, raw.number, raw.tried, counterexample, raw.broke))

    def add(self, caught: Caught) -> None:
        """Write a round at once, and the counterexamples if there is a new one.

        Raises OutputError.
        """
        before = self.bag.best
        self.bag.add(caught)
        line = {
            "hunt": self._hunt.identity(caught.policy),
            "kind": caught.kind,
            "number": caught.number,
            "tried": caught.tried,
            "broke": caught.broke,
            "trophy": caught.counterexample and caught.counterexample.to_dict(),
        }
        self._file.add(json.dumps(line))
        if self.bag.best != before:
            self.save()

    def add_left(self, line: str) -> None:
        """Write what a worker has left behind, once. Raises OutputError."""
        if line not in self.bag.left:
            self.bag.left.append(line)
            self._file.add(json.dumps({"left": line}))

    def save(self) -> None:
        """Write ``trophies.json``. Raises OutputError."""
        write_whole(self._folder / COUNTEREXAMPLES, counterexamples.to_json(self.bag.best.values()))

    def close(self) -> None:
        """Close the record, and write the counterexamples even where there are none."""
        self._file.close()
        self.save()


def hunt(
    plan: Hunt,
    record: HuntRecord,
    watch: Callable[[float, str], None],
    countdown: Countdown,
    prepared: Callable[[float], None] = lambda seconds: None,
) -> KeyboardInterrupt | None:
    """Play rounds until the budget is used up; the interrupt that ended it before, if one did.

    countdown: of the budget's seconds; it runs from the moment when the first worker has loaded its
    vocabulary, and ``prepared`` is told how long that took. A round that is on at the end is cut
    off and lost: whoever goes on plays it again. Cases are grammars tried, in whole rounds.
    Raises SelectionError, ImplementationError, OutputError.
    """
    tried = 0

    def ready() -> None:
        if not countdown.running:
            countdown.start()
            prepared(countdown.prepared)

    rounds = plan.rounds(record.bag)
    answers = results(
        plan.task, rounds, plan.jobs, lambda: countdown.over, ready, left=record.add_left
    )
    watch(0.0, "loading the vocabulary")
    try:
        for caught in answers:
            record.add(caught)
            tried += caught.tried
            share = _spent(plan.budget, countdown.spent, tried)
            watch(min(share, 1.0), said(caught, record.bag, plan.task.vocabulary.id))
            if share >= 1:
                break
    except KeyboardInterrupt as interrupt:
        return interrupt
    except WorkersFailed as error:
        raise error.mendable("adversary") from error
    finally:
        answers.close()
        record.close()
    return None


def _spent(budget: Budget, seconds: float, tried: int) -> float:
    if budget.seconds is not None:
        return seconds / budget.seconds
    return tried / (budget.cases or 1)


def said(caught: Caught, bag: Bag, vocabulary: str) -> str:
    """The line of progress after a round."""
    policy = caught.policy
    own = [one for place, one in bag.best.items() if place[:2] == (vocabulary, policy)]
    deepest = max((one.depth for one in own), default=0)
    return f"{policy}: {bag.tried[policy]:,} grammars, {caught.kind} {caught.number}, " + (
        f"errs {deepest} deep" if deepest else "errs nowhere"
    )
