"""What the harness and its workers say to each other.

How it travels, :mod:`harness.workers.wire` says.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from harness.core.conversations import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from harness.core.outcomes import Inputs
    from impls.interface import Capability, Mode


@dataclass(frozen=True, slots=True)
class Load:
    """Make the implementation named ``spec`` (see the registry) and load the vocabulary.

    packed: the vocabulary, pickled once for all workers. modes: those in which it will be asked,
    for which it may warm up.
    """

    spec: str
    packed: bytes
    modes: tuple[Mode, ...] = ()


def packed(vocabulary: Vocabulary) -> bytes:
    """A vocabulary as :class:`Load` carries it."""
    return pickle.dumps(vocabulary, protocol=pickle.HIGHEST_PROTOCOL)


class Meter(StrEnum):
    """A cost of encoding; what each is, :mod:`harness.workers.meters` says."""

    TIME = "time"
    MEMORY = "memory"
    STEPS = "steps"
    LINES = "lines"
    HELD = "held"
    CLAIM = "claim"


class Way(StrEnum):
    """Another way to the ids that ``encode`` gives."""

    SINGLY = "singly"
    """Input by input, where the encoder is asked in batches else (``EncodesBatches``)."""
    MANY = "many"
    """The auxiliary way of encoding by the library's own call for many inputs (``EncodesMany``)."""
    RELOADED = "reloaded"
    """The auxiliary way of encoding with a tokenizer that was saved and loaded again
    (``Reloads``)."""
    RESPELLED = "respelled"
    """The auxiliary way of encoding with another file that says the same (``Respells``)."""
    MIXED = "mixed"
    """After calls that ask for something else, of the same text and of others like it."""
    STR = "str"
    """Given as ``str`` (``EncodesStr``): inputs are UTF-8, but for the surrogates that they have.
    """

    @property
    def words(self) -> str:
        """As it stands beside an implementation's name in findings."""
        return {
            "singly": "by itself",
            "many": "in a batch",
            "reloaded": "saved and loaded",
            "respelled": "its file in another spelling",
            "mixed": "among other calls",
            "str": "given as str",
        }[self]


@dataclass(frozen=True, slots=True)
class Windows:
    """Cut what is too long into windows; left: the end of the text is kept, not its beginning."""

    length: int
    overlap: int
    left: bool

    def __str__(self) -> str:
        side = "left" if self.left else "right"
        return f"windows of {self.length} overlapping by {self.overlap}, cut on the {side}"


@dataclass(frozen=True, slots=True)
class Padding:
    """Pad each input together with itself twice over and the empty one."""

    multiple: int
    left: bool

    def __str__(self) -> str:
        side = "left" if self.left else "right"
        return f"padded on the {side} to a multiple of {self.multiple}"


@dataclass(frozen=True, slots=True)
class Template:
    """Add the special tokens of the post-processor; pair: to the input and to itself twice over."""

    pair: bool

    def __str__(self) -> str:
        return "a pair with special tokens added" if self.pair else "special tokens added"


@dataclass(frozen=True, slots=True)
class Chat:
    """Encode a conversation by the template: so many messages, each of which is the input.

    kind: as :mod:`harness.core.conversations` has them. rendered: give the characters of the text
    that the template makes, not the ids.
    """

    turns: int
    kind: str = "plain"
    rendered: bool = False

    def __str__(self) -> str:
        return f"a conversation of {self.turns} message{'s' * (self.turns > 1)}{WORDS[self.kind]}"


@dataclass(frozen=True, slots=True)
class Unstable:
    """Say which ids are stable, and at most so many completions of the text."""

    most: int

    def __str__(self) -> str:
        return "stable ids and completions"


@dataclass(frozen=True, slots=True)
class Dropout:
    """Leave merges out at random, as the vocabulary's file says; so many times over."""

    draws: int

    def __str__(self) -> str:
        return "encoded with dropout"


@dataclass(frozen=True, slots=True)
class Strings:
    """Say what each token is called."""

    def __str__(self) -> str:
        return "strings of tokens"


Shape = Windows | Padding | Template | Chat | Unstable | Dropout | Strings


def numbers_of(sequences: Iterable[Sequence[int]]) -> list[int]:
    """The numbers that sequences travel as, each after its length."""
    return [number for one in sequences for number in (len(one), *one)]


def sequences_in(numbers: Sequence[int]) -> list[tuple[int, ...]]:
    """The sequences that numbers stand for, each after its length."""
    found = []
    place = 0
    while place < len(numbers):
        end = place + 1 + numbers[place]
        found.append(tuple(numbers[place + 1 : end]))
        place = end
    return found


