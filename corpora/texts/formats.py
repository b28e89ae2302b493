"""Formats of texts: streams of records, never a whole file in memory but where it says so.

Each function takes a stream of bytes and yields what :func:`corpora.texts.fields.records` takes,
numbered as the format's own tools would: text and JSONL by line, CSV by the line that a row begins
on, JSON by record. Whatever is wrong with one record stands instead of it, and the next one is
read; a RecordError that is raised ends the file.
"""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING, Any

from corpora.texts.documents import RecordError
from corpora.texts.fields import column_of, decoded
from corpora.texts.unpacking import MAX_LINE, lines
from corpora.vocabularies.reading import line_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Numbered = Iterator[tuple[int, Any]]

    Format = Callable[[IO[bytes], str], Numbered]


def by_line(stream: IO[bytes], _field: str = "") -> Numbered:
    """Each line is a text, without its end; empty ones are passed over."""
    for number, line in lines(stream):
        text = line.rstrip(b"\r\n")
        if text:
            yield number, text


def by_paragraph(stream: IO[bytes], _field: str = "") -> Numbered:
    """Lines up to an empty one are a text, with the line ends in it."""
    start, size, gathered = 1, 0, list[bytes]()
    for number, line in lines(stream):
        if line.strip():
            if not gathered:
                start = number
            gathered.append(line)
            size += len(line)
            if size > MAX_LINE:
                raise RecordError(f"is a paragraph of more than {MAX_LINE:,} bytes", number)
        elif gathered:
            yield start, b"".join(gathered).rstrip(b"\r\n")
            gathered, size = [], 0
    if gathered:
        yield start, b"".join(gathered).rstrip(b"\r\n")


def whole_file(stream: IO[bytes], _field: str = "") -> Numbered:
    """The whole file is one text, with all its line ends."""
    yield 1, _whole(stream, "read it by line: #by=line")


def jsonl(stream: IO[bytes], _field: str = "") -> Numbered:
    """Each line is a JSON value: a string, or an object with a field."""
    for number, line in lines(stream):
        if line.strip():
            yield number, decoded(line)


def json_document(stream: IO[bytes], _field: str = "") -> Numbered:
    """One JSON list of strings or objects, or one object. It is in memory whole."""
    value = decoded(_whole(stream, "make it JSONL, a record a line"))
    yield from enumerate(value if isinstance(value, list) else [value], 1)


def _whole(stream: IO[bytes], mend: str) -> bytes:
    data = stream.read(MAX_LINE + 1)
    if len(data) > MAX_LINE:
        raise RecordError(f"has more than {MAX_LINE:,} bytes; {mend}")
    return data


def csv_rows(stream: IO[bytes], field: str = "") -> Numbered:
    """Rows of values separated by commas (tabs, where the first line has no comma but a tab).

    The first row has the names of the columns. Bytes that are not UTF-8 stay as they are.
    """
    wrapped = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
    csv.field_size_limit(MAX_LINE)
    try:
        head = wrapped.readline(MAX_LINE)
        if not head:
            return
        delimiter = "\t" if "," not in head and "\t" in head else ","
        names = next(csv.reader([head.removeprefix("\ufeff")], delimiter=delimiter), [])
        if len(names) == 1 and ";" in names[0] and field not in names:
            told = "seems to have its values parted by semicolons; part them by commas or tabs"
            raise RecordError(told)
        column = names.index(column_of(names, field))
        rows = csv.reader(wrapped, delimiter=delimiter)
        number = 2
        for row in rows:
            if len(row) > column:
                yield number, row[column].encode("utf-8", "surrogateescape")
            elif row:
                what = f"has {len(row)} values, and column {names[column]!r}"
                yield number, RecordError(f"{what} is number {column + 1}; mend the row")
            number = rows.line_num + 2
    except csv.Error as error:
        raise RecordError(f"is no row of CSV ({line_of(error)}); mend it", number) from None
    finally:
        wrapped.detach()


BY = {"line": by_line, "paragraph": by_paragraph, "file": whole_file}
"""Ways of cutting plain text, by the value of ``#by=``."""

FORMATS: dict[str, Format] = {
    "jsonl": jsonl,
    "ndjson": jsonl,
    "json": json_document,
    "csv": csv_rows,
    "tsv": csv_rows,
}
"""Formats by the last part of a file's name, before ``.gz`` or ``.zst``; others are plain text."""

SPLITTABLE = (by_line, jsonl)
"""Formats that can be entered at any line."""
