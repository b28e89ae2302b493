"""What passes between the harness and a worker, byte by byte.

The worker is not trusted: an implementation inside it may write to any descriptor. So what comes
from it is plain columns, never anything that runs code when it is read. A message of the worker::

    magic      4 bytes   b"tkg1"
    header     u32       bytes of the header, at most HEADER_LIMIT
    body       u64       bytes of the body, at most BODY_LIMIT
    checksum   u32       CRC-32 of header and body
    header     JSON: the sequence number, the kind, and the length of each column
    body       the columns, one after another, little-endian

What is wrong with a message, and where it is noticed:

1. The magic differs, or a length is beyond its limit: garbage on the descriptor
   (:func:`lengths_of`).
2. The checksum differs: a message that was cut off or written over (:func:`unpacked`).
3. The header is no JSON object, or its columns do not fill the body (:func:`unpacked`).
4. The sequence number is not the request's: an answer was given twice, or out of turn
   (:func:`response_of`).
5. The number of outcomes is not the request's, a status is unknown, ends go backwards
   (:func:`results_of`).

Each of them is a :class:`Garbled`, which the harness reports as a breach of the protocol by that
implementation. Requests go the other way as pickles: the worker trusts the harness.
"""

from __future__ import annotations

import json
import pickle
import struct
import zlib
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.vocabularies.reading import LONGEST_QUOTE, quoted
from harness.core.messages import Loaded
from harness.core.outcomes import Results, Spent, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    Read = Callable[[int], bytes]

MAGIC = b"tkg1"
PREFIX = struct.Struct("<4sIQI")
REQUEST_PREFIX = struct.Struct("<QQ")

HEADER_LIMIT = 64 << 20
"""Bytes of a header. It holds the messages of failures, which may be many and long."""

BODY_LIMIT = 2 << 30
"""Bytes of a body: no batch of inputs has so many ids."""

BODY_BESIDE, BODY_PER_BYTE = 64 << 20, 256
"""Bytes of a body whatever was asked, and for each byte of the request. An id with its offsets has
20 bytes, and the longest token of a large vocabulary some hundreds for an id of four."""

MESSAGE_LIMIT = 128 << 10
"""Characters of one message of a failure that travel: the end of a log has 64 KiB."""

COLUMNS: dict[str, str] = {
    "status": "<u1",
    "ids": "<i4",
    "ends": "<i8",
    "text": "<u1",
    "text_ends": "<i8",
    "offsets": "<i8",
    "costs": "<i8",
}
"""The columns of results, with their types, in the order in which they travel."""


UNREADABLE = (MemoryError, OverflowError, RecursionError, ValueError, TypeError, KeyError)
"""Parsing a hostile answer may raise any of these, whatever was looked at before."""


class Garbled(Exception):
    """What a worker wrote is no answer to the request; one line says why."""


# The side of the worker.


def packed_results(sequence: int, results: Results) -> bytes:
    """The message of results."""
    arrays: dict[str, np.ndarray[Any, Any] | None] = {
        "status": results.status,
        "ids": results.ids,
        "ends": results.ends,
        "text": np.frombuffer(results.text, dtype=np.uint8),
        "text_ends": results.text_ends,
        "offsets": None if results.offsets is None else results.offsets.reshape(-1),
        "costs": None if results.costs is None else results.costs.reshape(-1),
    }
    body: list[bytes] = []
    lengths: dict[str, int] = {}
    for name, kind in COLUMNS.items():
        column = arrays[name]
        if column is not None:
            body.append(np.ascontiguousarray(column, dtype=kind).tobytes())
            lengths[name] = len(column)
    header: dict[str, Any] = {
        "seq": sequence,
        "kind": "results",
        "columns": lengths,
        "messages": [[row, text[:MESSAGE_LIMIT]] for row, text in results.messages.items()],
    }
    if results.costs is not None:
        header["width"] = results.costs.shape[1]
    if results.timed is not None:
        header["timed"] = [getattr(results.timed, one.name) for one in fields(Spent)]
    return _packed(header, b"".join(body))


