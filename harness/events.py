"""The stream of events that a run is, and its record ``run.jsonl``.

The progress display, the store and every report consume this stream or its record; nothing else
knows about them. Each event is one JSON object a line with its class name in ``event``; a record
without :class:`Finished` is an incomplete run.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from corpora.vocabularies.model import Vocabulary


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events; subclasses register themselves by name."""

    kinds: ClassVar[dict[str, type[Event]]] = {}

    def to_json(self) -> str:
        """One line of ``run.jsonl``: ASCII, as messages and arguments may have lone surrogates."""
        return json.dumps({"event": type(self).__name__, **asdict(self)})

    @staticmethod
    def from_json(line: str) -> Event | None:
        """The event of one line; None for an event that this version does not know.

        Raises ValueError for a line that is no event, or lacks a field.
        """
        raw: dict[str, Any] = json.loads(line)
        if not isinstance(raw, dict):
            raise ValueError(f"a line that is no event: {line[:60].rstrip()}")
        kind = Event.kinds.get(str(raw.pop("event", "")))
        if kind is None:
            return None
        known = {f.name for f in fields(kind)}
        try:
            return kind(**{name: value for name, value in raw.items() if name in known})
        except TypeError as error:
            raise ValueError(f"an event {kind.__name__} that lacks a field ({error})") from error


def _event(cls: type[Event]) -> type[Event]:
    Event.kinds[cls.__name__] = cls
    return cls


@_event
@dataclass(frozen=True, slots=True)
class Started(Event):
    """A run begins. ``versions`` has ``tokgate``, ``python`` and every implementation's."""

    time: str
    seed: int
    suite: str
    budget: str
    command: str
    versions: dict[str, str]
    machine: str
    specs: dict[str, str] = field(default_factory=dict)
    """How each implementation was given, by name: what a replay makes it from."""
    references: list[str] = field(default_factory=list)
    timeout: float = 0.0
    memory: int = 0
    expect: str | None = None
    """References, limits and the expectations file of the run: a replay judges by them, too."""


@_event
@dataclass(frozen=True, slots=True)
class VocabularyLoaded(Event):
    """A vocabulary is ready; ``problems`` are the preflight's lines (empty: proper)."""

    id: str
    format: str
    algorithm: str
    tokens: int
    fingerprint: str
    path: str | None
    problems: list[str]
    source: str = ""
    """How it was given: what a replay loads it from."""

    @classmethod
    def of(
        cls, vocabulary: Vocabulary, source: str, problems: Iterable[str] = ()
    ) -> VocabularyLoaded:
        """The event of a vocabulary."""
        return cls(
            id=vocabulary.id,
            format=vocabulary.format,
            algorithm=str(vocabulary.algorithm),
            tokens=len(vocabulary),
            fingerprint=vocabulary.fingerprint,
            path=vocabulary.source_path,
            problems=list(problems),
            source=source,
        )


@_event
@dataclass(frozen=True, slots=True)
class ContractOpened(Event):
    """Implementations whose outputs must agree, and why the others take no part.

    id: ``tekken_240911/text``. mode: the label of :class:`impls.interface.Mode`.
    excluded: implementation to reason.
    """

    id: str
    algorithm: str
    vocabulary: str
    mode: str
    implementations: list[str]
    references: list[str]
    excluded: dict[str, str]
    checks: list[str]


@_event
@dataclass(frozen=True, slots=True)
class ImplementationFailed(Event):
    """An implementation could not be started for a vocabulary (load failed)."""

    implementation: str
    vocabulary: str
    message: str


@_event
@dataclass(frozen=True, slots=True)
class VocabularyRefused(Event):
    """An implementation would not load a random vocabulary: counted, and no failure."""

    implementation: str
    vocabulary: str
    message: str


@_event
@dataclass(frozen=True, slots=True)
class Phase(Event):
    """What the run is busy with, for whoever watches."""

    text: str


@_event
@dataclass(frozen=True, slots=True)
class Withdrawn(Event):
    """An implementation died so often that it is no longer asked on this vocabulary."""

    implementation: str
    vocabulary: str
    message: str


@_event
@dataclass(frozen=True, slots=True)
class BatchDone(Event):
    """A batch of cases was encoded by all and checked.

    comparisons: pairs (case, implementation beyond the first) compared.
    exercised: check name to implementation name to number of outcomes judged.
    violations: check name to implementation name to number of cases at fault there.
    """

    contract: str
    generator: str
    cases: int
    bytes: int
    comparisons: int
    exercised: dict[str, dict[str, int]]
    violations: dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Group:
    """Implementations that gave one outcome on a finding's input: one class of its partition.

    kind: ``encoded``, ``rejected``, ``errored``, ``crashed``, ``timed-out``, ``out-of-memory``,
    ``unsupported``, ``protocol``. ids: at most 2,000 of them, ``total`` counts all; surfaces:
    base64 of each id's bytes, None for an id that the vocabulary does not know. decoded: base64
    of what the implementation decodes, where that is the finding. message: of a failure.
    """

    implementations: list[str]
    kind: str
    ids: list[int] = field(default_factory=list)
    total: int = 0
    surfaces: list[str | None] = field(default_factory=list)
    message: str = ""
    decoded: str | None = None
    offsets: list[list[int]] | None = None


