"""How much each participant of a comparison is trusted, and so who is blamed where they part.

A user who gates an implementation wants to know about that implementation, so it is blamed before
any other. What the user declared a reference is never blamed for parting from the others. Between
these stand the libraries, which are equals, and our plain definitions of the algorithms, which
decide where no reference takes part.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum

from corpora.vocabularies.model import Vocabulary
from harness.core.participants import Participant
from impls import registry


class Standing(IntEnum):
    """How much a participant is trusted; of two that differ, the lower one is blamed."""

    CANDIDATE = 0
    """The user's own: a file, a module, a program, a release, or an entry point."""
    LIBRARY = 1
    """Built in: a library of somebody else's, or one of our fast algorithms."""
    DEFINITION = 2
    """Our plain implementation of what the vocabulary's format means."""
    REFERENCE = 3
    """Declared by the user, or else the program whose format the vocabulary has."""


def references_of(
    vocabulary: Vocabulary,
    algorithm: str,
    members: Sequence[Participant],
    declared: frozenset[str],
) -> frozenset[str]:
    """Return the names of the references among those who take part in a comparison.

    Those that the user declared, or, where none of these takes part, the first one that takes part
    of those that the vocabulary's format has by default. A GGUF file has none: byte-level BPE means
    the same to every engine, and our definitions decide; the other algorithms are llama.cpp's own
    way with a vocabulary that was made by SentencePiece or for BERT. Whoever is not llama.cpp is
    given a conversion back to that, so that a difference is worth telling, and is nobody's fault.
    """
    chosen = declared & {one.name for one in members}
    if chosen:
        return chosen
    kind = vocabulary.format
    if kind == "gguf":
        return frozenset()
    default = registry.REFERENCES.get(kind) or registry.REFERENCES.get(algorithm, ())
    by_spec = {one.spec: one.name for one in members if registry.built_in(one.spec)}
    return frozenset([by_spec[spec] for spec in default if spec in by_spec][:1])


def definitions_of(vocabulary: Vocabulary, algorithm: str) -> tuple[str, ...]:
    """Return the names of our implementations that define what a vocabulary means, if any do."""
    if vocabulary.unexpressed:
        return registry.FILE_DEFINITIONS.get(vocabulary.format, ())
    if algorithm in registry.FOREIGN.get(vocabulary.format, ()):
        return ()
    return registry.DEFINITIONS.get(algorithm, ())


def standings(
    members: Iterable[Participant], references: frozenset[str], definitions: Sequence[str]
) -> dict[str, Standing]:
    """Return the standing of each participant by its name."""
    found = {}
    for one in members:
        known = Standing.DEFINITION if one.spec in definitions else Standing.LIBRARY
        trusted = known if registry.built_in(one.spec) else Standing.CANDIDATE
        found[one.name] = Standing.REFERENCE if one.name in references else trusted
    return found


def most_trusted(names: Iterable[str], standing: Mapping[str, Standing]) -> str:
    """Return the first of some names that none of the others stands above."""
    return max(names, key=lambda name: standing.get(name, Standing.CANDIDATE))
