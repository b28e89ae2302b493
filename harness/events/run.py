"""Events of a run: what it is made of, its batches, its findings, its end."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

from corpora.vocabularies.model import Vocabulary
from corpora.vocabularies.remarks import remarks
from harness.core.excused import Excused
from harness.events.base import Base64, Event, event

SHOWN_BYTES = 1024
"""Bytes that a note keeps of an input that was slow once."""


PASS, FAIL, UNEXAMINED = "pass", "fail", "not-examined"
"""The values of a verdict: the gate holds; it does not; nothing that was examined is wrong, but
something that the user named was not examined."""


@event
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
    """The text by which each implementation was given, by name; a replay makes it from that."""
    references: list[str] = field(default_factory=list)
    timeout: float = 0.0
    memory: int = 0
    expect: str | None = None
    """References, limits and the expectations file of the run: a replay judges by them, too."""
    confinement: str = ""
    """One line that says what the workers were kept from, and by which means."""
    folder: str = ""
    """The folder in which the run was started; relative paths of its command begin there."""
    named: dict[str, list[str]] = field(default_factory=dict)
    """What the user asked for by name, which a gate must have examined: ``implementations``,
    ``vocabularies`` (as given), ``checks`` and ``inputs``."""


@event
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
    """The text by which the vocabulary was given; a replay loads it from that."""
    sha256: str = ""
    """The hash of the file's content, where it was read from a file and is kept."""
    remarks: list[str] = field(default_factory=list)
    """The limits of the comparison on this vocabulary, a line each."""
    unexpressed: bool = False
    """Whether only those take part who read the file: the plain model cannot express it."""

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
            sha256=_hash(vocabulary),
            remarks=remarks(vocabulary),
            unexpressed=bool(vocabulary.unexpressed),
        )


def _hash(vocabulary: Vocabulary) -> str:
    native = vocabulary.native
    if native is None or not native.content:
        return ""
    return native.sha256 or hashlib.sha256(native.content).hexdigest()


@event
class ContractOpened(Event):
    """Implementations whose outputs must agree, and why the others take no part.

    id: ``tekken_240911/text``. mode: the label of :class:`impls.interface.Mode`.
    excluded: implementation to reason. exact: those of the implementations that mean to give the
    ids that the vocabulary defines, and so are compared with one another.
    """

    id: str
    algorithm: str
    vocabulary: str
    mode: str
    implementations: list[str]
    references: list[str]
    excluded: dict[str, str]
    checks: list[str]
    exact: list[str] = field(default_factory=list)


@event
class ImplementationFailed(Event):
    """An implementation could not be started for a vocabulary (load failed)."""

    implementation: str
    vocabulary: str
    message: str


@event
class VocabularyRefused(Event):
    """An implementation would not load a random vocabulary: counted, and no failure."""

    implementation: str
    vocabulary: str
    message: str


@event
class Phase(Event):
    """What the run is busy with, for whoever watches."""

    text: str


@event
class Withdrawn(Event):
    """An implementation died so often that it is no longer asked on this vocabulary."""

    implementation: str
    vocabulary: str
    message: str

    @property
    def line(self) -> str:
        """One line for a summary."""
        why = self.message.split("\n", 1)[0]
        return f"testing of {self.implementation} on {self.vocabulary} stopped early: {why}"


@event
class Preparing(Event):
    """Some implementations have not loaded a vocabulary yet.

    ready: who has. waiting: who has not; in older records with what a compiler is at for it. share:
    how much is done of what a run compiles and builds before its time begins; None once that is
    done.
    """

    vocabulary: str
    ready: list[str]
    waiting: dict[str, str]
    share: float | None = None


@event
class SlowOnce(Event):
    """A failure that did not come back when its input was asked again alone: it is no finding.

    status: the label of what it would have been, ``timed-out`` for the most part. message: its
    line. input_b64: the first bytes of the input, where it was a single one.
    """

    implementation: str
    vocabulary: str
    status: str
    message: str
    input_b64: str

    @classmethod
    def of(cls, excused: Excused, vocabulary: str) -> SlowOnce:
        """The event of a failure that was excused on a vocabulary."""
        return cls(
            implementation=excused.implementation,
            vocabulary=vocabulary,
            status=excused.status.label,
            message=excused.message,
            input_b64=base64.b64encode(excused.data[:SHOWN_BYTES]).decode("ascii"),
        )


@event
class NotReached(Event):
    """Nothing was asked on a vocabulary. source: as the user gave it. reason: one line."""

    source: str
    reason: str


