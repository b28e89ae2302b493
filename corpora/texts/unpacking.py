"""Files as streams of bytes, unpacked where their first bytes say that they are packed."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from backports import zstd

from corpora.texts.documents import RecordError, TextsError
from corpora.vocabularies.reading import GZIP_MAGIC, line_of, open_regular

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

WINDOW: Mapping[int, int] = {zstd.DecompressionParameter.window_log_max: 27}
"""How many bytes a Zstandard file may have the reader remember, by the exponent: what its own tool
allows unless told otherwise (``--long=27``)."""

BUFFER = 1 << 20
"""Bytes read at once."""

WIDE = {
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
"""Encodings by the byte order marks with which their files begin: the longest first."""

MAX_LINE = 256 << 20
"""Bytes of a line, a paragraph or a record, which is in memory whole. Longer ones are no text."""


def packed_as(path: Path) -> str:
    """How a file is packed: ``gzip``, ``zstd``, or nothing. Raises OSError."""
    with open_regular(path) as file:
        magic = file.read(4)
    if magic.startswith(GZIP_MAGIC):
        return "gzip"
    return "zstd" if magic == ZSTD_MAGIC else ""


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked if it is gzip or Zstandard by its first bytes.

    Raises TextsError for a file that cannot be read, for one that is damaged, and for one that says
    by its first bytes that it is of another encoding than UTF-8.
    """
    try:
        how = packed_as(path)
        with open_regular(path) as file:
            stream = file
            if how == "gzip":
                stream = io.BufferedReader(gzip.GzipFile(fileobj=file), BUFFER)
            elif how == "zstd":
                stream = io.BufferedReader(zstd.ZstdFile(file, options=WINDOW), BUFFER)
            wide = _wide(stream)
            if wide:
                raise TextsError(
                    f"{path}: is {wide}, and would be read as other text; make it UTF-8, such as "
                    f"by iconv -f {wide} -t UTF-8"
                )
            yield stream
    except FileNotFoundError:
        raise TextsError(f"{path}: no such file; check the path") from None
    except (EOFError, zlib.error, gzip.BadGzipFile, zstd.ZstdError) as error:
        raise TextsError(
            f"{path}: is damaged, or cut short ({line_of(error)}); copy it again"
        ) from None
    except OSError as error:
        raise TextsError(
            f"{path}: cannot be read ({line_of(error)}); check the path and its permissions"
        ) from None


def _wide(stream: IO[bytes]) -> str:
    """The encoding of two or four bytes a character that a stream says it is of, or nothing."""
    if not isinstance(stream, io.BufferedReader):
        return ""
    begins = stream.peek(4)[:4]
    return next((name for mark, name in WIDE.items() if begins.startswith(mark)), "")


def lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Lines with their numbers and ends. Raises RecordError for one longer than MAX_LINE."""
    number = 1
    while line := stream.readline(MAX_LINE + 1):
        if len(line) > MAX_LINE:
            what = f"is longer than {MAX_LINE:,} bytes; this is no text of lines"
            raise RecordError(what, number)
        yield number, line
        number += 1
