"""Events of forced tokens."""

from __future__ import annotations

from harness.events.base import Base64, Event, event


@event
class Forced(Event):
    """Canonicality of forced tokens under one healing method: one row of the table.

    sequences: boundaries at which tokens were forced. non_canonical: those that are not what the
    text's own encoding has there, in ``non_canonical_instances`` texts and
    ``non_canonical_schemas`` schemas; seam: those behind a text that, by itself, encodes
    otherwise. unsafe: sequences that some sentence of the grammar contradicts; undecided: no
    proof either way. longer, shorter: than the exact method at the same boundary. tokens: of all
    texts. gave_up: calls without an answer. seconds: spent in the method. not_admitted: boundaries
    before which an engine's mask lacked a token of the text; outside_mask: those at which it forced
    a token that its own mask does not admit.
    """

    implementation: str
    vocabulary: str
    method: str
    sequences: int
    forced_tokens: int
    non_canonical: int
    corpus: str = ""
    whitespace: str = ""
    schemas: int = 0
    instances: int = 0
    tokens: int = 0
    non_canonical_instances: int = 0
    non_canonical_schemas: int = 0
    seam: int = 0
    unsafe: int = 0
    undecided: int = 0
    longer: int = 0
    shorter: int = 0
    gave_up: int = 0
    seconds: float = 0.0
    not_admitted: int = 0
    outside_mask: int = 0


@event
class ForcedCorpus(Event):
    """The corpus on which forced tokens were walked.

    refused: by llguidance, schemas, and texts of those that it takes. failed: schema to how its
    walk broke off. sampled: answers of the exact method that were checked by a continuation at
    random; listed: those checked by all sentences, where these are few, and listed_tokens what the
    definition forces there, listed_short what the method does not of it; misjudged: those of both
    that a sentence contradicts. differing: by pair of methods that ought to agree, the boundaries
    at which they do not.
    """

    corpus: str
    vocabulary: str
    whitespace: str
    schemas: int
    instances: int
    tokens: int
    refused_schemas: int
    refused_instances: int
    failed: dict[str, str]
    sampled: int
    misjudged: int
    differing: dict[str, int]
    listed: int = 0
    listed_tokens: int = 0
    listed_short: int = 0


@event
class ForcedWitness(Event):
    """Forced tokens that are not canonical, and the text that shows it.

    The text is context + forced + continuation, cut after what shows it. ids: those forced;
    canonical: those of the text that touch the same bytes; surfaces and canonical_surfaces: their
    bytes. before: how many bytes of the first canonical token stand before those forced: 0, but at
    a seam. of: ``instance`` of the corpus, or ``sentence`` of the grammar. grammar: the schema as
    JSON, its end cut off where it is long. minimal: the smallest schema and text found on which the
    policy errs; None where none was looked for.
    """

    vocabulary: str
    policy: str
    schema: str
    context: Base64
    forced: Base64
    continuation: Base64
    ids: list[int]
    surfaces: list[Base64]
    canonical: list[int]
    canonical_surfaces: list[Base64]
    of: str
    grammar: str = ""
    minimal: ForcedWitness | None = None
    before: int = 0
