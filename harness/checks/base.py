"""What a check is: a property that outcomes must have.

A check sees what every implementation answered to a batch (:class:`Observation`), may ask further
questions (:class:`Probe`), and names the cases at fault (:class:`Violation`). It judges; it
never touches a process.
"""

import random
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from functools import lru_cache
from itertools import accumulate, chain
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from corpora.vocabularies.model import Vocabulary
from harness.core.comparisons import ComparedGroup, Contract, Observation
from harness.core.messages import Decode, Encode, Serve
from harness.core.outcomes import Encoded, Failed, Outcome, Results
from harness.core.participants import Participant
from harness.core.partition import Part, blames, partition
from impls.interface import Capability


@dataclass(frozen=True, slots=True, eq=False)
class Probe:
    """A further question of a check to one implementation."""

    implementation: str
    request: Encode | Decode | Serve


Ask = Callable[[Sequence[Probe]], Sequence[Results]]
"""Puts questions, all at the same time; the answers come in their order."""


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


@dataclass(frozen=True, slots=True)
class Script:
    """How a reproducer puts the question of a check itself, without tokgate.

    shows: what it looks for in the answers of the libraries: they differ, or one is not the input
    where that is the right answer; one does not answer; one answers in several ways; one is not
    the right text. asks: the function of a recipe (:class:`impls.interface.Recipe`) that it calls.
    """

    shows: Literal["differ", "fails", "changes", "another text"]
    asks: Literal["encode", "decode", "encode_with_offsets"] = "encode"


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

    severity: ClassVar[Severity] = Severity.IDS
    """How bad a violation is, where nobody dies of it."""

    said: ClassVar[str] = ""
    """What an implementation at fault did, as reports say it after its name. Empty where it
    disagrees with others, who are named."""

    every: ClassVar[int] = 1
    """Run it on one batch in so many: what costs further calls is sampled."""

    most: ClassVar[int] = 128
    """Inputs of a batch about which it asks further questions, if it samples. Some twenty checks
    do; were all asked about whole batches of 2,048 inputs, nine tenths of a run's time would go
    into them, and a run would compare a fifth of the inputs. Fewer where it asks dozens of
    questions about an input."""

    by_default: ClassVar[bool] = True
    """Whether it is run where the user names no checks."""

    needs: ClassVar[tuple[Capability, ...]] = ()
    """The capabilities of which somebody must have one."""

    where: ClassVar[tuple[Callable[[Contract], bool], ...]] = ()
    """What must hold of a comparison, so that the check means anything under it."""

    long_runs: ClassVar[LongRuns] = LongRuns.NONE
    """The long runs that it is put to, if it samples."""

    by_chance: ClassVar[bool] = False
    """Whether a finding comes and goes: an example that shows nothing has not been mended."""

    alone: ClassVar[bool] = False
    """Whether its questions end processes or have to be put more than once: each violation is
    looked into by itself, and its finding may have no input that brings it back."""

    script: ClassVar[Script | None] = None
    """How a reproducer asks. None: it has ``tokgate replay`` ask."""

    asks_further: ClassVar[bool] = True
    """Whether it has questions of its own; if not, it takes no time to speak of."""

    def applies(self, contract: Contract) -> bool:
        """Whether it says anything under this contract."""
        able = not self.needs or any(map(self.concerns, contract.participants))
        return able and all(holds(contract) for holds in self.where)

    def concerns(self, one: Participant) -> bool:
        """Whether it asks an implementation, which then has one of the capabilities."""
        return not self.needs or any(map(one.can, self.needs))

    def asked(self, seen: Observation) -> list[Participant]:
        """Those who answered the batch, of whom it asks."""
        some = filter(self.concerns, seen.contract.participants)
        return [one for one in some if one.name in seen.results]

    def judge(self, seen: Observation, ask: Ask) -> Judgement:
        """The violations; ``ask`` puts further questions."""
        ...

    def parted(
        self,
        seen: Observation,
        index: int,
        outcomes: Mapping[str, Outcome],
        group: ComparedGroup,
        stage: str | None = None,
    ) -> list[Violation]:
        """The violations of those of a group who part from one another on an input."""
        some = {name: outcomes[name] for name in group if name in outcomes}
        return [
            self.violation(seen, index, one.parts, one.culprits, stage, one.undecided)
            for one in blames(partition(some, group), group)
        ]

    def failed(
        self, seen: Observation, index: int, outcomes: Mapping[str, Outcome], right: Part
    ) -> list[Violation]:
        """Those of who fails at a further question, which the survival check does not see.

        right: what others answer.
        """
        return [
            self.violation(seen, index, (right, Part((name,), one)), (name,), one.status.label)
            for name, one in outcomes.items()
            if isinstance(one, Failed)
        ]

    def violation(self, seen: Observation, index: int, *rest: Any) -> Violation:
        """A violation on an input; rest: from its parts on, as :class:`Violation` has them."""
        return Violation(self.name, index, seen.inputs[index], *rest)


