"""What a check is: a property that outcomes must have.

A check sees what every implementation answered to a batch (:class:`Observation`), may ask further
questions (:class:`Probe`), and names the cases at fault (:class:`Violation`). It judges; it
never touches a process.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from harness.core.outcomes import Encoded, Inputs, Outcome, Results

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


class Check(Protocol):
    """A property. Its docstring states it as a formula."""

    @property
    def name(self) -> str:
        """As in options, buckets and reports."""
        ...

    @property
    def summary(self) -> str:
        """The property in one line."""
        ...

    @property
    def every(self) -> int:
        """Run it on one batch in so many: what costs further calls is sampled."""
        ...

    def applies(self, contract: Contract) -> bool:
        """Whether it says anything under this contract."""
        ...

    def probes(self, seen: Observation) -> list[Probe]:
        """Further questions; none for a check of what is already known."""
        ...

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """The violations; ``answers`` are those to the probes, in their order."""
        ...


@runtime_checkable
class FollowsUp(Protocol):
    """A check that has questions about the answers; found by its method."""

    def follow_ups(self, seen: Observation, answers: Sequence[Results]) -> list[Probe]:
        """Questions after those of ``probes``; ``judge`` gets their answers after the others."""
        ...


def encoded_indices(results: Results) -> list[int]:
    """The inputs that were encoded."""
    return [i for i, status in enumerate(results.status.tolist()) if status == 0]


def ids_of(outcome: Outcome) -> tuple[int, ...]:
    """The ids, or none."""
    return outcome.ids if isinstance(outcome, Encoded) else ()


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
