"""Events of a run: what it is made of, its batches, its findings, its end."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from harness.events.base import Event, event

if TYPE_CHECKING:
    from collections.abc import Iterable

    from corpora.vocabularies.model import Vocabulary


@event
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


@event
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


@event
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


@event
@dataclass(frozen=True, slots=True)
class ImplementationFailed(Event):
    """An implementation could not be started for a vocabulary (load failed)."""

    implementation: str
    vocabulary: str
    message: str


@event
@dataclass(frozen=True, slots=True)
class VocabularyRefused(Event):
    """An implementation would not load a random vocabulary: counted, and no failure."""

    implementation: str
    vocabulary: str
    message: str


@event
@dataclass(frozen=True, slots=True)
class Phase(Event):
    """What the run is busy with, for whoever watches."""

    text: str


@event
@dataclass(frozen=True, slots=True)
class Withdrawn(Event):
    """An implementation died so often that it is no longer asked on this vocabulary."""

    implementation: str
    vocabulary: str
    message: str


@event
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


@event
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


@event
@dataclass(frozen=True, slots=True)
class Counted(Event):
    """How often a bucket was seen so far (the last one of a bucket counts)."""

    bucket: str
    count: int


@event
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


@event
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
