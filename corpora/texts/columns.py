"""Texts in tables of columns: Parquet and Arrow files by pyarrow, hub data sets by ``datasets``.

Both packages are extras; where one is missing, the message names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from corpora.texts.documents import Fault, Record, RecordError, TextsError
from corpora.texts.fields import texts_of, usual, without
from corpora.vocabularies.reading import line_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from corpora.texts.formats import Read

ROWS = 512
"""Rows that are in memory at once, beside what the format itself keeps of a row group."""

TABLES = {"parquet": "Parquet", "arrow": "Arrow", "feather": "Arrow"}
"""Formats of tables by the last part of a file's name."""


def table_rows(path: Path, field: str) -> Read:
    """The rows of a Parquet or Arrow file, numbered from 1. Raises TextsError."""
    try:
        import pyarrow  # noqa: PLC0415 (an extra)
    except ImportError:
        raise TextsError(
            f"{path}: Parquet and Arrow are read by pyarrow, which is not installed; "
            "pip install 'tokgate[texts]'"
        ) from None
    kind = TABLES[path.suffix.removeprefix(".")]
    try:
        if kind == "Parquet":
            yield from _parquet(path, field)
        else:
            yield from _arrow(path, field)
    except FileNotFoundError:
        raise TextsError(f"{path}: no such file; check the path") from None
    except (OSError, pyarrow.ArrowException) as error:
        raise TextsError(
            f"{path}: cannot be read as {kind} ({line_of(error)}); copy it again, or rename it"
        ) from None


def _parquet(path: Path, field: str) -> Read:
    from pyarrow import parquet  # noqa: PLC0415

    with parquet.ParquetFile(path, memory_map=False) as table:
        column = _column(path, table.schema_arrow.names, field)
        number = 1
        for batch in table.iter_batches(batch_size=ROWS, columns=[column], use_threads=False):
            yield from _records(batch, column, field, number)
            number += batch.num_rows


def _arrow(path: Path, field: str) -> Read:
    """The stream format, which ``datasets`` writes, or the file format (it begins with ARROW1)."""
    import pyarrow  # noqa: PLC0415
    from pyarrow import ipc  # noqa: PLC0415

    with pyarrow.memory_map(str(path)) as source:
        whole = source.read(6) == b"ARROW1"
        source.seek(0)
        reader = ipc.open_file(source) if whole else ipc.open_stream(source)
        count = range(reader.num_record_batches) if whole else None
        batches = (reader.get_batch(i) for i in count) if count is not None else iter(reader)
        column = _column(path, reader.schema.names, field)
        number = 1
        for batch in batches:
            for start in range(0, batch.num_rows, ROWS):
                yield from _records(batch.slice(start, ROWS), column, field, number + start)
            number += batch.num_rows


def _column(path: Path, names: Sequence[str], field: str) -> str:
    """The column with the texts. Raises TextsError, naming those that there are."""
    if field in names:
        return field
    named = field.split(".", maxsplit=1)[0]
    chosen = named or usual(names) or (names[0] if len(names) == 1 else "")
    if chosen not in names:
        raise TextsError(f"{path}: {without(field, dict.fromkeys(names))}")
    return chosen


def _records(batch: Any, column: str, field: str, start: int) -> Read:
    for number, value in enumerate(batch.column(column).to_pylist(), start):
        try:
            for text in texts_of({column: value}, field or column):
                yield Record(text, number)
        except RecordError as error:
            yield Fault(number, error)


def hub_rows(name: str, options: dict[str, str]) -> Read:
    """The rows of a data set of the hub, as they stream in. Raises TextsError.

    options: ``split`` (default ``train``), ``config``, ``revision`` and ``field``.
    """
    try:
        import datasets  # noqa: PLC0415 (an extra)
    except ImportError:
        raise TextsError(
            f"hf:{name}: data sets of the hub are read by datasets, which is not installed; "
            "pip install 'tokgate[datasets]'"
        ) from None
    try:
        rows = datasets.load_dataset(
            name,
            options.get("config") or None,
            split=options.get("split") or "train",
            revision=options.get("revision") or None,
            streaming=True,
        )
        yield from _hub(rows, options.get("field", ""))
    except (TextsError, MemoryError):
        raise
    except Exception as error:  # whatever the network, the hub or a data set's files lead to
        raise TextsError(
            f"hf:{name}: cannot be read ({line_of(error)}); check its name, #split= and #config="
        ) from None


def _hub(rows: Iterator[dict[str, Any]], field: str) -> Read:
    for number, row in enumerate(rows, 1):
        try:
            for text in texts_of(row, field):
                yield Record(text, number)
        except RecordError as error:
            yield Fault(number, error)
