"""Texts with their ids in files: JSON lines, Parquet, and raw ids beside a file of texts.

A file is cut into parts, which processes decide side by side: a window of JSON lines, a row group
of Parquet; a packed file and one with raw ids are a part each. A part is read in batches, so that
memory stays small. Records that cannot be read are told with their place.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np

from corpora.texts import corpus, sources
from corpora.texts.documents import Fault, RecordError, TextsError
from corpora.texts.fields import decoded, encoded
from corpora.texts.unpacking import lines, unpacked
from corpora.vocabularies.reading import line_of
from harness.core.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from corpora.texts.sources import Source
    from impls.kernels.layout import Longs

PART_BYTES = 16 << 20
"""Bytes of a window of JSON lines: about a second of work, which is what an interruption costs."""

BATCH_BYTES = 1 << 20
"""Bytes of text that are decided in one call, and rows of a batch of Parquet at the most."""

PARQUET = ".parquet"

Id = Annotated[int, msgspec.Meta(ge=-(1 << 62), le=1 << 62)]


@dataclass(frozen=True, slots=True)
class Layout:
    """How texts and ids stand in files.

    text, ids: names of the fields or columns. binary: texts of JSON are bytes in base64. raw: the
    file of raw ids (little-endian uint32), or empty; separator: the id that ends each row of it,
    None where the whole file is one row.
    """

    text: str = "text"
    ids: str = "ids"
    binary: bool = False
    raw: str = ""
    separator: int | None = None


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of a file. start, end: bytes, or row groups of Parquet; no end: all of it."""

    path: str
    start: int = 0
    end: int | None = None
    size: int = 0

    @property
    def key(self) -> str:
        """Its name in a record."""
        return f"{self.path}@{self.start}"

    def place(self, number: int) -> str:
        """The place of a row, as in a message."""
        (source,) = sources.resolve(self.path)
        start = 0 if self.path.endswith(PARQUET) else self.start  # whose rows are numbered in all
        return corpus.place_of(corpus.Part(source, start), number)


def parts_of(given: Sequence[str], layout: Layout) -> list[FilePart]:
    """The parts of all files: named, in folders, or by patterns of names. Raises TextsError."""
    found = [source for one in given for source in sources.resolve(one)]
    for source in found:
        if source.path is None or source.kept is not None:
            raise TextsError(f"{source.name}: is no file; copy it to one, as processes share it")
    if layout.raw:
        if len(found) != 1 or found[0].format is None:
            raise TextsError(f"--ids {layout.raw}: goes with one file of texts; name just one")
        return [FilePart(given[0], size=(found[0].size or 0) + _size(layout.raw))]
    return [part for source in found for part in _parts(source)]


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError as error:
        raise TextsError(f"{path}: cannot be read ({line_of(error)}); check the path") from None


