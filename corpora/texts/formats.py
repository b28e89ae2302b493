"""Formats of texts: streams of records, never a whole file in memory but where it says so.

Each function takes a stream of bytes and yields records, or what is wrong with one, numbered as the
format's own tools would: text and JSONL by line, CSV by the line that a row begins on, JSON by
record. Whatever is wrong with one record is told instead of it, and the next one is read.
"""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING

from corpora.texts.documents import Fault, Record, RecordError
from corpora.texts.fields import decoded, texts_of, usual
from corpora.texts.unpacking import MAX_LINE, lines
from corpora.vocabularies.reading import line_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Read = Iterator[Record | Fault]
    """Records, and in place of each that cannot be read its number and what is wrong with it."""

    Format = Callable[[IO[bytes], str], Read]


def by_line(stream: IO[bytes], _field: str = "") -> Read:
    """Each line is a text, without its end; empty ones are passed over."""
    number = 0
    try:
        for number, line in enumerate(lines(stream), 1):
            text = line.rstrip(b"\r\n")
            if text:
                yield Record(text, number)
    except RecordError as error:
        yield Fault(number + 1, error)


def by_paragraph(stream: IO[bytes], _field: str = "") -> Read:
    """Lines up to an empty one are a text, with the line ends in it."""
    start, size, gathered = 1, 0, list[bytes]()
    number = 0
    try:
        for number, line in enumerate(lines(stream), 1):
            if line.strip():
                if not gathered:
                    start = number
                gathered.append(line)
                size += len(line)
                if size > MAX_LINE:
                    raise RecordError(f"is a paragraph of more than {MAX_LINE:,} bytes")
            elif gathered:
                yield Record(b"".join(gathered).rstrip(b"\r\n"), start)
                gathered, size = [], 0
    except RecordError as error:
        yield Fault(number, error)
        return
    if gathered:
        yield Record(b"".join(gathered).rstrip(b"\r\n"), start)


def whole_file(stream: IO[bytes], _field: str = "") -> Read:
    """The whole file is one text, with all its line ends."""
    data = stream.read(MAX_LINE + 1)
    if len(data) > MAX_LINE:
        yield Fault(1, RecordError(f"has more than {MAX_LINE:,} bytes; read it by line: #by=line"))
    elif data:
        yield Record(data, 1)


def jsonl(stream: IO[bytes], field: str = "") -> Read:
    """Each line is a JSON value: a string, or an object with a field."""
    number = 0
    try:
        for number, line in enumerate(lines(stream), 1):
            if not line.strip():
                continue
            try:
                for text in texts_of(decoded(line), field):
                    yield Record(text, number)
            except RecordError as error:
                yield Fault(number, error)
    except RecordError as error:
        yield Fault(number + 1, error)


def json_document(stream: IO[bytes], field: str = "") -> Read:
    """One JSON list of strings or objects, or one object. It is in memory whole."""
    data = stream.read(MAX_LINE + 1)
    if len(data) > MAX_LINE:
        yield Fault(
            1, RecordError(f"has more than {MAX_LINE:,} bytes; make it JSONL, a record a line")
        )
        return
    try:
        value = decoded(data)
    except RecordError as error:
        yield Fault(1, error)
        return
    for number, record in enumerate(value if isinstance(value, list) else [value], 1):
        try:
            for text in texts_of(record, field):
                yield Record(text, number)
        except RecordError as error:
            yield Fault(number, error)


def csv_rows(stream: IO[bytes], field: str = "") -> Read:
    """Rows of values separated by commas (tabs, where the first line has no comma but a tab).

    The first row has the names of the columns. Bytes that are not UTF-8 stay as they are.
    """
    wrapped = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="")
    csv.field_size_limit(MAX_LINE)
    try:
        head = wrapped.readline(MAX_LINE)
        tabbed = "," not in head and "\t" in head
        delimiter = "\t" if tabbed else ","
        names = next(csv.reader([head.removeprefix("\ufeff")], delimiter=delimiter), [])
        if not head:
            return
        if len(names) == 1 and ";" in names[0] and field not in names:
            told = "seems to have its values parted by semicolons; part them by commas or tabs"
            yield Fault(1, RecordError(told))
            return
        chosen = field or usual(names) or (names[0] if len(names) == 1 else "")
        if chosen not in names:
            what = f"has no column {field!r}" if field else "has no column of a usual name"
            shown = ", ".join(name[:40] for name in names[:8])
            yield Fault(
                1, RecordError(f"{what}, but {shown}; name one after the path: #field=NAME")
            )
            return
        column = names.index(chosen)
        rows = csv.reader(wrapped, delimiter=delimiter)
        number = 2
        while True:
            try:
                row = next(rows, None)
            except csv.Error as error:
                yield Fault(number, RecordError(f"is no row of CSV ({line_of(error)}); mend it"))
                return
            if row is None:
                return
            if len(row) > column:
                yield Record(row[column].encode("utf-8", "surrogateescape"), number)
            elif row:
                what = f"has {len(row)} values, and column {chosen!r} is number {column + 1}"
                yield Fault(number, RecordError(f"{what}; mend the row"))
            number = rows.line_num + 2
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