@dataclass(frozen=True, slots=True)
class Encode:
    """Encode each input; from several threads at once if ``threads``; with offsets likewise.

    meter: measure this cost of each input, and throw the ids away. way: unsupported by encoders
    that do not have it. shape: likewise; the answer's ids are the windows, or the draws with
    dropout, each after its length, or of each row its length, its mask and its ids, or those that
    a template gives, or its characters, or those that are stable and the completions, or the
    characters of each string (:func:`numbers_of`).
    """

    inputs: Inputs
    mode: Mode
    offsets: bool = False
    threads: bool = False
    meter: Meter | None = None
    way: Way | None = None
    shape: Shape | None = None

    def __len__(self) -> int:
        return len(self.inputs)


@dataclass(frozen=True, slots=True)
class Decode:
    """Decode each id sequence (``ids`` int32, ``ends`` int64).

    stream: id by id, by the library's own decoder for that; the answer has all that it gave out.
    prompt: so many of the first ids were there before the stream, which does not give their text.
    skip: without special tokens. clean: with its spaces cleaned up. timed: measure the CPU time of
    each, and throw the texts away.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    stream: bool = False
    prompt: int = 0
    skip: bool = False
    clean: bool = False
    timed: bool = False

    def __len__(self) -> int:
        return len(self.ends)


@dataclass(frozen=True, slots=True)
class Serve:
    """Ask one of the services about each input.

    given: of each input, what the method of the service takes (:mod:`impls.interface`), but for the
    mode. The answer's text is what ``heal`` leaves over. Its ``ids`` are the numbers that the
    service gives: counts, or ends of chunks; :data:`PAST_THE_LIMIT` for null.
    """

    service: Capability
    inputs: Inputs
    given: tuple[tuple[Any, ...], ...]
    mode: Mode

    def __len__(self) -> int:
        return len(self.inputs)


PAST_THE_LIMIT = -1


@dataclass(frozen=True, slots=True)
class Measure:
    """Measure the fastest form of encoding that the encoder offers (see :mod:`impls.prepared`).

    The inputs are prepared, then encoded one after another between two looks at the clock: one
    outcome for all. warm_up: passes before that. least: nanoseconds that the timed passes are to
    take together; 0 for a single pass. ids: the answer has the ids of the first pass. counting:
    the ids are only counted (see ``PreparesCount``), and their number stands for them. document:
    where it is not 0, each input is cut into texts of so many bytes, which one call encodes on so
    many ``threads`` (see ``PreparesBatch``); the ids are those of all texts, one behind another.
    shared: the encoder may be called from several threads at once. before: where it is not empty, a
    text that is encoded over and over right before the inputs, and not timed, till the threads are
    running: a call of a few milliseconds would else be over before the kernel has moved a thread
    that has just been woken to a processor of its own.
    """

    inputs: Inputs
    mode: Mode
    warm_up: int = 0
    least: int = 0
    ids: bool = False
    counting: bool = False
    document: int = 0
    threads: int = 1
    shared: bool = False
    before: bytes = b""

    def __len__(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Open:
    """Make an encoder of a vocabulary's file in a process that has done nothing yet.

    The answer is one outcome, with what it took as its costs; see :class:`Opened`.

    path: of the file. recipe: the library's own lines that read it (:class:`impls.interface.Recipe`
    has more); empty for an implementation that is given the plain model, which is read of the file
    first. small: the name of a small vocabulary that such a one loads beforehand, with these
    splits, so that its code is there, as is that of the reader, a module; empty for none. first,
    text: are encoded, one after the other. symbols: the vocabulary has user-defined symbols.
    """

    spec: str
    path: str
    recipe: str
    reader: str
    small: str
    splits: tuple[str, ...]
    first: bytes
    text: bytes
    mode: Mode
    symbols: bool = False

    def __len__(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Opened:
    """What it took to open a vocabulary: nanoseconds of the process, and bytes that it has.

    code: of CPU time, for the code alone, before the file was read. cpu, wall: from the file to the
    ids of the first text. before, after, worked: bytes that the process had resident before the
    file was read, after the first text, and after the other one; own_before, own_after, own_worked:
    of these, what is mapped from no file (the kernel calls it anonymous), which no other process
    shares.
    """

    code: int
    cpu: int
    wall: int
    before: int
    own_before: int
    after: int
    own_after: int
    worked: int
    own_worked: int


Request = Load | Encode | Decode | Serve | Measure | Open


@dataclass(frozen=True, slots=True)
class Loaded:
    """The answer to Load: no error, or the message of what went wrong, and its kind.

    kind: the label of a status. ``unsupported`` is no failure: it does not run this vocabulary.
    spent: nanoseconds of CPU time that the implementation took to load the vocabulary.
    """

    error: str | None = None
    kind: Annotated[str, msgspec.Meta(max_length=40)] = ""
    spent: Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)] = 0

    @property
    def unsupported(self) -> bool:
        """Whether the implementation said that this vocabulary is not for it."""
        return self.kind == "unsupported"

    @property
    def refused(self) -> bool:
        """Whether it said no by an error, and lives: right if the vocabulary is at fault."""
        return self.kind == "errored"