def packed_loaded(sequence: int, loaded: Loaded) -> bytes:
    """The message of what became of a vocabulary."""
    error = None if loaded.error is None else loaded.error[:MESSAGE_LIMIT]
    header = {"seq": sequence, "kind": "loaded", "error": error, "is": loaded.kind}
    return _packed({**header, "confined": loaded.confined, "spent": loaded.spent}, b"")


def _packed(header: dict[str, Any], body: bytes) -> bytes:
    head = json.dumps(header).encode("ascii")
    checksum = zlib.crc32(body, zlib.crc32(head))
    return PREFIX.pack(MAGIC, len(head), len(body), checksum) + head + body


def read_request(read: Read) -> tuple[int, Any] | None:
    """The next request, of whatever type, with its number; None where the pipe was closed."""
    prefix = read(REQUEST_PREFIX.size)
    if len(prefix) < REQUEST_PREFIX.size:
        return None
    sequence, size = REQUEST_PREFIX.unpack(prefix)
    body = read(size)
    if len(body) < size:
        return None
    return sequence, pickle.loads(body)


# The side of the harness.


def packed_request(sequence: int, request: object) -> bytes:
    """The message of a request."""
    body = pickle.dumps(request, protocol=pickle.HIGHEST_PROTOCOL)
    return REQUEST_PREFIX.pack(sequence, len(body)) + body


def largest_body(asked: int) -> int:
    """Return the bytes that the body of an answer may have, by those of the request."""
    return min(BODY_LIMIT, BODY_BESIDE + BODY_PER_BYTE * asked)


def lengths_of(prefix: bytes | bytearray, largest: int = BODY_LIMIT) -> tuple[int, int, int]:
    """The bytes of the header and of the body that follow, and their checksum. Raises Garbled.

    largest: bytes that the body may have; see :func:`largest_body`.
    """
    magic, header, body, checksum = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise Garbled(f"something else wrote to its answers: they begin with {bytes(prefix[:8])!r}")
    if header > HEADER_LIMIT or body > largest:
        raise Garbled(f"its answer claims {header + body:,} bytes, more than an answer may have")
    return header, body, checksum


def unpacked(head: bytes | bytearray, body: bytes | bytearray, checksum: int) -> dict[str, Any]:
    """The header of a message, with its columns in place of their lengths. Raises Garbled."""
    if zlib.crc32(body, zlib.crc32(head)) != checksum:
        raise Garbled("its answer was written over, or cut off: the checksum differs")
    try:
        header = json.loads(head)
    except UNREADABLE as error:
        raise Garbled("its answer has a header that is no JSON") from error
    try:
        return _with_columns(header, body)
    except UNREADABLE as error:
        raise Garbled("its answer has columns that cannot be read") from error


def _with_columns(header: object, body: bytes | bytearray) -> dict[str, Any]:
    """Return a header with its columns in place of their lengths. Raises Garbled."""
    if not isinstance(header, dict):
        raise Garbled("its answer has a header that is no object")
    lengths = header.get("columns", {})
    if not isinstance(lengths, dict):
        raise Garbled("its answer has columns without names")
    columns: dict[str, np.ndarray[Any, Any]] = {}
    content = memoryview(body).toreadonly()
    start = 0
    for name, kind in COLUMNS.items():
        if name not in lengths:
            continue
        count = lengths[name]
        size = np.dtype(kind).itemsize
        if not _is_count(count) or start + count * size > len(body):
            raise Garbled(f"its answer has a column {name!r} that does not fit")
        columns[name] = np.frombuffer(content, dtype=kind, count=count, offset=start)
        start += count * size
    if start != len(body):
        raise Garbled("its answer has more bytes than columns")
    return {**header, "columns": columns}