def _parts(source: Source) -> Iterator[FilePart]:
    path, size = str(source.path), source.size or 0
    if path.endswith(PARQUET):
        with _parquet(path) as table:
            groups = max(1, table.num_row_groups)
        yield from (FilePart(path, group, group + 1, size // groups) for group in range(groups))
    elif source.splittable:
        for start in range(0, max(1, size), PART_BYTES):
            end = min(size, start + PART_BYTES)
            yield FilePart(path, start, end, end - start)
    else:
        yield FilePart(path, size=size)


def batches(part: FilePart, layout: Layout, fault: Callable[[int, str], None]) -> Iterator[Rows]:
    """The rows of a part. fault: is told each record that cannot be read, with its number.

    Raises TextsError for a file that cannot be read.
    """
    if layout.raw:
        yield from _raw(part, layout)
    elif part.path.endswith(PARQUET):
        yield from _columns(part, layout, fault)
    else:
        yield from _json(part, layout, fault)


def _json(part: FilePart, layout: Layout, fault: Callable[[int, str], None]) -> Iterator[Rows]:
    text = bytes if layout.binary else str
    names = {"text": layout.text, "ids": layout.ids}
    row = msgspec.defstruct("Row", [("text", text), ("ids", list[Id])], rename=names)
    decoder = msgspec.json.Decoder(row)
    texts: list[bytes] = []
    ids: list[list[int]] = []
    numbers: list[int] = []
    size = 0
    with unpacked(Path(part.path)) as stream:
        window: Any = stream
        if part.end is not None:
            window = corpus.Window(stream, part.start, part.end)
        for number, line in lines(window):
            if not line.strip():
                continue
            try:
                found: Any = decoder.decode(line)
                data = found.text if layout.binary else encoded(found.text)
            except (msgspec.DecodeError, UnicodeError) as error:
                other = decoded(line)
                why = other if isinstance(other, RecordError) else line_of(error)
                fault(number, str(why))
                continue
            texts.append(data)
            ids.append(found.ids)
            numbers.append(number)
            size += len(data) + len(found.ids)
            if size > BATCH_BYTES:
                yield Rows.of(texts, ids, numbers)
                texts, ids, numbers, size = [], [], [], 0
    if texts:
        yield Rows.of(texts, ids, numbers)


def _parquet(path: str) -> Any:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 (an extra)
    except ImportError:
        raise TextsError(
            f"{path}: Parquet is read by pyarrow, which is not installed; "
            "pip install 'tokgate[texts]'"
        ) from None
    try:
        return parquet.ParquetFile(path, memory_map=False)
    except (OSError, ArrowException) as error:
        raise TextsError(f"{path}: cannot be read as Parquet ({line_of(error)})") from None


def _columns(part: FilePart, layout: Layout, fault: Callable[[int, str], None]) -> Iterator[Rows]:
    """The rows of a row group, without a Python object for each."""
    with _parquet(part.path) as table:
        import pyarrow  # noqa: PLC0415

        names = table.schema_arrow.names
        for name in (layout.text, layout.ids):
            if name not in names:
                raise TextsError(
                    f"{part.path}: has no column {name!r}, but {', '.join(names[:8])}; name the "
                    "columns with --text-field and --ids-field"
                )
        number = 1 + sum(table.metadata.row_group(group).num_rows for group in range(part.start))
        groups = range(part.start, min(part.end or 0, table.num_row_groups))
        size = max(1, table.metadata.num_rows * BATCH_BYTES // max(1, _size(part.path)) // 4)
        try:
            for batch in table.iter_batches(
                size, row_groups=[*groups], columns=[layout.text, layout.ids], use_threads=False
            ):
                texts = batch.column(layout.text).cast(pyarrow.large_binary())
                ids = batch.column(layout.ids).cast(pyarrow.large_list(pyarrow.int64()))
                there = texts.is_valid().to_numpy(False) & ids.is_valid().to_numpy(False)
                for missing in (np.flatnonzero(~there) + number).tolist():
                    fault(missing, "has a null in place of its text or its ids")
                numbers = np.flatnonzero(there) + number
                number += len(there)
                texts, ids = (one.filter(pyarrow.array(there)) for one in (texts, ids))
                data, ends = _of_text(texts)
                id_ends = ids.offsets.to_numpy()
                flat = ids.flatten().to_numpy(False)
                if flat.dtype != np.int64:
                    raise TextsError(f"{part.path}: has nulls among its ids; filter them out")
                yield Rows(data, ends, flat, id_ends[1:] - id_ends[0], numbers.tolist())
        except (OSError, pyarrow.ArrowException) as error:
            raise TextsError(f"{part.path}: cannot be read ({line_of(error)})") from None


def _of_text(texts: Any) -> tuple[bytes, Longs]:
    """The bytes of a column of large binaries, and where each one ends."""
    _, offsets, data = texts.buffers()
    bounds = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    start, end = int(bounds[0]), int(bounds[-1])
    return data.slice(start, end - start).to_pybytes() if data else b"", bounds[1:] - start


def _raw(part: FilePart, layout: Layout) -> Iterator[Rows]:
    """Raw ids, cut after each separator, and the texts in their order."""
    path = Path(layout.raw)
    if path.stat().st_size % 4:
        raise TextsError(f"{path}: is no file of uint32, as its size is no multiple of 4")
    ids = np.fromfile(path, "<u4").astype(np.int64)
    given = part.path
    if layout.separator is None and "#" not in given:
        given = f"{given}#by=file"
    (source,) = sources.resolve(given)
    texts = []
    for record in corpus.records_of(corpus.Part(source)):
        if isinstance(record, Fault):
            raise TextsError(f"{source.place(record.number)}: {record.error}")
        texts.append(record)
    ends = np.array([len(ids)])
    if layout.separator is not None:
        ends = np.flatnonzero(ids == layout.separator)
        if len(ids) and (not len(ends) or ends[-1] != len(ids) - 1):
            ends = np.append(ends, len(ids))
        ids = ids[ids != layout.separator]
        ends = ends - np.arange(len(ends))
    if len(ends) != len(texts):
        raise TextsError(
            f"{path}: has {len(ends):,} rows of ids, and {part.path} has {len(texts):,} texts; "
            "give the id that ends each row with --separator, and how to cut the texts as #by=line"
        )
    text_ends = np.cumsum([len(one.data) for one in texts], dtype=np.int64)
    yield Rows(
        b"".join(one.data for one in texts), text_ends, ids, ends, [one.number for one in texts]
    )