def stage_of(outcome: Outcome, stage: str) -> str:
    """The stage of ids or a text that are wrong; of what is neither, what it is."""
    return stage if isinstance(outcome, Encoded) else outcome.status.label


def encoded_indices(results: Results) -> list[int]:
    """The inputs that were encoded."""
    return [i for i, status in enumerate(results.status.tolist()) if status == 0]


def ids_of(outcome: Outcome) -> tuple[int, ...]:
    """The ids, or none."""
    return outcome.ids if isinstance(outcome, Encoded) else ()


def packed(rows: Sequence[Sequence[int]]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Sequences of ids as a request to decode carries them."""
    flat = np.array([*chain.from_iterable(rows)], dtype=np.int32)
    return flat, np.cumsum([*map(len, rows)], dtype=np.int64)


# Most implementations give the same ids, so that what these spell is looked up once for all.
@lru_cache(maxsize=1024)
def spellings(vocabulary: Vocabulary, ids: tuple[int, ...]) -> tuple[bytes, ...] | None:
    """The bytes of each token; None where one of the ids is no token's."""
    try:
        return tuple(map(vocabulary.spelling, ids))
    except KeyError:
        return None


def spelled(vocabulary: Vocabulary, ids: tuple[int, ...]) -> bytes | None:
    """What ids spell; None where one of them is no token's."""
    parts = spellings(vocabulary, ids)
    return None if parts is None else b"".join(parts)


@lru_cache(maxsize=1024)
def character_ends(vocabulary: Vocabulary, ids: tuple[int, ...], data: bytes) -> tuple[int, ...]:
    """After how many of its ids, but not all, a text has whole characters behind it.

    Nowhere, where the ids spell another text.
    """
    ends = [*accumulate(map(len, spellings(vocabulary, ids) or ()))]
    if not ends or ends[-1] != len(data):
        return ()
    return tuple(k for k, end in enumerate(ends[:-1], 1) if data[end] & 0xC0 != 0x80)


@lru_cache(maxsize=4)
def special_numbers(vocabulary: Vocabulary) -> frozenset[int]:
    """The ids of special tokens."""
    return frozenset(vocabulary.special_tokens.values())


@lru_cache(maxsize=4)
def added_ids(vocabulary: Vocabulary) -> frozenset[int]:
    """The ids of special and of added tokens."""
    return special_numbers(vocabulary).union(one.id for one in vocabulary.added_tokens)


@lru_cache(maxsize=4)
def first_past(vocabulary: Vocabulary) -> int:
    """The first number past the ids of all tokens, special and added ones included."""
    return max(len(vocabulary), 1 + max(added_ids(vocabulary), default=-1))


def numbers_in(data: bytes, most: int) -> list[int]:
    """Numbers by which ids are drawn, one for three bytes of an input each, ``most`` at the most.

    So what is taken out of the input takes ids out.
    """
    places = range(0, min(len(data), 3 * most), 3)
    return [int.from_bytes(data[place : place + 3], "big") for place in places]


def is_raw(contract: Contract) -> bool:
    """Whether texts are one piece, special tokens being text like any other."""
    return not contract.mode.pretokenize and contract.mode.special == "none"


def without_specials(contract: Contract) -> bool:
    """Whether special tokens are text like any other."""
    return contract.mode.special == "none"


def verbatim(contract: Contract) -> bool:
    """Whether tokens spell the text, and decoding gives back what they spell."""
    return not contract.vocabulary.normalizes and not contract.vocabulary.pieces


def draw(data: bytes) -> random.Random:
    """Dice that fall alike for the same input, so that a violation comes back."""
    return random.Random(zlib.crc32(data))


REPLACEMENT = "\ufffd".encode()
"""What stands in a text for bytes that are no character."""
