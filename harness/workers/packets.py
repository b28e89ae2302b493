"""What processes of the harness answer in which libraries run, besides the workers themselves.

Those that make inputs (:mod:`harness.studies.fuzz.helper`) and those that walk grammars
(:mod:`harness.studies.forced.pool`) are no more to be trusted than a worker: a library may write to
any of their descriptors. Their answers are of many types, and few; so they are JSON, checked
against the type of the answer, and nothing is run when it is read. A message::

    magic      4 bytes   b"tkh1"
    length     u32       bytes of what follows, at most LIMIT
    checksum   u32       CRC-32 of it
    content    JSON, ASCII: an object with the fields of Message

JSON and not MessagePack, as names of files may have lone surrogates, which only Python's own JSON
takes. What is wrong is :class:`harness.workers.wire.Garbled`, which is the end of that process.
Requests go the other way as those of workers do.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from typing import Any, Literal, TypeVar

import msgspec

from corpora.vocabularies.reading import fault_of
from harness.workers.wire import UNREADABLE, Garbled

T = TypeVar("T")

MAGIC = b"tkh1"
PREFIX = struct.Struct("<4sII")

LIMIT = 16 << 20
"""Bytes of an answer: as many as a line of a record may have. The largest are batches of inputs,
of some hundred kilobytes."""

CHUNK = 1 << 18

Kind = Literal["ready", "alive", "failed", "done"]


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One message. seq: of the request that it is about.

    kind: ``ready`` for the next request, ``alive``, ``failed``, or ``done`` with the answer.
    line: why it failed; supported: False where that is no fault, but not for it.
    """

    seq: int
    kind: Kind
    answer: Any = None
    line: str = ""
    supported: bool = True


def packed(message: Message) -> bytes:
    """The bytes of a message. Raises TypeError for an answer that is no plain data."""
    content = json.dumps(msgspec.to_builtins(message)).encode("ascii")
    return PREFIX.pack(MAGIC, len(content), zlib.crc32(content)) + content


def unpacked(content: bytes, checksum: int) -> Message:
    """The message of what followed the prefix. Raises Garbled."""
    if zlib.crc32(content) != checksum:
        raise Garbled("its answer was written over, or cut off: the checksum differs")
    try:
        return msgspec.convert(json.loads(content), Message)
    except msgspec.ValidationError as error:
        raise Garbled(f"its answer is none: {fault_of(error)}") from error
    except UNREADABLE as error:
        raise Garbled("its answer is no JSON") from error


def answer_of(message: Message, seq: int, kind: type[T]) -> T:
    """The answer to a request, of a type. Raises Garbled, also for the answer to another one."""
    if message.seq != seq:
        raise Garbled(f"answered request {seq} with an answer to {message.seq}")
    try:
        return msgspec.convert(message.answer, kind)
    except msgspec.ValidationError as error:
        raise Garbled(f"its answer is of another kind: {fault_of(error)}") from error
    except UNREADABLE as error:
        raise Garbled("its answer is of another kind, and cannot be read") from error


class Inbox:
    """The messages that come from a descriptor. It is read without waiting, and not too far."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)
        self._held = bytearray()

    def next(self) -> Message | None:
        """The next message, None where it is not there yet. Raises EOFError, Garbled."""
        while True:
            wanted = self._wanted()
            if len(self._held) >= wanted > PREFIX.size:
                return self._taken(wanted)
            try:
                part = os.read(self.descriptor, min(CHUNK, wanted - len(self._held)))
            except BlockingIOError:
                return None
            if not part:
                raise EOFError
            self._held += part

    def _wanted(self) -> int:
        """How many bytes the message at hand has, as far as is known."""
        if len(self._held) < PREFIX.size:
            return PREFIX.size
        magic, length, _ = PREFIX.unpack_from(self._held)
        if magic != MAGIC:
            raise Garbled(
                f"something else wrote to its answers: they begin with {bytes(self._held[:8])!r}"
            )
        if not 0 < length <= LIMIT:
            raise Garbled(f"its answer claims {length:,} bytes, which no answer has")
        return PREFIX.size + int(length)

    def _taken(self, size: int) -> Message:
        checksum = PREFIX.unpack_from(self._held)[2]
        content = bytes(self._held[PREFIX.size : size])
        del self._held[:size]
        return unpacked(content, checksum)


class Outbox:
    """What is on its way to a descriptor. It is written as far as it goes without waiting."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        os.set_blocking(descriptor, False)
        self._left = memoryview(b"")

    @property
    def full(self) -> bool:
        """Whether there is something left to be written."""
        return bool(self._left)

    def put(self, data: bytes) -> None:
        """Add something to be written; see :meth:`flush`."""
        self._left = memoryview(bytes(self._left) + data)
        self.flush()

    def flush(self) -> None:
        """Write what goes without waiting. Where nobody reads any more, all of it is dropped."""
        try:
            while self._left:
                self._left = self._left[os.write(self.descriptor, self._left[:CHUNK]) :]
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            self._left = memoryview(b"")
