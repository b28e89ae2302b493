"""What the harness and its workers say to each other.

How it travels, :mod:`harness.workers.wire` says.
"""

from __future__ import annotations

import mmap
import pickle
import struct
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

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
    """A vocabulary as :class:`Load` carries it, with its fingerprint, which each worker needs."""
    vocabulary.fingerprint  # noqa: B018 (it is kept in the vocabulary once it was asked for)
    return pickle.dumps(vocabulary, protocol=pickle.HIGHEST_PROTOCOL)


class Meter(StrEnum):
    """A cost of encoding; what each is, :mod:`harness.workers.meters` says."""

    TIME = "time"
    MEMORY = "memory"
    STEPS = "steps"
    INSTRUCTIONS = "instructions"
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
            "respelled": "its file written anew",
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


Shape = Windows | Padding | Template | Unstable | Dropout


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
    a template gives, or those that are stable and the completions (:func:`numbers_of`).
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
    skip: without special tokens. clean: with its spaces cleaned up. timed: measure the CPU time of
    each, and throw the texts away.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    stream: bool = False
    skip: bool = False
    clean: bool = False
    timed: bool = False

    def __len__(self) -> int:
        return len(self.ends)


@dataclass(frozen=True, slots=True)
class Serve:
    """Ask one of the services about each input.

    numbers: what the service takes besides the text, one tuple an input. For ``count``: nothing.
    ``count_till_limit``, ``split``: the limit. ``append``: where the chunks end that the text is
    given in. ``prepend``: where they begin, from the last one to the first. ``interval``: the
    ranges, start and end in turn. ``heal``: see :func:`healing_numbers`; its leftover is the text.

    The answers' ``ids`` are the numbers that the service gives: counts, or ends of chunks;
    :data:`PAST_THE_LIMIT` for null.
    """

    service: Capability
    inputs: Inputs
    numbers: tuple[tuple[int, ...], ...]
    mode: Mode

    def __len__(self) -> int:
        return len(self.inputs)


PAST_THE_LIMIT = -1


def healing_numbers(
    recent: Sequence[int], forced: bytes, allowed: Sequence[bytes] | None
) -> tuple[int, ...]:
    """The numbers of a question to a healer; its input is the forced bytes, then those allowed.

    How many tokens the context has, and which; the length of the forced bytes; how many strings
    the grammar allows, -1 for anything, and their lengths.
    """
    strings = () if allowed is None else tuple(map(len, allowed))
    size = -1 if allowed is None else len(strings)
    return (len(recent), *recent, len(forced), size, *strings)


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
    confined: what confines the process, as :class:`harness.confinement.plan.Held` writes it. spent:
    nanoseconds of CPU time that the implementation took to load the vocabulary.
    """

    error: str | None = None
    kind: str = ""
    confined: str = ""
    spent: int = 0

    @property
    def unsupported(self) -> bool:
        """Whether the implementation said that this vocabulary is not for it."""
        return self.kind == "unsupported"

    @property
    def refused(self) -> bool:
        """Whether it said no by an error, and lives: right if the vocabulary is at fault."""
        return self.kind == "errored"


CELL_BYTES = mmap.PAGESIZE


@dataclass(frozen=True, slots=True)
class Compiling:
    """What a compiler in a worker is at: the function's name, how many were compiled before.

    left: functions that have no compiled code yet, this one with them; not all need be called.
    """

    function: str
    before: int
    left: int = 0

    @property
    def line(self) -> str:
        """What a person is told of it."""
        if not self.left:
            return f"compiling {self.function} ({self.before} functions so far)"
        place, every = self.before + 1, self.before + self.left
        return f"compiling {self.function} (function {place} of at most about {every})"


_PLACE = struct.Struct("<q")
_COMPILING = struct.Struct("<qqq96s")


@dataclass(frozen=True, slots=True)
class Said:
    """What is in a cell: the input at work, or -1, and what a compiler is at, or None."""

    index: int
    compiling: Compiling | None

    @staticmethod
    def of(content: bytes) -> Said:
        """Return what a cell says; nothing where it is too short, since a worker writes it."""
        if len(content) < _PLACE.size + _COMPILING.size:
            return Said(-1, None)
        on, before, left, name = _COMPILING.unpack_from(content, _PLACE.size)
        function = name.rstrip(b"\0").decode("utf-8", "replace")
        compiling = Compiling(function, before, left) if on else None
        return Said(_PLACE.unpack_from(content, 0)[0], compiling)


class Progress:
    """A shared cell, as the worker has it: the input that it is at, and what it compiles.

    The harness reads it by :class:`harness.workers.cell.Cell`.
    """

    def __init__(self, descriptor: int) -> None:
        self._cell = mmap.mmap(descriptor, CELL_BYTES)

    def set(self, index: int) -> None:
        """Say at which input the worker is; -1 while no single input is at work."""
        _PLACE.pack_into(self._cell, 0, index)

    def compile(self, compiling: Compiling | None, before: int = 0) -> None:
        """Say what a compiler is at; None when it is done, ``before`` being how many it did.

        Nothing is said of what is compiled after :meth:`close`.
        """
        if self._cell.closed:
            return
        said = compiling or Compiling("", before)
        name = said.function.encode("utf-8", "replace")[-96:]
        on = compiling is not None
        _COMPILING.pack_into(self._cell, _PLACE.size, on, said.before, said.left, name)

    def close(self) -> None:
        """Unmap the cell."""
        self._cell.close()
