"""Texts in tables of columns: Parquet and Arrow files by pyarrow, hub data sets by ``datasets``.

Both packages are extras; where one is missing, the message names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from corpora.texts.documents import RecordError, TextsError
from corpora.texts.fields import column_of
from corpora.vocabularies.reading import line_of

if TYPE_CHECKING:
    from pathlib import Path

    from corpora.texts.formats import Numbered

ROWS = 512
"""Rows that are in memory at once, beside what the format itself keeps of a row group."""

TABLES = {"parquet": "Parquet", "arrow": "Arrow", "feather": "Arrow"}
"""Formats of tables by the last part of a file's name."""


def table_rows(path: Path, field: str) -> Numbered:
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
    except RecordError as error:
        raise TextsError(f"{path}: {error}") from None
    except (OSError, pyarrow.ArrowException) as error:
        raise TextsError(
            f"{path}: cannot be read as {kind} ({line_of(error)}); copy it again, or rename it"
        ) from None


def _parquet(path: Path, field: str) -> Numbered:
    from pyarrow import parquet  # noqa: PLC0415

    with parquet.ParquetFile(path, memory_map=False) as table:
        column = column_of(table.schema_arrow.names, field)
        number = 1
        for batch in table.iter_batches(batch_size=ROWS, columns=[column], use_threads=False):
            yield from _rows(batch, column, field, number)
            number += batch.num_rows


def _arrow(path: Path, field: str) -> Numbered:
    """The stream format, which ``datasets`` writes, or the file format (it begins with ARROW1)."""
    import pyarrow  # noqa: PLC0415
    from pyarrow import ipc  # noqa: PLC0415

    with pyarrow.memory_map(str(path)) as source:
        whole = source.read(6) == b"ARROW1"
        source.seek(0)
        reader = ipc.open_file(source) if whole else ipc.open_stream(source)
        count = range(reader.num_record_batches) if whole else None
        batches = (reader.get_batch(i) for i in count) if count is not None else iter(reader)
        column = column_of(reader.schema.names, field)
        number = 1
        for batch in batches:
            for start in range(0, batch.num_rows, ROWS):
                yield from _rows(batch.slice(start, ROWS), column, field, number + start)
            number += batch.num_rows


def _rows(batch: Any, column: str, field: str, start: int) -> Numbered:
    for number, value in enumerate(batch.column(column).to_pylist(), start):
        # Nobody has named a field: the value is the text, and there may be none.
        yield number, {column: value} if field else b"" if value is None else value


def hub_rows(name: str, options: dict[str, str]) -> Numbered:
    """The rows of a data set of the hub, as they stream in. Raises TextsError.

    options: ``split`` (default ``train``), ``config`` and ``revision``.
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
        yield from enumerate(rows, 1)
    except MemoryError:
        raise
    except Exception as error:  # whatever the network, the hub or a data set's files lead to
        raise TextsError(
            f"hf:{name}: cannot be read ({line_of(error)}); check its name, #split= and #config="
        ) from None
