"""The user's texts as one stream: in order or sampled, each once, in constant memory."""

from __future__ import annotations

import hashlib
import random
from array import array
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from corpora.generators.material import is_text
from corpora.texts.documents import (
    MAX_DOCUMENT_BYTES,
    Document,
    Fault,
    Record,
    TextsError,
    pieces,
)
from corpora.texts.fields import records
from corpora.texts.sources import Source, resolve
from corpora.texts.unpacking import BUFFER, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

PART_BYTES = 1 << 20
"""A sample takes files in parts of so many bytes, in the order that the seed decides: as small as
is read at once, so that little of a large file is a sample of all of it."""

SLOTS = 1 << 22
"""Hashes of documents that are remembered at the most: 32 MiB. Past about so many documents some of
those that come again are taken for new; a new one is never taken for one that was seen."""

FAULTS_KEPT = 5
"""Records that cannot be read, of which the place is kept; all are counted."""


class Seen:
    """Which documents were seen, by 64-bit hashes in a table that never grows.

    A hash has one slot, and takes it from the one that was there, so that memory is constant and
    what was seen last is remembered best.
    """

    def __init__(self, slots: int = SLOTS) -> None:
        self._mask = slots - 1
        assert slots & self._mask == 0, "a power of two"
        self._slots = array("Q", bytes(8 * slots))

    def add(self, data: bytes) -> bool:
        """Remember a document; whether it was seen before."""
        digest = hashlib.blake2b(data, digest_size=8).digest()
        known = int.from_bytes(digest, "little") | 1  # 0 is an empty slot
        slot = (known >> 1) & self._mask
        if self._slots[slot] == known:
            return True
        self._slots[slot] = known
        return False


@dataclass(slots=True)
class Reading:
    """What one pass over the texts has come to so far.

    documents, bytes: handed on. read: bytes on disk that were gone through. duplicates: passed
    over. cut: documents longer than :data:`MAX_DOCUMENT_BYTES`, which are handed on in pieces.
    not_utf8: documents that are no UTF-8, handed on as they are. unreadable: records, or files;
    faults: the first of them, a line each. whole: nothing is left to read.
    """

    documents: int = 0
    bytes: int = 0
    read: int = 0
    duplicates: int = 0
    cut: int = 0
    not_utf8: int = 0
    unreadable: int = 0
    faults: list[str] = field(default_factory=list)
    whole: bool = False

    def fault(self, line: str) -> None:
        """Take note of what cannot be read."""
        self.unreadable += 1
        if len(self.faults) < FAULTS_KEPT:
            self.faults.append(line)


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file from ``start`` on up to the line that reaches ``end``; None: all of it."""

    source: Source
    start: int = 0
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """The texts that a user gave. given: as after ``--input``."""

    given: tuple[str, ...]
    sources: tuple[Source, ...]

    @classmethod
    def of(cls, given: Sequence[str], stdin: IO[bytes] | None = None) -> Corpus:
        """The corpus of what was given after ``--input``.

        The first record of the first file that each one names is read, so that a wrong field shows
        before anything starts. Raises TextsError.
        """
        every: dict[str, Source] = {}
        for one in dict.fromkeys(given):
            found = resolve(one, stdin)
            first = next(records_of(Part(found[0])), None)
            if isinstance(first, Fault):
                raise TextsError(f"{found[0].place(first.number)}: {first.error}")
            if first is None and not any(next(records_of(Part(rest)), None) for rest in found[1:]):
                raise TextsError(f"{one}: has no text in it; name a file with texts")
            every |= {source.name: source for source in found}
        return cls(tuple(given), tuple(every.values()))

    @property
    def size(self) -> int | None:
        """Bytes on disk, packed as they are; None where some source does not say."""
        sizes = [source.size for source in self.sources]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def documents(self, seed: int | None, reading: Reading | None = None) -> Iterator[Document]:
        """Each document once, in order, or, for a ``seed``, in parts in the order that it decides.

        reading: is kept up to date as documents are handed on. A file that cannot be read to its
        end, and a record that cannot be read, is noted there, and the others are read.
        """
        seen, reading = Seen(), Reading() if reading is None else reading
        for part in ordered(self.sources, seed):
            try:
                yield from self._of(part, seen, reading)
            except TextsError as error:
                reading.fault(str(error))
            reading.read += (part.end or part.source.size or 0) - part.start
        reading.whole = True

    def _of(self, part: Part, seen: Seen, reading: Reading) -> Iterator[Document]:
        for record in records_of(part):
            if isinstance(record, Fault):
                reading.fault(f"{place_of(part, record.number)}: {record.error}")
                continue
            if not record.data:
                continue
            if seen.add(record.data):
                reading.duplicates += 1
                continue
            if not record.data.isascii() and not is_text(record.data):
                reading.not_utf8 += 1
            reading.documents += 1
            reading.bytes += len(record.data)
            if len(record.data) <= MAX_DOCUMENT_BYTES:
                yield Document(record.data, partial(place_of, part, record.number))
                continue
            reading.cut += 1
            start = 0
            for piece in pieces(record.data):
                yield Document(piece, partial(place_of, part, record.number, start))
                start += len(piece)


def ordered(sources: Sequence[Source], seed: int | None) -> Iterator[Part]:
    """The parts that are read one after another.

    Without a seed files are read one after another from their beginnings. With one, files that can
    be entered anywhere are cut into parts, and all parts are put in an order that the seed decides;
    packed files and tables are one part each.
    """
    if seed is None:
        yield from (Part(source) for source in sources)
        return
    parts: list[Part] = []
    for source in sources:
        if source.splittable and source.size is not None and source.size > PART_BYTES:
            starts = range(0, source.size, PART_BYTES)
            ends = [*starts[1:], source.size]
            parts += [Part(source, start, end) for start, end in zip(starts, ends, strict=True)]
        else:
            parts.append(Part(source))
    if len(parts) > 1:
        random.Random(f"texts/{seed}").shuffle(parts)
    yield from parts


def records_of(part: Part) -> Iterator[Record | Fault]:
    """The records of a part, numbered from its beginning. Raises TextsError."""
    source = part.source
    if source.format is None or source.path is None:
        yield from records(source.rows(), source.field)
        return
    with unpacked(source.path) as stream:
        # A window has of a file what formats ask that can be entered at any line.
        within: Any = stream if part.end is None else Window(stream, part.start, part.end)
        yield from records(source.format(within, source.field), source.field)


class Window:
    """Lines of a file that begin inside a part of it."""

    def __init__(self, stream: IO[bytes], start: int, end: int) -> None:
        self._stream, self._end = stream, end
        self._at = start
        if start:
            # The line that reaches into this part belongs to the one before; as the byte before
            # the part may end a line, reading begins there.
            stream.seek(start - 1)
            self._at += len(stream.readline()) - 1

    def readline(self, size: int = -1) -> bytes:
        """The next line, as of a file."""
        if self._at >= self._end:
            return b""
        line = self._stream.readline(size)
        self._at += len(line)
        return line


def place_of(part: Part, number: int, start: int = 0) -> str:
    """The place of a record, or of a piece of it; lines before the part are counted now."""
    if part.start and part.source.path is not None:
        number += lines_before(part)
    place = part.source.place(number)
    return f"{place} (from byte {start:,} on)" if start else place


def lines_before(part: Part) -> int:
    """Lines of a file that begin before a part of it. Raises TextsError."""
    assert part.source.path is not None
    count, left = 0, part.start - 1
    with unpacked(part.source.path) as stream:
        while left > 0 and (block := stream.read(min(left, BUFFER))):
            count += block.count(b"\n")
            left -= len(block)
    return count + 1