@_event
@dataclass(frozen=True, slots=True)
class Found(Event):
    """A finding is new, or known and now smaller (same id, later event replaces earlier).

    id: stable short name (``f-3a9c01d2``), also the folder under ``findings/``.
    check: ``equivalence``, ..; stage: where the outcomes part (``pre-tokens``, ``normalization``,
    ``crashed``, ..). bucket: the signature that groups like findings, stable from run to run.
    culprits: the implementations blamed (all but the reference group; for a check of a single
    implementation, that one). partition: the groups by equal outcome, the reference's first.
    difference: one sentence on the first difference. first_difference: token index or None.
    generator, seed, index: provenance of the case first seen; minimal: shrinking has ended.
    expected: the reason from the expectations file that covers it, or None.
    """

    id: str
    check: str
    stage: str
    bucket: str
    contract: str
    vocabulary: str
    mode: str
    culprits: list[str]
    partition: list[dict[str, Any]]
    input_b64: str
    difference: str
    first_difference: int | None
    generator: str
    seed: int
    index: int
    original_bytes: int
    minimal: bool
    expected: str | None
    link: str | None
    reproducer: str | None
    replaces: str | None = None
    """The id of a provisional finding that this one, minimised, takes the place of."""
    explanation: dict[str, Any] | None = None
    """Both pipelines stage by stage: the fields of :class:`harness.explain.Explanation`."""

    @property
    def groups(self) -> list[Group]:
        """The partition as typed groups."""
        known = {f.name for f in fields(Group)}
        return [Group(**{k: v for k, v in g.items() if k in known}) for g in self.partition]


@_event
@dataclass(frozen=True, slots=True)
class Counted(Event):
    """How often a bucket was seen so far (the last one of a bucket counts)."""

    bucket: str
    count: int


@_event
@dataclass(frozen=True, slots=True)
class Measured(Event):
    """Growth of one implementation on one family.

    measure: ``time``, ``instructions`` or ``steps`` (lines of our own source that are executed);
    points: [bytes, seconds], or [bytes, number] of the others. verdict: ``linear`` (n log n is
    within it), ``superlinear``, ``inconclusive``, ``failed``. exponent: with its interval. law: the
    one of ``n``, ``n log n``, ``n^1.5``, ``n^2``, ``n^3``, ``exponential`` (or ``1``, ``log n``)
    that describes the points best; laws: all that they do not rule out. constant: nanoseconds
    (instructions, steps) for a byte more, over the sizes fitted, with its interval; overhead: what
    a call costs by itself, in the unit of the points. rounds: how often each size was measured.

    cached: as points, for an input that was encoded just before. memory, stack: [bytes, bytes],
    the most that a call took beyond what was held before it. memory_per_byte: of memory, at the
    largest sizes. memory_verdict: ``ordinary``, ``hungry``, ``superlinear``, or nothing.
    expression: one line of Python for the input of ``n`` bytes, with ``random`` imported; ``n`` is
    the first of any point. note: how it failed, or why it stopped.
    """

    implementation: str
    vocabulary: str
    family: str
    exponent: float | None
    low: float | None
    high: float | None
    verdict: str
    points: list[list[float]]
    note: str = ""
    measure: str = "time"
    law: str = ""
    laws: list[str] = field(default_factory=list)
    constant: float | None = None
    constant_low: float | None = None
    constant_high: float | None = None
    overhead: float | None = None
    rounds: int = 0
    cached: list[list[float]] = field(default_factory=list)
    memory: list[list[float]] = field(default_factory=list)
    stack: list[list[float]] = field(default_factory=list)
    memory_per_byte: float | None = None
    memory_verdict: str = ""
    expression: str = ""


@_event
@dataclass(frozen=True, slots=True)
class GrowthJudged(Event):
    """A cell that a bound of the expectations file is on, judged at the end of a run.

    bound: ``linear``, ``n log n``, ``n^1.5``, ``quadratic``, ``cubic``. outcome: ``pass``,
    ``fail``, ``inconclusive`` (which fails no gate, but is said). reason: of the bound, as its
    author gave it. line: what to read where it is not a pass.
    """

    implementation: str
    vocabulary: str
    family: str
    measure: str
    bound: str
    outcome: str
    reason: str
    line: str = ""