@event
class Unsettled(Event):
    """Violations that were seen and never looked into, so that nobody knows what they are.

    implementations: those that the violations are about. reason: one line.
    """

    contract: str
    check: str
    implementations: list[str]
    reason: str
    count: int = 1


@event
class BatchDone(Event):
    """A batch of cases was encoded by all and checked.

    comparisons: pairs (case, implementation beyond the first) compared.
    exercised: check name to implementation name to number of outcomes judged.
    violations: check name to implementation name to number of cases at fault there.
    forced: of healers by name, as :class:`harness.checks.base.Judgement` has it.
    answers: implementation name to how many cases it answered (ids or a rejection), failed on, and
    did not support. declined: what it said of the first that it did not support.
    """

    contract: str
    generator: str
    cases: int
    bytes: int
    comparisons: int
    exercised: dict[str, dict[str, int]]
    violations: dict[str, dict[str, int]]
    forced: dict[str, dict[str, int]] = field(default_factory=dict)
    answers: dict[str, list[int]] = field(default_factory=dict)
    declined: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Group:
    """Implementations that gave one outcome on a finding's input: one class of its partition.

    kind: ``encoded``, ``rejected``, ``errored``, ``crashed``, ``timed-out``, ``out-of-memory``,
    ``unsupported``, ``protocol``, ``left-processes``. ids: at most 2,000 of them, ``total`` counts
    all; surfaces: base64 of each id's bytes, None for an id that the vocabulary does not know.
    decoded: base64 of what the implementation decodes, where that is the finding. message: of a
    failure.
    """

    implementations: list[str]
    kind: str
    ids: list[int] = field(default_factory=list)
    total: int = 0
    surfaces: list[Base64 | None] = field(default_factory=list)
    message: str = ""
    decoded: Base64 | None = None
    offsets: list[list[int]] | None = None


class Stage(TypedDict):
    """One stage on both sides; they are alike so far as it tells if both say the same."""

    name: str
    left: str | None
    right: str | None


class Explained(TypedDict):
    """Two pipelines on one input.

    left, right: the implementations that differ, the trusted one first. left_model, right_model:
    whose stages were run for them, often themselves. parted: the first stage that differs.
    """

    left: str
    right: str
    left_model: str
    right_model: str
    stages: list[Stage]
    parted: str


@event
class Found(Event):
    """A finding is new, or known and now smaller (same id, later event replaces earlier).

    id: stable short name (``f-3a9c01d2``), also the folder under ``findings/``.
    check: ``equivalence``, ..; stage: where the outcomes part (``pre-tokens``, ``normalization``,
    ``crashed``, ..). bucket: the signature that groups like findings, stable from run to run.
    culprits: the implementations blamed (all but the reference group; for a check of a single
    implementation, that one), or those that differ where nobody can say who is wrong
    (``undecided``). partition: the groups by equal outcome, the reference's first.
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
    partition: list[Group]
    input_b64: Base64
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
    explanation: Explained | None = None
    """Both pipelines by stage."""
    undecided: bool = False
    """The culprits differ from one another and are trusted equally, so that none is blamed."""
    unminimised: str | None = None
    """The reason why the input was not made smaller, or not as small as can be, if something kept
    the tracker from it."""
    place: str = ""
    """The file and the line of the case first seen, where it is a text of the user's."""
    mistake: str = ""
    """The mistake whose ids the one who is blamed gives, of those that are well known, if there is
    just one: ``merges equal-rank pairs from the right``."""

    @property
    def input(self) -> bytes:
        """The input that shows it."""
        return base64.b64decode(self.input_b64)


@event
class Counted(Event):
    """How often a bucket was seen so far (the last one of a bucket counts).

    more: how many of them are new since its event before.
    """

    bucket: str
    count: int
    more: int = 1


@event
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
class Finished(Event):
    """The run ended by itself (``complete``) or was interrupted.

    verdict: ``pass``, ``fail`` or ``not-examined``. reasons: why it is no pass. notes: what was
    left open, which fails nothing. prepared: how many of the seconds passed before the first case;
    None where no case was asked. compared: how many implementations gave an outcome that was
    compared with another's; None where nobody counted.
    """

    complete: bool
    verdict: str
    reasons: list[str]
    seconds: float
    cases: int
    comparisons: int
    exit_status: int
    notes: list[str] = field(default_factory=list)
    prepared: float | None = None
    compared: int | None = None
