"""Who joins a run whose named implementations would be compared with nobody who is trusted.

``tokgate run --impl mine:Tokenizer`` asks whether an implementation is right. Alone it cannot be
compared, so the program that decides what the vocabulary means joins by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.core.comparisons import algorithm_of, answer_of, contracts_of, faulty
from harness.core.standing import Standing, definitions_of
from harness.engine import selection
from impls import registry
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.core.comparisons import Contract
    from harness.core.participants import Participant

WRITTEN_FOR: Mapping[str, tuple[str, ...]] = {"gguf": ("llama.cpp",)}
"""Formats without a reference whose files are written for one engine. That one is no reference, but
whoever is to run such a file is best compared with it."""


@dataclass(frozen=True, slots=True)
class Joining:
    """An implementation that joins a run. vocabularies: the ids of those that it joins for."""

    participant: Participant
    vocabularies: tuple[str, ...]

    @property
    def line(self) -> str:
        """One line that tells the user of it."""
        where = ", ".join(self.vocabularies)
        return (
            f"{self.participant.name} joins this run as the reference on {where}, as you named "
            "none (name one with --impl to choose it)"
        )


def joiners(
    vocabularies: Iterable[Vocabulary],
    present: Sequence[Participant],
    available: Callable[[str], Participant | None],
) -> list[Joining]:
    """Who joins the participants of a run, so that they are compared on each vocabulary.

    available: the implementation of a registered name, or None where it is not installed.
    """
    joined: dict[str, Joining] = {}
    for vocabulary in vocabularies:
        contracts = _contracts(vocabulary, present)
        if not contracts or any(map(compares, contracts)):
            continue
        one = _first(vocabulary, contracts, available)
        if one is not None:
            before = joined[one.name].vocabularies if one.name in joined else ()
            joined[one.name] = Joining(one, (*before, vocabulary.id))
    return list(joined.values())


def compares(contract: Contract) -> bool:
    """Whether a contract needs nobody else: two are compared of whom one is built in."""
    return any(
        len(group) > 1 and max(group.values()) > Standing.CANDIDATE
        for group in contract.compared_groups(contract.exact)
    )


def _contracts(vocabulary: Vocabulary, present: Sequence[Participant]) -> list[Contract]:
    """The contracts of those who can say whether they run it."""
    faults = faulty(vocabulary, present)
    able = [one for one in present if one.name not in faults]
    return contracts_of(vocabulary, able, frozenset(), proper=True)


def _first(
    vocabulary: Vocabulary,
    contracts: Sequence[Contract],
    available: Callable[[str], Participant | None],
) -> Participant | None:
    """The first that is installed and runs the vocabulary in a mode in which it is needed."""
    engines = [p.about.engine for one in contracts for p in one.participants if p.about.engine]
    present = {name for one in contracts for name in one.names}
    for spec in (*engines, *trusted(vocabulary)):
        one = available(spec)
        if one is None or one.name in present:
            continue
        if any(answer_of(one, vocabulary, each.mode) is None for each in contracts):
            return one
    return None


def trusted(vocabulary: Vocabulary) -> Sequence[str]:
    """Names of those that decide best what a vocabulary means, in order of preference."""
    algorithm, kind = algorithm_of(vocabulary), vocabulary.format
    known = WRITTEN_FOR.get(kind) or registry.REFERENCES.get(kind)
    engines = known or registry.REFERENCES.get(algorithm, ())
    # The last definition is the fastest one.
    return *engines, *reversed(definitions_of(vocabulary, algorithm))


def installed(spec: str) -> Participant | None:
    """The implementation of a registered name, or None where it is not installed."""
    try:
        (one,), _ = selection.participants([spec])
    except ImplementationError:
        return None
    return one
