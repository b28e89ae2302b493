"""What a command left on disk to go on from, read back: checked, every fault one line.

Such a file may have been edited, copied by halves, or made by somebody else. It is read within
limits, and its content is checked against types by msgspec, whose errors carry the path of the
field. It is parsed by Python's own JSON, as texts of others may have lone surrogates, which that of
msgspec refuses.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from corpora.vocabularies.reading import bounded_bytes, fault_of, line_of, open_regular
from harness.core.output import OutputError

T = TypeVar("T")

MAX_BYTES = 64 << 20
"""The greatest size of a file that holds one value. The file of a search of a day has some
megabytes."""

MAX_LINE = 16 << 20
"""Bytes of a line. The longest of a record are findings, whose inputs and outcomes are cut; they
stay below 1 MB."""


def damaged(path: Path, why: str, mend: str = "remove it to start again") -> OutputError:
    """The error to raise for a file that cannot be gone on from."""
    return OutputError(f"{path}: damaged ({why}); {mend}")


def parsed(text: str | bytes) -> Any:
    """A JSON text as plain values. Raises ValueError with one line."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON ({line_of(error)})") from None


def typed(value: object, kind: type[T], at: str = "") -> T:
    """A plain value as one of a type; ``at`` is where it stands. Raises ValueError."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ValueError(fault_of(error, at)) from None
    except RecursionError:
        raise ValueError(f"{at}: values are nested too deeply".lstrip(": ")) from None


def unzipped(packed: bytes, most: int) -> bytes:
    """What was compressed, of at most so many bytes. Raises ValueError."""
    try:
        unpacking = zlib.decompressobj()
        content = unpacking.decompress(packed, most)
    except zlib.error as error:
        raise ValueError(f"is corrupt ({error})") from None
    if not unpacking.eof:
        raise ValueError(f"is cut off, or has more than {most:,} bytes")
    return content


def read(path: Path) -> bytes:
    """The content of a file. Raises OSError."""
    return bounded_bytes(path, MAX_BYTES)


def lines(
    path: Path, fault: Callable[[Path, str], Exception] = damaged
) -> Iterator[tuple[int, str]]:
    """The whole lines of a file with their numbers.

    What follows the last line's end was cut off by a kill, and is passed over. fault: makes the
    error to raise for a line that cannot be read. Raises OSError besides.
    """
    with open_regular(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE + 1), b""), 1):
            if len(line) > MAX_LINE:
                raise fault(path, f"line {number}: has more than {MAX_LINE:,} bytes")
            if not line.endswith(b"\n"):
                return
            try:
                yield number, line.decode().rstrip("\r\n")
            except UnicodeDecodeError:
                raise fault(path, f"line {number}: is not UTF-8") from None
