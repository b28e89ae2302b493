"""What a check is: a property that outcomes must have.

A check sees what every implementation answered to a batch (:class:`Observation`), may ask further
questions (:class:`Probe`), and names the cases at fault (:class:`Violation`). It judges; it
never touches a process.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from harness.core.outcomes import Encoded, Failed, Inputs, Outcome, Results, Status
from impls.interface import Capability

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from harness.core.comparisons import Contract
    from harness.core.messages import Decode, Encode, Serve
    from harness.core.partition import Part


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The answers of all participants of a contract to one batch, by name."""

    contract: Contract
    inputs: Inputs
    results: Mapping[str, Results]


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """A further question of a check to one implementation."""

    implementation: str
    request: Encode | Decode | Serve


@dataclass(frozen=True, slots=True)
class Violation:
    """A case that fails a check.

    data: the input. index: in the batch. parts: the partition, the trusted part first. culprits:
    the implementations at fault. stage: where the outcomes part, if the check knows; None leaves it
    to :mod:`harness.findings.diagnosis`. undecided: the culprits differ from one another, and
    nobody can say which of them is wrong, so that none is blamed.
    """

    check: str
    index: int
    data: bytes
    parts: tuple[Part, ...]
    culprits: tuple[str, ...]
    stage: str | None = None
    undecided: bool = False


@dataclass(slots=True)
class Judgement:
    """What a check made of a batch: violations, and how many outcomes of whom it judged.

    forced: of healers, by name, the tokens that they forced, ``"forced"``, of those that anybody
    might have forced there, ``"possible"``.
    """

    violations: list[Violation] = field(default_factory=list)
    exercised: Counter[str] = field(default_factory=Counter)
    forced: dict[str, Counter[str]] = field(default_factory=dict)


class Severity(StrEnum):
    """How bad a finding is, the worst first.

    A crash loses the request, wrong ids break the model, wrong text breaks what a user reads, wrong
    offsets break what points into a text, and a wrong service (a count, a split, padding) is a
    helper's mistake.
    """

    CRASH = "crash"
    IDS = "wrong ids"
    TEXT = "wrong text"
    OFFSETS = "wrong offsets"
    SERVICE = "wrong service"


class LongRuns(Enum):
    """Which of the long runs (:mod:`corpora.generators.long_runs`) a check that samples is put to.

    Those of the first size are SHORT. A check that takes every batch is put to all of them.
    """

    NONE = auto()
    SHORT = auto()
    ALL = auto()


class Shows(Enum):
    """What a reproducer looks for in the answers of the libraries.

    DIFFER: the answers differ, or one is not the input where that is the right answer. FAILS: one
    does not answer. CHANGES: one answers in several ways. ANOTHER_TEXT: one is not the right text.
    """

    DIFFER = auto()
    FAILS = auto()
    CHANGES = auto()
    ANOTHER_TEXT = auto()


@dataclass(frozen=True, slots=True)
class Script:
    """How a reproducer puts the question of a check itself, without tokgate.

    asks: the function of a recipe (:class:`impls.interface.Recipe`) that it calls: ``encode``,
    ``decode`` or ``encode_with_offsets``.
    """

    shows: Shows
    asks: str = "encode"


class Check(Protocol):
    """A property, and all that options, findings and reports say of it.

    A check is a subclass in a file of its own, and a row of :data:`harness.checks.CHECKS`. Its
    docstring states the property as a formula, in the first paragraph; the second says of whom it
    is asked. All tables that name checks are made of these declarations.
    """

    name: ClassVar[str]
    """As in options, buckets and reports: words of a-z, joined by hyphens."""

    summary: ClassVar[str]
    """The property in one sentence, without its first capital and its full stop."""

    severity: ClassVar[Severity]
    """How bad a violation is, where nobody dies of it."""

    said: ClassVar[str] = ""
    """What an implementation at fault did, as reports say it after its name. Empty where it
    disagrees with others, who are named."""

    every: ClassVar[int] = 1
    """Run it on one batch in so many: what costs further calls is sampled."""

    needs: ClassVar[tuple[Capability, ...]] = ()
    """The capabilities of which somebody must have one."""

    long_runs: ClassVar[LongRuns] = LongRuns.NONE
    """The long runs that it is put to, if it samples."""

    by_chance: ClassVar[bool] = False
    """Whether a finding comes and goes: an example that shows nothing has not been mended."""

    alone: ClassVar[bool] = False
    """Whether its questions end processes or have to be put more than once: each violation is
    looked into by itself, and its finding may have no input that brings it back."""

    script: ClassVar[Script | None] = None
    """How a reproducer asks. None: it has ``tokgate replay`` ask."""

    @property
    def asks_further(self) -> bool:
        """Whether it has questions of its own; if not, it takes no time to speak of."""
        return type(self).probes is not Check.probes

    def applies(self, contract: Contract) -> bool:
        """Whether it says anything under this contract."""
        return not self.needs or any(
            one.can(need) for one in contract.participants for need in self.needs
        )

    def probes(self, seen: Observation) -> list[Probe]:
        """Further questions; none for a check of what is already known."""
        return []

    def follow_ups(self, seen: Observation, answers: Sequence[Results]) -> list[Probe]:
        """Questions about the answers to ``probes``."""
        return []

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """The violations; ``answers`` are those to the probes, then to the follow-ups."""
        ...


Fault = tuple[str, "tuple[Part, ...]"]
"""The stage of a violation, and its parts: what is right first."""


def encoded_by(seen: Observation) -> list[tuple[str, list[int]]]:
    """By implementation the inputs that it encoded, of those who encoded any."""
    rows = {name: encoded_indices(results) for name, results in seen.results.items()}
    return [(name, some) for name, some in rows.items() if some]


def stage_of(outcome: Outcome, stage: str) -> str:
    """How an answer failed; the stage of one that is wrong."""
    return Status(outcome.status).label if isinstance(outcome, Failed) else stage


def encoded_indices(results: Results) -> list[int]:
    """The inputs that were encoded."""
    return [i for i, status in enumerate(results.status.tolist()) if status == 0]


def ids_of(outcome: Outcome) -> tuple[int, ...]:
    """The ids, or none."""
    return outcome.ids if isinstance(outcome, Encoded) else ()


def packed(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Sequences of ids as a request to decode carries them."""
    flat = np.array([i for ids in rows for i in ids], dtype=np.int32)
    return flat, np.cumsum([len(ids) for ids in rows], dtype=np.int64)


def decoders(seen: Observation) -> list[str]:
    """Those who claim to decode and answered the batch."""
    return [
        one.name
        for one in seen.contract.participants
        if one.can(Capability.DECODE) and one.name in seen.results
    ]


REPLACEMENT = "\ufffd".encode()
"""What stands in a text for bytes that are no character."""


def has_lost(decoded: Encoded, data: bytes) -> bool:
    """Whether a decoded text has U+FFFD that the input lacks: the bytes of its ids are no text."""
    return (decoded.text or b"").count(REPLACEMENT) > data.count(REPLACEMENT)


def is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
