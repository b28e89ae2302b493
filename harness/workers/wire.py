"""What passes between the harness and its processes, byte by byte.

A process is not trusted: an implementation, or a library, in it may write to any descriptor. So
what comes from it is plain data, checked against its type on arrival, and nothing is run when it
is read. A message of a process::

    magic      4 bytes   b"tkg3"
    length     u64       bytes of the content
    checksum   u32       CRC-32 of the content
    content    MessagePack: the number of the request, and the answer

An answer is :class:`~harness.core.outcomes.Results` with the bytes of each column, or any other
type as JSON in ASCII (MessagePack has no names of files with lone surrogates), or null as a sign of
life. What is wrong with a message, and where it is noticed:

1. The magic differs, or the length is beyond its limit: garbage on the descriptor
   (:func:`length_of`).
2. The checksum differs: a message that was cut off or written over (:func:`unpacked`).
3. The content is of no type that there is (:func:`unpacked`).
4. The sequence number is not the request's: an answer was given twice, or out of turn
   (:func:`answer_of`).
5. The answer is of another type than the request's, or a sign of life where none is given
   (:func:`answer_of`); or it has another number of outcomes, an unknown status, ends that go
   backwards (:func:`checked`).

Each of them is a :class:`Garbled`. Requests go the other way as pickles: a process trusts the
harness.
"""

from __future__ import annotations

import json
import pickle
import struct
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import msgspec
import numpy as np

from corpora.vocabularies.reading import fault_of
from harness.core.messages import Loaded
from harness.core.outcomes import Results, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Read = Callable[[int], bytes]

T = TypeVar("T")

MAGIC = b"tkg3"
PREFIX = struct.Struct("<4sQI")
REQUEST_PREFIX = struct.Struct("<QQ")

LIMIT = 2 << 30
"""Bytes of an answer: no batch of inputs has so many ids."""

BESIDE, PER_BYTE = 64 << 20, 256
"""Bytes of an answer whatever was asked, and for each byte of the request. An id with its offsets
has 20 bytes, and the longest token of a large vocabulary some hundreds for an id of four."""

MESSAGE_LIMIT = 128 << 10
"""Characters of one message of a failure that travel: the end of a log has 64 KiB."""

WITHOUT_SIGNS = (Loaded, Results)
"""Answers before which no sign of life is given: one who gave signs for ever would never be late.
"""

UNREADABLE = (MemoryError, OverflowError, RecursionError, ValueError, TypeError, KeyError)
"""Reading a hostile answer may raise any of these, whatever was looked at before."""

Body = Results | bytes | None
"""The content of a message: results, an answer of any other type as JSON, or a sign of life."""


class Garbled(Exception):
    """What a process wrote is no answer to the request; one line says why."""


def _column(kind: Any, content: Any) -> NDArray[Any]:
    """A column of results, whose type has that of its numbers."""
    return np.frombuffer(content, get_args(get_args(kind)[1])[0])


_ENCODER = msgspec.msgpack.Encoder(enc_hook=lambda column: column.tobytes())
_DECODER = msgspec.msgpack.Decoder(tuple[int, Body], dec_hook=_column)


# The side of the process.


def packed_answer(sequence: int, answer: object) -> bytes:
    """The message of an answer: of results, or of dataclasses and builtins; None is a sign of life.

    Raises TypeError.
    """
    body: Body = None
    if isinstance(answer, Results):
        said = answer.messages.items()
        plain = {row: text.encode(errors="backslashreplace").decode() for row, text in said}
        body = replace(answer, messages=plain)
    elif answer is not None:
        body = json.dumps(msgspec.to_builtins(answer)).encode("ascii")
    return framed(_ENCODER.encode((sequence, body)))


def framed(content: bytes) -> bytes:
    """The message of a content."""
    return PREFIX.pack(MAGIC, len(content), zlib.crc32(content)) + content


def read_request(read: Read) -> tuple[int, Any] | None:
    """The next request, of whatever type, with its number; None where the pipe was closed."""
    prefix = read(REQUEST_PREFIX.size)
    if len(prefix) < REQUEST_PREFIX.size:
        return None
    sequence, size = REQUEST_PREFIX.unpack(prefix)
    body = read(size)
    return (sequence, pickle.loads(body)) if len(body) == size else None


