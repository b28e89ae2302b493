"""What a search is made of, from the names that a user gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from corpora.families import catalog
from corpora.vocabularies import sources
from harness.core.comparisons import SupportsFailed, contracts_of
from harness.engine import selection
from harness.engine.plan import Plan
from harness.engine.selection import SelectionError
from harness.engine.suites import Budget, Suite
from harness.studies.bench.plan import parse_size
from harness.studies.campaigns.units import CampaignPlan
from harness.studies.worst.patterns import seeds
from harness.studies.worst.state import CONTROL, Sizes
from harness.workers import Limits
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from corpora.families.base import Family
    from corpora.families.pattern import Pattern
    from corpora.vocabularies.model import Vocabulary
    from harness.core.participants import Participant

ALL = "all"
"""Withholds every family."""

LEAST_SIZE, MOST_SIZE = 4 << 10, 1 << 20
"""Bytes of the size at which costs are compared: its 32nd part is what all patterns are tried at,
and the leaders are measured at four times as much."""

SMALL, LARGE = 32, 8
"""Parts of that size that all patterns are measured at: a few milliseconds a pattern."""

FAR = 16
"""Times that size up to which a few patterns are tried: 1 MiB, where recursion overflows."""


SECONDS, DEATHS, HANGS = 20.0, 200, 30
"""Limits of the worker: a request is made of what should be done in three seconds, on a machine
that may be busy with several times as much; and deaths are what is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstPlan(CampaignPlan):
    """One search: ``plan`` has its implementation, its vocabulary, and its budget of seconds.

    families: names of those that are listed. withheld: those that it is not told of. size: bytes
    at which costs are compared. guided: also by lines of the implementation's own source. most: so
    many results for cost. begin: patterns to begin with, and their origins: like the families that
    it is told of.
    """

    families: Sequence[str]
    withheld: frozenset[str]
    size: int
    guided: bool
    most: int
    begin: Sequence[tuple[str, Pattern]] = ()
    doing: ClassVar[str] = "searching on"

    @property
    def participant(self) -> Participant:
        """Whose worst inputs are searched."""
        return self.plan.participants[0]

    @property
    def vocabulary(self) -> Vocabulary:
        """The one that it is loaded with."""
        [load] = self.plan.vocabularies.values()
        return load()

    @property
    def budget(self) -> float:
        """Seconds."""
        return self.plan.budget.seconds or 0.0

    @property
    def sizes(self) -> Sizes:
        """The sizes of the search; that at which costs are compared is a power of two."""
        limit = self.participant.about.max_input
        most = self.size if limit is None else max(LEAST_SIZE, min(self.size, limit))
        full = 1 << most.bit_length() - 1
        return Sizes(full // SMALL, full // LARGE, full, full * FAR)

    def identity(self) -> dict[str, Any]:
        """As of any campaign: the search of another identity is not gone on with."""
        return CampaignPlan.identity(self) | {
            "spec": self.participant.spec,
            "size": self.size,
            "guided": self.guided,
            "withheld": sorted(self.withheld),
            "families": sorted(self.families),
        }


def make_plan(
    impls: Sequence[str],
    vocabularies: Sequence[str],
    budget: float,
    size: str,
    withhold: Sequence[str],
    guided: bool | None,
    most: int,
    seed: int,
    memory: int,
) -> WorstPlan:
    """From what a user gave. Raises SelectionError, ImplementationError, VocabularyError."""
    full = parse_size(size)
    if not LEAST_SIZE <= full <= MOST_SIZE:
        raise SelectionError(f"--size {size!r}: give 4KB to 1MB")
    participant = participant_of(impls)
    name, vocabulary = vocabulary_for(participant, vocabularies)
    can = can_be_guided(participant)
    if guided and not can:
        raise SelectionError(
            f"--grey: {participant.name} is not in tokgate's own source; leave it out"
        )
    families, withheld = chosen_families(catalog.families().values(), vocabulary, withhold)
    told = [one for name, one in families.items() if name not in withheld]
    plan = Plan(
        vocabularies=selection.vocabularies([name]),
        participants=[participant],
        generators=(),
        checks=(),
        suite=Suite("worst", "5m", full, 0.0, 0),
        budget=Budget(seconds=budget),
        seed=seed,
        limits=Limits(SECONDS, memory=memory, deaths=DEATHS, hangs=HANGS),
    )
    return WorstPlan(
        plan=plan,
        families=tuple(families),
        withheld=withheld,
        size=full,
        guided=can if guided is None else guided,
        most=most,
        begin=seeds(told, vocabulary),
    )


def participant_of(specs: Sequence[str]) -> Participant:
    """The one implementation named. Raises SelectionError, ImplementationError."""
    if len(specs) != 1:
        raise SelectionError("worst: name one implementation with --impl; a search is about one")
    present, missing = selection.participants(specs)
    for spec, why in missing.items():
        raise ImplementationError(f"{spec}: {why}")
    return present[0]


def vocabulary_for(participant: Participant, names: Sequence[str]) -> tuple[str, Vocabulary]:
    """The one named, else the first embedded one that it runs, with its name.

    Raises SelectionError.
    """
    if len(names) > 1:
        raise SelectionError("worst: name one vocabulary with --vocab; a search is about one")
    candidates = names or [*selection.scaled([], ["scaling"]), *selection.vocabularies([])]
    for name in candidates:
        vocabulary = sources.resolve(name)
        try:
            if contracts_of(vocabulary, [participant], frozenset(), proper=True):
                return name, vocabulary
        except SupportsFailed as error:
            raise ImplementationError(f"{participant.name}: {error}") from error
    tried = names[0] if names else "any embedded vocabulary that is installed"
    raise SelectionError(f"{participant.name} does not run {tried}; name another one with --vocab")


def can_be_guided(participant: Participant) -> bool:
    """Whether its source can be followed line by line: an algorithm of our own."""
    module = type(participant.implementation).__module__
    ours = ("impls.bpe.", "impls.unigram.", "impls.spm.", "impls.wordpiece.")
    return module.startswith(ours)


def chosen_families(
    families: Iterable[Family], vocabulary: Vocabulary, names: Sequence[str]
) -> tuple[dict[str, Family], frozenset[str]]:
    """Those that the vocabulary can spell, and those of them that are withheld."""
    known = {family.name: family for family in families}
    for name in names:
        if name not in known and name != ALL:
            raise SelectionError(
                f"--withhold {name!r}: no such family; see `tokgate list families`, or: {ALL}"
            )
    suiting = {name: family for name, family in known.items() if family.suits(vocabulary)}
    if CONTROL not in suiting:
        raise SelectionError(
            f"{vocabulary.id} cannot spell English prose, which costs are compared with; "
            "name another one with --vocab"
        )
    return suiting, frozenset(known if ALL in names else names)