def response_of(message: dict[str, Any], sequence: int, count: int) -> Loaded | Results:
    """The answer to request number ``sequence``, which asked for ``count`` outcomes.

    Raises Garbled where it is another's answer, or has another number of outcomes.
    """
    if message.get("seq") != sequence:
        raise Garbled(f"answered request {sequence} with an answer to {quoted(message.get('seq'))}")
    kind = message.get("kind")
    if kind == "loaded":
        error, label, confined = (message.get(name) for name in ("error", "is", "confined"))
        if not (error is None or isinstance(error, str)) or not isinstance(label, str):
            raise Garbled("its answer to a vocabulary has no text")
        error = None if error is None else error[:MESSAGE_LIMIT]
        short = confined[:MESSAGE_LIMIT] if isinstance(confined, str) else ""
        spent: Any = message.get("spent")
        return Loaded(error, label[:LONGEST_QUOTE], short, spent if _is_count(spent) else 0)
    if kind != "results":
        raise Garbled(f"its answer is of no kind that there is: {quoted(kind)}")
    try:
        return results_of(message, count)
    except UNREADABLE as error:
        raise Garbled("its answer has results that cannot be read") from error


def results_of(message: dict[str, Any], count: int) -> Results:
    """Results whose every column was looked at. Raises Garbled."""
    columns = message["columns"]
    status, ids, ends = (columns.get(name) for name in ("status", "ids", "ends"))
    if status is None or ids is None or ends is None:
        raise Garbled("its answer lacks a column")
    if len(status) != count or len(ends) != count:
        raise Garbled(f"gave {len(status)} outcomes for {count} inputs")
    if count and int(status.max()) > max(Status):
        raise Garbled(f"gave an outcome of no kind that there is: {int(status.max())}")
    _in_order("ends", ends, len(ids))
    text, text_ends = columns.get("text"), columns.get("text_ends")
    if text_ends is not None:
        if len(text_ends) != count or text is None:
            raise Garbled("gave texts for another number of inputs")
        _in_order("text_ends", text_ends, len(text))
    offsets = columns.get("offsets")
    if offsets is not None and len(offsets) != 2 * len(ids):
        raise Garbled("gave offsets for another number of ids")
    costs, width = columns.get("costs"), message.get("width", 1)
    if not _is_count(width) or width == 0:
        raise Garbled("gave costs of no width")
    # A width beside no costs at all could be any number, also one that no array has.
    if costs is not None and (len(costs) == 0 or len(costs) != count * width):
        raise Garbled("gave costs for another number of inputs")
    return Results(
        status=status,
        ids=ids,
        ends=ends,
        messages=_messages(message.get("messages"), count),
        text=b"" if text is None else text.tobytes(),
        text_ends=text_ends,
        offsets=None if offsets is None else offsets.reshape(-1, 2),
        costs=None if costs is None else costs.reshape(-1, width),
        timed=_spent(message.get("timed")),
    )


def _in_order(name: str, ends: np.ndarray[Any, Any], last: int) -> None:
    """Ends must not go backwards, and must come to the last entry of what they cut."""
    if len(ends) == 0:
        return
    if int(ends[0]) < 0 or int(ends[-1]) > last or bool(np.any(np.diff(ends) < 0)):
        raise Garbled(f"gave {name} that go backwards or too far")


def _messages(rows: object, count: int) -> dict[int, str]:
    if not isinstance(rows, list):
        raise Garbled("its answer has no messages")
    found: dict[int, str] = {}
    for row in rows:
        if not isinstance(row, list) or len(row) != 2:
            raise Garbled("its answer has a message that is none")
        place, text = row
        if not _is_count(place) or place >= count or not isinstance(text, str):
            raise Garbled("its answer has a message that is none")
        found[place] = text[:MESSAGE_LIMIT]
    return found


def _spent(numbers: object) -> Spent | None:
    if numbers is None:
        return None
    if not isinstance(numbers, list) or len(numbers) != len(fields(Spent)):
        raise Garbled("its answer has times that are none")
    cpu, wall, passes, elsewhere = numbers
    if not all(map(_is_count, (cpu, wall, passes))):
        raise Garbled("its answer has times that are none")
    if not (elsewhere is None or _is_count(elsewhere)):
        raise Garbled("its answer has times that are none")
    return Spent(cpu, wall, passes, elsewhere)


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0
