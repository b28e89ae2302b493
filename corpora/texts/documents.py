"""What a document of the user's texts is, where it stands, and what is wrong with a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from corpora.errors import UserError

MAX_DOCUMENT_BYTES = 1 << 20
"""Bytes of one document. Longer ones are cut: a library that is a hundred times slower than the
fast ones takes about a second for so much, and an answer within the limit of a request is owed."""


class TextsError(UserError, ValueError):
    """Texts cannot be read: ``str(error)`` is one line with the file, the fault and the mend."""


class RecordError(ValueError):
    """One record cannot be read: ``str(error)`` says why, and what to do; others are not hurt.

    number: of the record, where the error ends the reading of a file.
    """

    def __init__(self, message: str, number: int = 1) -> None:
        super().__init__(message)
        self.number = number


class Record(NamedTuple):
    """One text as it was read: its bytes, and its number in what was being read, from 1 on.

    A tuple, as are documents: there are millions, and a frozen dataclass takes twice the time.
    """

    data: bytes
    number: int


@dataclass(frozen=True, slots=True)
class Fault:
    """What stands in place of a record that cannot be read."""

    number: int
    error: RecordError


class Document(NamedTuple):
    """One text and the place that it came from.

    place: tells the file and the line, for a message. It is a function, as counting the lines
    before a place in the middle of a file takes a while, and hardly any document needs it.
    """

    data: bytes
    place: Callable[[], str]


def pieces(data: bytes, most: int = MAX_DOCUMENT_BYTES) -> list[bytes]:
    """A document in pieces of at most ``most`` bytes, cut after a line or else a character."""
    if len(data) <= most:
        return [data]
    cut: list[bytes] = []
    start = 0
    while len(data) - start > most:
        end = data.rfind(b"\n", start, start + most) + 1
        if end <= start:
            end = start + most
            # Not inside a character: its bytes after the first are 10xxxxxx, three at the most.
            for back in range(min(4, most)):
                if data[end - back] & 0xC0 != 0x80:
                    end -= back
                    break
        cut.append(data[start:end])
        start = end
    cut.append(data[start:])
    return cut
