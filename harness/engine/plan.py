"""What a run is to do, and what it has done so far."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.embedded import RANDOM
from corpora.vocabularies.toys import TOYS
from harness.engine.suites import parse_budget
from harness.workers import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from corpora.families.base import Family
    from corpora.generators.base import Generator
    from corpora.texts.corpus import Corpus
    from corpora.vocabularies.model import Vocabulary
    from harness.checks.base import Check
    from harness.core.participants import Participant
    from harness.engine.suites import Budget, Suite
    from harness.verdict.bounds import Bound
    from harness.verdict.expectations import Expectation

TOY_WEIGHT = 0.25
"""The weight of a toy's share of the time beside another vocabulary's: toys are soon done."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does.

    vocabularies: sources with their loaders, in order. scaled: those of them on which growth is
    measured, too; walked: those on which forced tokens are. Without checks, that is all. sampled:
    checks that cost further calls take a part of the batches only. named: implementations that the
    user asked for by name. asked: what else the user gave on the command line, under the keys
    ``vocabularies``, ``checks`` and ``inputs``; a key without anything is empty.
    expect: the file of the user's own expectations. bounds: on growth, the user's first. families:
    the user's own, besides those of the catalog. measured: names of those to measure; none: as
    many as there is time for.
    """

    vocabularies: Mapping[str, Callable[[], Vocabulary]]
    participants: Sequence[Participant]
    generators: Sequence[Generator]
    checks: Sequence[Check]
    suite: Suite
    budget: Budget
    references: frozenset[str] = frozenset()
    expectations: Sequence[Expectation] = ()
    seed: int = 0
    jobs: int = 1
    fail_fast: bool = False
    sampled: bool = True
    named: Sequence[str] = ()
    asked: Mapping[str, Sequence[str]] = field(default_factory=dict)
    expect: str | None = None
    scaled: Sequence[str] = ()
    walked: Sequence[str] = ()
    families: Sequence[Family] = ()
    measured: Sequence[str] = ()
    bounds: Sequence[Bound] = ()
    limits: Limits = field(default_factory=Limits)
    texts: Corpus | None = None
    """The user's own, which come before all generators."""
    only_texts: bool = False
    places: Mapping[bytes, Callable[[], str]] = field(default_factory=dict)
    """The file and the line of each input that the user gave and that no batch of texts tells
    of."""

    @property
    def unhurried(self) -> bool:
        """Whether the clock is not to decide what is found: the budget is a number of cases."""
        return self.budget.seconds is None and not self.only_texts

    @property
    def versions(self) -> dict[str, str]:
        """Version of each participant."""
        return {participant.name: participant.about.version for participant in self.participants}

    def owed(self, source: str) -> bool:
        """Whether a vocabulary is examined even where no time is left for it.

        The user named it, or named implementations, which are examined on all vocabularies of the
        run. It is not where the user gave a number of random vocabularies: they may be thousands.
        """
        if source in self.asked.get("vocabularies", ()):
            return True
        return bool(self.named) and not source.startswith(RANDOM)

    @property
    def visited(self) -> list[str]:
        """The vocabularies on which there is something to do."""
        measured = {*self.scaled, *self.walked}
        return [source for source in self.vocabularies if self.checks or source in measured]

    def weight(self, source: str) -> float:
        """The part of the time that a vocabulary gets, beside the others: toys are soon done."""
        return TOY_WEIGHT if source in TOYS or source.startswith(RANDOM) else 1.0

    def part_of(self, sources: Iterable[str]) -> float:
        """The part of the time of all visited vocabularies that these get."""
        return sum(map(self.weight, sources)) / sum(map(self.weight, self.visited))

    def scaling_seconds(self, seconds: float | None) -> float:
        """The time for growth on one vocabulary, of a run that may take ``seconds`` in all.

        A run that is limited by its cases measures as long as its suite would: times have no part
        in what such a run is compared for.
        """
        if not self.scaled:
            return 0.0
        whole = parse_budget(self.suite.budget).seconds or 0.0 if seconds is None else seconds
        share = self.suite.scaling if self.checks else 1.0
        return share * whole / len(self.scaled)


@dataclass(slots=True)
class Tally:
    """What a run has done so far, over all its vocabularies.

    exercised: examples of expectations that were run, by place in the plan; shown: those of
    them that failed as expected; unsure: those of which a vocabulary could not say. excused: how
    many failures of each did not come back when asked again. hung: who was found to time out.
    unanswered: on how many vocabularies each owed an answer when time was up. awaited: whose
    answers the run waited for after its time, as they might be hangs. least: the vocabularies on
    which it went on after its time, so that what the user named was examined. settled: those on
    which it went on to look into the differences that it had found. claims: what became of claimed
    capabilities (:class:`harness.workers.claims.Claim`).
    """

    exercised: set[int] = field(default_factory=set)
    shown: set[int] = field(default_factory=set)
    unsure: set[int] = field(default_factory=set)
    excused: Counter[str] = field(default_factory=Counter)
    hung: set[str] = field(default_factory=set)
    unanswered: Counter[str] = field(default_factory=Counter)
    awaited: set[str] = field(default_factory=set)
    least: set[str] = field(default_factory=set)
    settled: set[str] = field(default_factory=set)
    claims: list[tuple[str, str, int, bool, str]] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """Return it as plain JSON values."""
        values = {name: getattr(self, name) for name in self.__slots__}
        kept = {n: dict(v) if isinstance(v, Counter) else v for n, v in values.items()}
        return {name: sorted(v) if isinstance(v, set) else v for name, v in kept.items()}

    def add(self, plain: Mapping[str, Any]) -> None:
        """Add what :meth:`plain` gave of another one."""
        for name in self.__slots__:
            kept, value = getattr(self, name), plain.get(name, ())
            if isinstance(kept, (set, Counter)):
                kept.update(value)
            else:
                kept.extend(tuple(one) for one in value)


def budget_text(plan: Plan) -> str:
    """The budget as it was given, for the record."""
    if plan.budget.cases is not None:
        return f"{plan.budget.cases}cases"
    return "none" if plan.budget.seconds is None else f"{plan.budget.seconds:g}s"


def unfinished(tally: Tally) -> list[str]:
    """A line on answers that time was not enough for, if there are any."""
    counts = ", ".join(f"{name} ({count})" for name, count in sorted(tally.unanswered.items()))
    return [f"stopped at the time limit with a batch unfinished: {counts}"] if counts else []


def went_on(
    awaited: Collection[str], least: Collection[str], settled: Collection[str], seconds: float
) -> list[str]:
    """A line on why a run took so much longer than its budget, if it did.

    awaited: who might have hung. least: the vocabularies on which what was named was still to be
    tested. settled: those on which differences were still to be looked into.
    """
    reasons = [
        f"{what} {', '.join(sorted(names))}"
        for what, names in (
            ("to confirm a possible hang in", awaited),
            ("to test what you named on", least),
            ("to look into the differences found on", settled),
        )
        if names
    ]
    if not reasons or seconds <= 0:
        return []
    return [f"exceeded the budget by {seconds:.0f} s {', and '.join(reasons)}"]
