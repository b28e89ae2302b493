"""Which mistakes are hunted together, in one hunt beside one reference, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from harness.core.comparisons import algorithm_of
from harness.studies.selftest.catalog import resolved
from harness.studies.selftest.events import Sighting

if TYPE_CHECKING:
    from collections.abc import Iterable

    from corpora.vocabularies.model import Vocabulary
    from harness.studies.selftest.catalog import Mutant

TOGETHER = 12
"""Mistakes in one hunt: each has a process with the vocabulary, some of 200 MB."""

REFERENCES = {
    "bpe": ("tiktoken", "bpe.heap"),
    "spm": ("sentencepiece",),
    "unigram": ("sentencepiece",),
    "wordpiece": ("tokenizers",),
    "pipeline": ("tokenizers",),
}
"""Whom to trust, by the algorithm of a contract, or by ``pipeline`` where a file is read.

tiktoken does not run vocabularies whose merges are no ranks, or whose tokens are few; the heap
does.
"""


class Kind(StrEnum):
    """How a mistake shows."""

    CASES = "cases"
    """These mistakes show in the answers."""
    APART = "apart"
    """These mistakes show in the answers, too, and their processes end or wait."""
    GROWTH = "growth"
    """These mistakes show in how long an answer takes."""
    FORCED = "forced"
    """These mistakes show in tokens that a grammar forces."""
    GATE = "gate"
    """These mistakes are whole plug-ins, and must show in the verdict of a run."""


KINDS = {"scaling": Kind.GROWTH, "canonicality": Kind.FORCED, "gate": Kind.GATE}
"""How mistakes show that other checks than those of answers catch."""

SLOW = {Kind.APART, Kind.GROWTH, Kind.GATE}
"""Processes that hang are waited for, growth is measured in rounds, and the gate is a run for each
mistake: these take more time than the others, by :data:`SLOWNESS`."""

SLOWNESS = 2.5


@dataclass(frozen=True, slots=True)
class Group:
    """Mistakes on one vocabulary, in one mode, that show in one way."""

    vocabulary: str
    kind: Kind
    mode: str
    mistakes: tuple[Mutant, ...]

    @property
    def names(self) -> list[str]:
        """Those of the mistakes."""
        return [one.name for one in self.mistakes]

    @property
    def controls(self) -> list[str]:
        """Specs of what the mistakes are without them, each once."""
        return list(dict.fromkeys(one.control for one in self.mistakes if one.control))

    def resolve(self) -> None:
        """Ask who they are, where that is more than a policy or a run of its own."""
        if self.kind not in (Kind.FORCED, Kind.GATE):
            for spec in (*self.controls, *(one.spec for one in self.mistakes)):
                resolved(spec)

    @property
    def modes(self) -> frozenset[str]:
        """Labels of the modes that are compared: with special tokens on, those off as well."""
        return frozenset({self.mode, "text"} if self.mode == "special" else {self.mode})

    @property
    def weight(self) -> float:
        """Its part of the time, beside the others: half for coming up, half by its size."""
        size = 0.5 + 0.5 * len(self.mistakes) / TOGETHER
        return SLOWNESS * size if self.kind in SLOW else size


@dataclass(frozen=True, slots=True)
class Shown:
    """What showed of one implementation in a hunt; see :class:`..events.MistakeJudged`."""

    named: list[str] = field(default_factory=list)
    bucket: str = ""
    data: bytes = b""
    sightings: list[Sighting] = field(default_factory=list)
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Hunted:
    """What a hunt came to. shown: by name, those that are right included.

    cases: by generator, over all contracts. seconds: loading and all.
    """

    shown: dict[str, Shown]
    cases: dict[str, int]
    references: list[str]
    seconds: float


def kind_of(mutant: Mutant) -> Kind:
    """How a mistake is hunted."""
    return KINDS.get(mutant.check, Kind.APART if mutant.apart else Kind.CASES)


def groups(mistakes: Iterable[Mutant]) -> list[Group]:
    """All mistakes in groups, the heaviest first, so that they end together."""
    found: dict[tuple[str, Kind, str], list[Mutant]] = {}
    for one in mistakes:
        found.setdefault((one.vocabulary, kind_of(one), one.mode), []).append(one)
    every = []
    for where, members in found.items():
        parts = -(-len(members) // TOGETHER)
        every += [Group(*where, tuple(members[part::parts])) for part in range(parts)]
    return sorted(every, key=lambda group: -group.weight)


def references(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Names of the trusted ones, with whom mistakes on a vocabulary are compared."""
    return REFERENCES["pipeline" if vocabulary.unexpressed else algorithm_of(vocabulary)]
