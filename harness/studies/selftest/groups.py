"""Which mistakes are hunted together: in one campaign, beside one reference."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.studies.selftest.mutant import Mutant

TOGETHER = 12
"""Mistakes in one campaign: each has a process with the vocabulary, some of 200 MB."""

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


WEIGHTS = {Kind.CASES: 1.0, Kind.APART: 2.5, Kind.GROWTH: 2.5, Kind.FORCED: 1.0, Kind.GATE: 2.5}
"""The share of the time of each kind: processes that hang are waited for, growth is measured in
rounds, and the gate is a run for each mistake."""


@dataclass(frozen=True, slots=True)
class Group:
    """Mistakes on one vocabulary, in one mode, that show in one way."""

    vocabulary: str
    kind: Kind
    mode: str
    mistakes: tuple[Mutant, ...]

    @property
    def controls(self) -> list[str]:
        """Specs of what the mistakes are without them, each once."""
        return list(dict.fromkeys(one.control for one in self.mistakes if one.control))

    @property
    def modes(self) -> frozenset[str]:
        """Labels of the modes that are compared: with special tokens on, those off as well."""
        return frozenset({self.mode, "text"} if self.mode == "special" else {self.mode})

    @property
    def weight(self) -> float:
        """Its part of the time, beside the others: half for coming up, half by its size."""
        return WEIGHTS[self.kind] * (0.5 + 0.5 * len(self.mistakes) / TOGETHER)


def kind_of(mutant: Mutant) -> Kind:
    """How a mistake is hunted."""
    if mutant.check == "scaling":
        return Kind.GROWTH
    if mutant.check == "canonicality":
        return Kind.FORCED
    if mutant.check == "gate":
        return Kind.GATE
    return Kind.APART if mutant.apart else Kind.CASES


def groups(mistakes: Iterable[Mutant]) -> list[Group]:
    """All mistakes in groups, the heaviest first, so that the lanes end together."""
    found: dict[tuple[str, Kind, str], list[Mutant]] = {}
    for one in mistakes:
        found.setdefault((one.vocabulary, kind_of(one), one.mode), []).append(one)
    every = []
    for (vocabulary, kind, mode), members in found.items():
        parts = -(-len(members) // TOGETHER)
        every += [
            Group(vocabulary, kind, mode, tuple(members[part::parts])) for part in range(parts)
        ]
    return sorted(every, key=lambda group: -group.weight)
