"""Events of the user's texts: what was given, what was read, and what was compared on it."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.events.base import Event, event


@event
class TextsGiven(Event):
    """The run has texts of the user's own.

    inputs: as they were given. files: how many these are. bytes: on disk, packed as they are; None
    where nobody knows. sampled: parts of them are read in an order that the seed decides. only:
    generators, growth and forced tokens are left out.
    """

    inputs: list[str]
    files: int
    bytes: int | None
    sampled: bool
    only: bool


@event
class TextsRead(Event):
    """How far the texts have been read for a vocabulary (its last one counts).

    The numbers are those of :class:`corpora.texts.corpus.Reading`; unfit: documents that a toy
    vocabulary has no letters for. seconds: since the first was read.
    """

    vocabulary: str
    documents: int
    bytes: int
    read: int
    duplicates: int
    cut: int
    not_utf8: int
    unfit: int
    unreadable: int
    faults: list[str]
    whole: bool
    seconds: float


@dataclass(frozen=True)
class TokenCounts:
    """One implementation beside another on the documents of a batch that both encoded.

    against: the other, which is trusted the most; empty for that one itself, and for who has nobody
    to be compared with. documents: compared; of who has nobody, all; of who is trusted the most,
    none. differing: with other ids. tokens, against_tokens: of each, in all of them. more, fewer:
    summed over the documents where this one gives more, or fewer, tokens. changed: tokens of this
    one between the first and the last that differ in a document. unanswered: documents that only
    one, or none, of them encoded. digest: of all its ids, 63 bits; where the batches of two runs
    are the same, so are the sums of these if, but for chance, all ids are.
    """

    against: str
    documents: int = 0
    differing: int = 0
    tokens: int = 0
    against_tokens: int = 0
    more: int = 0
    fewer: int = 0
    changed: int = 0
    unanswered: int = 0
    digest: int = 0


@dataclass(frozen=True)
class FirstDifference:
    """A document with other ids: its place, and the index of the first token that differs."""

    implementation: str
    against: str
    place: str
    token: int
    tokens: int
    against_tokens: int


@event
class TextsCompared(Event):
    """A batch of texts was compared; the sum of all is what the run found.

    counts: of everybody who was asked.
    """

    contract: str
    counts: dict[str, TokenCounts]
    first: list[FirstDifference] = field(default_factory=list)
