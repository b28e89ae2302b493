"""What follows ``--input``: files, folders, patterns of names, standard input, data sets.

``PATH#by=paragraph``, ``PATH#field=text``, ``hf:ORG/NAME#split=test,field=text``: options stand
after the last ``#``, separated by commas, as a pattern's name does after a vocabulary's path.
"""

from __future__ import annotations

import dataclasses
import glob
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from corpora.texts.columns import TABLES, hub_rows, table_rows
from corpora.texts.documents import TextsError
from corpora.texts.formats import BY, FORMATS, SPLITTABLE
from corpora.texts.unpacking import packed_as
from corpora.vocabularies import scratch
from corpora.vocabularies.reading import line_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from corpora.texts.formats import Format, Numbered

HUB = "hf:"
STDIN = "-"
PACKED = {".gz", ".zst", ".zstd"}
OPTIONS = frozenset({"by", "field", "as"})
HUB_OPTIONS = frozenset({"split", "config", "revision", "field"})

MAX_FILES = 1 << 20
"""Files of one folder or pattern: each takes a few hundred bytes of memory."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file of texts (or data set): its name in messages, and how to read it.

    path: None of a data set of the hub. size: bytes on disk, packed as they are; None where nobody
    knows. packed: how, or nothing. format: reads a stream; None of tables, which read a path.
    kept: what keeps a temporary file alive.
    """

    name: str
    path: Path | None
    size: int | None
    packed: str = ""
    format: Format | None = None
    field: str = ""
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    kept: object = None

    @property
    def splittable(self) -> bool:
        """Whether it can be read from any line on."""
        return self.format in SPLITTABLE and not self.packed

    @property
    def numbered(self) -> str:
        """How a record is named: ``file:17`` where its number is a line's, or ``file: row 17``."""
        if self.path is None or self.format is None:
            return "{name}: row {number}"
        if self.format is BY["file"]:
            return "{name}"
        return "{name}: record {number}" if self.format is FORMATS["json"] else "{name}:{number}"

    def place(self, number: int) -> str:
        """The place of a record in a message."""
        return self.numbered.format(name=self.name, number=number)

    def rows(self) -> Numbered:
        """The rows of a table or a data set. Raises TextsError."""
        if self.path is None:
            return hub_rows(self.name.removeprefix(HUB), dict(self.options))
        return table_rows(self.path, self.field)


def resolve(given: str, stdin: IO[bytes] | None = None) -> list[Source]:
    """The sources of what was given after ``--input``, in the order of their names.

    stdin: what ``-`` reads (default: standard input); it is kept in a temporary file, as every
    vocabulary reads it again. Raises TextsError with one line that names the mend.
    """
    path, options = _parted(given)
    if path.startswith(HUB):
        _known(given, options, HUB_OPTIONS)
        name = path.removeprefix(HUB)
        if not name.strip("/"):
            raise TextsError(f"{given}: names no data set; write hf:ORG/NAME")
        return [Source(path, None, None, field=options.get("field", ""), options=options)]
    _known(given, options, OPTIONS)
    if options.get("by", "line") not in BY:
        raise TextsError(f"{given}: no such way to cut texts; write #by={', #by='.join(BY)}")
    if path == STDIN:
        return [_spooled(stdin or sys.stdin.buffer, options)]
    found = list(_files(path, given))
    sources = [_source(str(one), one, options, given) for one in found]
    if not sources:
        raise TextsError(f"{given}: holds no file; name a file, a folder with files, or a pattern")
    return sources


def _parted(given: str) -> tuple[str, dict[str, str]]:
    """The path, and the options after the last ``#``, if what follows it are options."""
    path, mark, tail = given.rpartition("#")
    if not mark or "=" not in tail or Path(given).exists():
        return given, {}
    pairs = [one.partition("=") for one in tail.split(",")]
    return path, {name.strip(): value.strip() for name, _, value in pairs}


def _known(given: str, options: Iterable[str], known: frozenset[str]) -> None:
    unknown = [name for name in options if name not in known]
    if unknown:
        names = ", ".join(sorted(known))
        raise TextsError(f"{given}: no such option {unknown[0]!r} after #; there are {names}")


def _files(path: str, given: str) -> Iterator[Path]:
    """The file, those in the folder and its folders, or those that a pattern fits; sorted."""
    where = Path(path)
    try:
        if where.is_file() or where.is_fifo():
            yield where
            return
        if where.is_dir():
            inside = (one for one in where.rglob("*") if not _hidden(one.relative_to(where)))
        elif glob.has_magic(path):
            found = glob.glob(path, recursive=True)  # noqa: PTH207 (absolute ones, too)
            inside = (Path(one) for one in found)
        elif where.exists():
            raise TextsError(f"{path}: is no file, but a device; copy it to a file")
        else:
            raise TextsError(f"{path}: no such file; check the path")
        files = sorted(one for one in inside if one.is_file())
    except (OSError, ValueError) as error:
        if isinstance(error, TextsError):
            raise
        raise TextsError(f"{path}: cannot be read ({line_of(error)}); check the path") from None
    if len(files) > MAX_FILES:
        raise TextsError(f"{given}: has more than {MAX_FILES:,} files; name a part of them")
    yield from files


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _source(name: str, path: Path, options: Mapping[str, str], given: str) -> Source:
    """How to read a file, by the end of its name unless the user says how."""
    if path.is_fifo():
        with path.open("rb") as stream:
            return _spooled(stream, options, name)
    try:
        packed = packed_as(path)
        size = path.stat().st_size
    except OSError as error:
        raise TextsError(
            f"{path}: cannot be read ({line_of(error)}); check the path and its permissions"
        ) from None
    inner = Path(path.name)
    if packed and inner.suffix in PACKED:
        inner = inner.with_suffix("")
    kind = options.get("as") or inner.suffix.removeprefix(".").lower()
    wanted = options.get("field", "")
    if kind in TABLES and not packed:
        return Source(name, path, size, field=wanted)
    if options.get("as") and kind not in {*FORMATS, "text"}:
        names = ", ".join(["text", *FORMATS])
        raise TextsError(f"{given}: no such format {kind!r}; there are {names}")
    reads = BY[options["by"]] if "by" in options else FORMATS.get(kind, BY["line"])
    if wanted and reads in BY.values():
        raise TextsError(
            f"{given}: {path.name} is read as plain text, which has no fields; leave #field= out, "
            "or say what it is: #as=jsonl,field=NAME"
        )
    return Source(name, path, size, packed, reads, wanted)


def _spooled(stream: IO[bytes], options: Mapping[str, str], name: str = STDIN) -> Source:
    """What comes once, in a temporary file."""
    folder = scratch.temporary("texts-")
    path = Path(folder.name, "input")
    try:
        with path.open("wb") as kept:
            shutil.copyfileobj(stream, kept, 1 << 20)
    except OSError as error:
        raise TextsError(f"{name}: cannot be kept ({line_of(error)}); make room in /tmp") from None
    made = _source(name, path, options, name)
    return Source(name, path, made.size, made.packed, made.format, made.field, kept=folder)
