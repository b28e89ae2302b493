"""What an implementation did with a case: types, never booleans or magic values.

:class:`Results` is the columnar form in which a whole batch travels from a worker; an
:data:`Outcome` is one row of it, made only where somebody looks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Sized

Count = Annotated[int, msgspec.Meta(ge=0)]


class Status(IntEnum):
    """The kind of an outcome, as it stands in :attr:`Results.status`."""

    ENCODED = 0
    REJECTED = 1
    UNSUPPORTED = 2
    ERRORED = 3
    CRASHED = 4
    TIMED_OUT = 5
    OUT_OF_MEMORY = 6
    PROTOCOL = 7
    ANSWERED = 8
    LEFT_PROCESSES = 9
    FALSE_CLAIM = 10

    @property
    def label(self) -> str:
        """``timed-out``: as it stands in buckets, records and reports."""
        return self.name.lower().replace("_", "-")

    @classmethod
    def of(cls, label: str) -> Status:
        """The status of a label."""
        return cls[label.upper().replace("-", "_")]


# Plain numbers, as rows are looked at one by one, and asking an enumeration takes as long as that.
_ENCODED, _REJECTED, _UNSUPPORTED = map(int, (Status.ENCODED, Status.REJECTED, Status.UNSUPPORTED))


class Encoded(msgspec.Struct, frozen=True, gc=False):
    """The implementation answered. ``text`` is what it decoded, ``offsets`` where it was asked.

    A run makes millions of outcomes and compares them, which structs do in a fifth of the time of
    frozen dataclasses. None of them can be part of a cycle, so that nobody need look for one.
    """

    ids: tuple[int, ...]
    text: bytes | None = None
    offsets: tuple[tuple[int, int], ...] | None = None
    status = Status.ENCODED


class _NoIds(msgspec.Struct, frozen=True, gc=False):
    """An outcome that equals any other of its kind, whatever the message."""

    message: str = ""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))


class Rejected(_NoIds, frozen=True, gc=False):
    """The input is invalid for this tokenizer."""

    status = Status.REJECTED


class Unsupported(_NoIds, frozen=True, gc=False):
    """The implementation does not do this; takes no part in any comparison."""

    status = Status.UNSUPPORTED


class Failed(msgspec.Struct, frozen=True, gc=False):
    """No answer: it raised, crashed, hung, ate its memory or broke the protocol.

    Or it left processes behind, or claims what it never does: no failure on any one input.

    status says which, and alone counts when two are compared. message: the exception or the
    signal, then the end of standard error.
    """

    status: Status
    message: str = ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Failed) and other.status == self.status

    def __hash__(self) -> int:
        return hash(self.status)


class Answered(msgspec.Struct, frozen=True, gc=False):
    """What a service said, or should have said, in words. Checks make it, for violations only."""

    message: str
    status = Status.ANSWERED


Outcome = Encoded | Rejected | Unsupported | Failed | Answered


@dataclass(frozen=True, slots=True)
class Spent:
    """Nanoseconds of one pass over all inputs, timed over ``passes`` of them.

    cpu: of the whole process, as a library may hand the work to threads; of an encoder that works
    in another process, what it says itself. wall: on the clock. elsewhere: of such an encoder, the
    CPU time that both processes took by the kernel's count, its protocol included; None of others.
    """

    cpu: Count
    wall: Count
    passes: Count
    elsewhere: Count | None = None


SPAN_TO_ID = 4
"""Bytes of the offsets of a token for each byte of its id: two int64 beside an int32."""


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:  # noqa: PLW1641 (nobody hashes a batch)
    """A batch of inputs, or of texts, as it travels: one byte string and where each ends."""

    data: bytes
    ends: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.ends)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Inputs)
            and self.data == other.data
            and np.array_equal(self.ends, other.ends)
        )

    def __getitem__(self, index: int) -> bytes:
        start, end = _span(self.ends, index, index + 1)
        return self.data[start:end]

    def __iter__(self) -> Iterator[bytes]:
        start = 0
        for end in self.ends.tolist():
            yield self.data[start:end]
            start = end

    def part(self, first: int, last: int) -> Inputs:
        """The inputs from ``first`` to before ``last``."""
        start, end = _span(self.ends, first, last)
        return Inputs(self.data[start:end], self.ends[first:last] - start)

    @classmethod
    def of(cls, inputs: Sequence[bytes]) -> Inputs:
        """Pack a list of inputs."""
        return cls(b"".join(inputs), _ends(inputs))


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Outcomes of a batch of n inputs.

    status: uint8 [n]. ids: int32, all ids one after another; ends: int64 [n], where each input's
    ids end. messages: by index, for what is not ENCODED. text: what was decoded, where that was
    asked. offsets: int64 [len(ids), 2], byte ranges. costs: int64 [n, k] of a batch under a
    meter, or None: nanoseconds; bytes of memory and of stack; or steps. timed: what a measurement
    of speed came to, or None.
    """

    status: NDArray[np.uint8]
    ids: NDArray[np.int32]
    ends: NDArray[np.int64]
    messages: dict[int, str] = field(default_factory=dict)
    text: Inputs | None = None
    offsets: NDArray[np.int64] | None = None
    costs: NDArray[np.int64] | None = None
    timed: Spent | None = None

    def __len__(self) -> int:
        return len(self.status)

    def __iter__(self) -> Iterator[Outcome]:
        # All numbers are read at once: one by one takes several times as long.
        ids, ends = tuple(self.ids.tolist()), [0, *self.ends.tolist()]
        texts: Iterable[bytes | None] = self.text or repeat(None, len(self))
        spans = None if self.offsets is None else tuple(map(tuple, self.offsets.tolist()))
        rows = zip(self.status.tolist(), pairwise(ends), texts, strict=True)
        for index, (number, (start, end), text) in enumerate(rows):
            if number == _ENCODED:
                yield Encoded(ids[start:end], text, None if spans is None else spans[start:end])
            else:
                yield _not_encoded(number, self.messages.get(index, ""))

    def row(self, index: int) -> NDArray[np.int32]:
        """The token ids of one input."""
        start, end = _span(self.ends, index, index + 1)
        return self.ids[start:end]

    def ids_of(self, index: int) -> list[int]:
        """The token ids of one input, as plain numbers."""
        ids: list[int] = self.row(index).tolist()
        return ids

    def outcome(self, index: int) -> Outcome:
        """One row."""
        if self.status.item(index) != _ENCODED:
            return _not_encoded(self.status.item(index), self.messages.get(index, ""))
        return next(iter(self.part(index, index + 1)))

    @property
    def unsupported(self) -> bool:
        """Whether there is nothing but that the implementation does not do this."""
        return len(self.messages) == len(self) and bool((self.status == _UNSUPPORTED).all())

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Which inputs were answered, with ids or a rejection: such outcomes can be compared."""
        return self.status <= _REJECTED

    def same_as(self, other: Results) -> bool:
        """Whether all outcomes are encodings and equal; the fast path of every comparison."""
        return (
            not self.messages
            and not other.messages
            and np.array_equal(self.ends, other.ends)
            and np.array_equal(self.ids, other.ids)
            and self.text == other.text
            and _equal(self.offsets, other.offsets)
        )

    def differing(self, other: Results) -> list[int]:
        """The rows that may differ: those that are the same encodings are not among them."""
        if self.same_as(other):
            return []
        pairs = enumerate(zip(self._in_bytes(), other._in_bytes(), strict=True))
        return [row for row, (one, another) in pairs if one != another]

    def _in_bytes(self) -> Iterator[tuple[int, bytes, bytes, bytes]]:
        """The status of each input, and its ids, text and offsets as bytes."""
        empty = [b""] * len(self)
        ends, offsets = self.ends * self.ids.itemsize, self.offsets
        ids = Inputs(self.ids.tobytes(), ends)
        spans = empty if offsets is None else Inputs(offsets.tobytes(), ends * SPAN_TO_ID)
        return zip(self.status.tolist(), ids, self.text or empty, spans, strict=True)

    def part(self, first: int, last: int) -> Results:
        """The outcomes of the inputs from ``first`` to before ``last``, as of a batch of those.

        Costs and what a measurement came to are of the whole batch, and left out.
        """
        start, end = _span(self.ends, first, last)
        return Results(
            self.status[first:last],
            self.ids[start:end],
            self.ends[first:last] - start,
            {row - first: self.messages[row] for row in range(first, last) if row in self.messages},
            self.text and self.text.part(first, last),
            None if self.offsets is None else self.offsets[start:end],
        )

    @classmethod
    def all_encoded(cls, ids: NDArray[np.int32], ends: NDArray[np.int64]) -> Results:
        """Results of a batch in which every input was encoded."""
        return cls(np.zeros(len(ends), dtype=np.uint8), ids, ends)

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Results:
        """The columnar form of single outcomes."""
        encoded = [one if isinstance(one, Encoded) else Encoded(()) for one in outcomes]
        texts = [one.text or b"" for one in encoded]
        has_text = any(one.text is not None for one in encoded)
        has_offsets = any(one.offsets is not None for one in encoded)
        spans = [span for one in encoded for span in one.offsets or ()]
        return cls(
            status=np.array([one.status for one in outcomes], dtype=np.uint8),
            ids=np.array([number for one in encoded for number in one.ids], dtype=np.int32),
            ends=_ends([one.ids for one in encoded]),
            messages={
                i: one.message for i, one in enumerate(outcomes) if not isinstance(one, Encoded)
            },
            text=Inputs.of(texts) if has_text else None,
            offsets=np.array(spans, dtype=np.int64).reshape(-1, 2) if has_offsets else None,
        )


def _not_encoded(number: int, message: str) -> Outcome:
    """An outcome that is no encoding, by the number of its status."""
    if number == _REJECTED:
        return Rejected(message)
    return Unsupported(message) if number == _UNSUPPORTED else Failed(Status(number), message)


def _ends(rows: Sequence[Sized]) -> NDArray[np.int64]:
    """Where each row ends in what all of them make."""
    lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
    return np.cumsum(lengths, dtype=np.int64)


def _equal(one: NDArray[np.int64] | None, other: NDArray[np.int64] | None) -> bool:
    """Whether both columns are there and the same, or neither is."""
    return other is None if one is None else other is not None and np.array_equal(one, other)


def _span(ends: NDArray[np.int64], first: int, last: int) -> tuple[int, int]:
    """Where the rows from ``first`` to before ``last`` begin and end in what all rows make."""
    return ends.item(first - 1) if first else 0, ends.item(last - 1) if last else 0