@_event
@dataclass(frozen=True, slots=True)
class Forced(Event):
    """Canonicality of forced tokens under one healing method: one row of the table.

    sequences: boundaries at which tokens were forced. non_canonical: those that are not what the
    text's own encoding has there, in ``non_canonical_instances`` texts and
    ``non_canonical_schemas`` schemas; seam: those behind a text that, by itself, encodes
    otherwise. unsafe: sequences that some sentence of the grammar contradicts; undecided: no
    proof either way. longer, shorter: than the exact method at the same boundary. tokens: of all
    texts. gave_up: calls without an answer. seconds: spent in the method.
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


@_event
@dataclass(frozen=True, slots=True)
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


@_event
@dataclass(frozen=True, slots=True)
class ForcedWitness(Event):
    """Forced tokens that are not canonical, and the text that shows it.

    All bytes are base64. The text is context + forced + continuation, cut after what shows it.
    ids: those forced; canonical: those of the text that touch the same bytes; surfaces and
    canonical_surfaces: their bytes. of: ``instance`` of the corpus, or ``sentence`` of the grammar.
    grammar: the schema as JSON, its end cut off where it is long. minimal: the fields of another
    witness, the smallest schema and text found on which the policy errs; None where none was looked
    for.
    """

    vocabulary: str
    policy: str
    schema: str
    context: str
    forced: str
    continuation: str
    ids: list[int]
    surfaces: list[str]
    canonical: list[int]
    canonical_surfaces: list[str]
    of: str
    grammar: str = ""
    minimal: dict[str, Any] | None = None

    @property
    def smallest(self) -> ForcedWitness | None:
        """The smallest one, typed."""
        return None if self.minimal is None else ForcedWitness(**self.minimal)


@_event
@dataclass(frozen=True, slots=True)
class ExpectationJudged(Event):
    """What became of one entry of the expectations file.

    status: ``shown`` (as expected), ``stale`` (exercised, did not show: fails the gate),
    ``not-exercised``, ``expired`` (shown after its expiry: fails the gate).
    """

    bucket: str
    status: str
    reason: str
    link: str | None
    implementations: list[str]
    vocabulary: str = "*"


@_event
@dataclass(frozen=True, slots=True)
class Finished(Event):
    """The run ended by itself (``complete``) or was interrupted.

    reasons: why the verdict is no pass. notes: what was left open, which fails nothing.
    """

    complete: bool
    verdict: str
    reasons: list[str]
    seconds: float
    cases: int
    comparisons: int
    exit_status: int
    notes: list[str] = field(default_factory=list)


@_event
@dataclass(frozen=True, slots=True)
class BenchStarted(Event):
    """A measurement of speed begins.

    texts: name to what it is made of. sizes: bytes asked for. modes: labels. cold, rounds: how
    often each was to be measured; rounds 0: as many as the time holds. base: by mode, the
    implementations that ratios refer to, the first that was measured.
    """

    time: str
    command: str
    seed: int
    rounds: int
    cold: int
    sizes: list[int]
    texts: dict[str, str]
    modes: list[str]
    base: dict[str, list[str]]
    versions: dict[str, str]
    homepages: dict[str, str]
    cpu: str
    machine: str


@_event
@dataclass(frozen=True, slots=True)
class Benched(Event):
    """One cell: an implementation on one kind of text at one size, in one mode.

    row: the implementation's name, with `` count`` where it only counts ids. bytes: of the text,
    which may end up to three bytes below ``size``. status: ``measured``, ``skipped``, ``failed``,
    ``unsupported``; note: why, or what to know. answer: ``equal`` to the ids of ``trusted``,
    ``different``, ``by-law`` (its ids are others by design) or ``unchecked``. timings: one
    :class:`Timing` each, in the order of measuring.
    """

    vocabulary: str
    text: str
    mode: str
    row: str
    implementation: str
    size: int
    bytes: int
    status: str
    note: str
    answer: str
    trusted: str
    tokens: int | None
    timings: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Timing:
    """One look at the clock. kind: ``cold``, ``warm`` or ``fresh``; round: from 0.

    cpu, wall: seconds that ``bytes`` bytes took; cpu is the time of the whole process. passes: how
    often those bytes were encoded between the two looks.
    """

    kind: str
    round: int
    bytes: int
    passes: int
    cpu: float
    wall: float


@_event
@dataclass(frozen=True, slots=True)
class BenchFinished(Event):
    """The measurement ended by itself (``complete``) or was interrupted."""

    complete: bool
    seconds: float
    exit_status: int


def read_events(path: Path) -> Iterator[Event]:
    """Events of a record; a last line cut short by a kill is passed over."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.endswith("\n"):
                return
            event = Event.from_json(line)
            if event is not None:
                yield event


def write_events(path: Path, events: Iterable[Event]) -> None:
    """Write a record, for tests and conversions."""
    path.write_text("".join(f"{event.to_json()}\n" for event in events), encoding="utf-8")