# The side of the harness.


def packed_request(sequence: int, request: object) -> bytes:
    """The message of a request."""
    body = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
    return REQUEST_PREFIX.pack(sequence, len(body)) + body


def largest(asked: int) -> int:
    """The bytes that an answer may have, by those of the request."""
    return min(LIMIT, BESIDE + PER_BYTE * asked)


def length_of(prefix: bytes | bytearray, most: int = LIMIT) -> int:
    """The bytes of the content after a prefix, at most ``most``. Raises Garbled."""
    magic, length, _ = PREFIX.unpack_from(prefix)
    if magic != MAGIC:
        raise Garbled(f"something else wrote to its answers: they begin with {bytes(prefix[:8])!r}")
    if not 0 < length <= most:
        raise Garbled(f"its answer claims {length:,} bytes, more than an answer may have")
    return int(length)


def unpacked(message: bytes | bytearray) -> tuple[int, Body]:
    """A whole message, prefix and all: the number of its request, and the body. Raises Garbled."""
    content = memoryview(message)[PREFIX.size :]
    if zlib.crc32(content) != PREFIX.unpack_from(message)[2]:
        raise Garbled("its answer was overwritten or cut off: the checksum differs")
    try:
        found: tuple[int, Body] = _DECODER.decode(content)
    except msgspec.ValidationError as error:
        raise Garbled(f"its answer is none: {fault_of(error)}") from error
    except UNREADABLE as error:
        raise Garbled("its answer is no MessagePack") from error
    return found


def answer_of(message: tuple[int, Body], sequence: int, kind: type[T], count: int) -> T | None:
    """The answer to request number ``sequence``, of a type; of results, with ``count`` outcomes.

    None for a sign of life. Raises Garbled, also where it is the answer to another request.
    """
    answered, body = message
    if answered != sequence:
        raise Garbled(f"answered request {sequence} with an answer to {answered}")
    if body is None and kind not in WITHOUT_SIGNS:
        return None
    if isinstance(body, Results) and kind is Results:
        return checked(body, count)  # type: ignore[return-value]
    if not isinstance(body, bytes) or kind is Results:
        raise Garbled("its answer is to another kind of request")
    try:
        return msgspec.convert(json.loads(body), kind)
    except msgspec.ValidationError as error:
        raise Garbled(f"its answer is of another kind: {fault_of(error)}") from error
    except UNREADABLE as error:
        raise Garbled("its answer is of another kind, and cannot be read") from error


def checked(sent: Results, count: int) -> Results:
    """Results whose every column was looked at, in the shape that each has. Raises Garbled."""
    status, ids, offsets, costs = sent.status, sent.ids, sent.offsets, sent.costs
    if len(status) != count or len(sent.ends) != count:
        raise Garbled(f"gave {len(status)} outcomes for {count} inputs")
    if count and int(status.max()) > max(Status):
        raise Garbled(f"gave an outcome of an unknown kind: {int(status.max())}")
    _in_order("ends", sent.ends, len(ids))
    if sent.text is not None:
        if len(sent.text) != count:
            raise Garbled("gave texts for another number of inputs")
        _in_order("ends of texts", sent.text.ends, len(sent.text.data))
    if offsets is not None and len(offsets) != 2 * len(ids):
        raise Garbled("gave offsets for another number of ids")
    if costs is not None and (not len(costs) or len(costs) % max(count, 1)):
        raise Garbled("gave costs for another number of inputs")
    if any(not 0 <= row < count for row in sent.messages):
        raise Garbled("gave a message for no input")
    return replace(
        sent,
        messages={row: text[:MESSAGE_LIMIT] for row, text in sent.messages.items()},
        offsets=None if offsets is None else offsets.reshape(-1, 2),
        costs=None if costs is None else costs.reshape(count, -1),
    )


def _in_order(name: str, ends: NDArray[np.int64], last: int) -> None:
    """Ends must not go backwards, and must not go beyond what they cut."""
    if len(ends) and (int(ends[0]) < 0 or int(ends[-1]) > last or bool(np.any(np.diff(ends) < 0))):
        raise Garbled(f"gave {name} that go backwards or too far")
