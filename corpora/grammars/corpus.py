"""Corpora of JSON Schemas with instances: a folder, or a tar archive of one.

Each file is a JSON object with ``schema`` and ``tests``, a list of objects with ``valid`` and
``data``, as in guidance-ai/jsonschemabench's maskbench. Files whose names do not end in ``.json``,
or begin with a dot, are passed over.

Schemas of our own, small, varied, and mean to tokenizers, lie in ``own_schemas.jsonl``, one in a
line, in the form of those files. There are twelve of each kind, named by it: ``optional-keys``,
``enum-chains``, ``inside-characters`` and so on. What they are for is where forced bytes end: at
the point where sibling keys or values part, after values that may end or go on, inside a character,
inside an escape, after white space.
"""

from __future__ import annotations

import errno
import gzip
import importlib.resources
import json
import tarfile
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from backports import zstd

from corpora.grammars.base import alike
from corpora.vocabularies.reading import (
    GZIP_MAGIC,
    FileError,
    bounded_bytes,
    line_of,
    open_regular,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from corpora.grammars.json_schema import Whitespace

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

MAX_CASE_BYTES = 16 << 20
"""Bytes of one file of a corpus: as JSON it takes up to 25 times as much memory. The largest of
maskbench has 1.9 MB."""

MAX_ARCHIVE_BYTES = 2 << 30
"""Bytes of an archive, unpacked: they go to a temporary file. maskbench has 147 MB."""

MAX_MEMBERS = 1 << 18
"""Members of an archive: each takes about a kilobyte of memory. maskbench has 11,306."""


class CorpusError(ValueError):
    """A corpus cannot be read: ``str(error)`` is one line that names the file and the fault."""


@dataclass(frozen=True, slots=True)
class SchemaCase:
    """A schema and texts that it admits.

    name: of the file, without ``.json`` and without the folders that all files share.
    schema: as ``json.loads`` gives it.
    instances: each valid instance as compact JSON in UTF-8, its keys in the order of the file.
    """

    name: str
    schema: Mapping[str, Any] | bool
    instances: tuple[bytes, ...]


def compact_json(value: object) -> bytes:
    """JSON text without white space, in UTF-8; lone surrogates, which have none, as escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def read_cases(path: Path) -> Iterator[SchemaCase]:
    """The cases of a corpus, one by one, sorted by name.

    path: a folder (with its subfolders), or a tar archive, plain or compressed by gzip or
    Zstandard, as its first bytes say. A compressed one is unpacked to a temporary file first, so
    that memory holds one case at a time. Raises CorpusError when the first case is asked for, or,
    for a file that is no case, when its turn comes.
    """
    with ExitStack() as stack:
        readers = _folder(path) if path.is_dir() else _archive(path, stack)
        if not readers:
            raise CorpusError(f"{path}: holds no .json file")
        names = _names(readers)
        for name in sorted(names):
            place = f"{path}: {_printable(names[name])}"
            try:
                content = readers[names[name]]()
            except MemoryError:
                raise
            except Exception as error:  # tarfile raises whatever a damaged header leads to
                raise CorpusError(f"{place}: cannot be read ({line_of(error)})") from None
            try:
                document = json.loads(content)
            except (ValueError, RecursionError) as error:
                raise CorpusError(f"{place}: is not JSON ({line_of(error)})") from None
            yield case_of(name, document, place)


def _names(members: Iterable[str]) -> dict[str, str]:
    """The name of each member's case: its path without ``.json`` and without the shared folders.

    Paths in an archive may be absolute, or lead upwards; nothing is written under them, so that
    they are names and no more: of `/a/b.json` and of `./a/b.json` the case is the same.
    """
    paths = {
        member: [part for part in PurePosixPath(member).parts if part.strip("/")]
        for member in members
    }
    folders = sorted(path[:-1] for path in paths.values())
    shared = alike(folders[0], folders[-1])
    return {"/".join(path[shared:]).removesuffix(".json"): member for member, path in paths.items()}


def _printable(name: str) -> str:
    return name if name.isprintable() and len(name) <= 200 else shown(name)


def case_of(name: str, document: Any, place: str) -> SchemaCase:
    """The case of a file's content. place: names the file. Raises CorpusError."""
    if not isinstance(document, dict):
        raise CorpusError(f"{place}: is JSON, but not an object")
    schema, tests = document.get("schema"), document.get("tests", [])
    if not isinstance(schema, dict | bool):
        raise CorpusError(f"{place}: `schema` is missing, or neither an object nor a boolean")
    if not isinstance(tests, list) or not all(
        isinstance(test, dict) and "data" in test and isinstance(test.get("valid"), bool)
        for test in tests
    ):
        raise CorpusError(f"{place}: `tests` is not a list of objects with `valid` and `data`")
    try:
        instances = tuple(compact_json(test["data"]) for test in tests if test["valid"])
    except RecursionError:
        raise CorpusError(f"{place}: values stand too deep in one another") from None
    return SchemaCase(name, schema, instances)


def _folder(path: Path) -> dict[str, Callable[[], bytes]]:
    """How to read each JSON file of a folder, by its path there."""
    return {
        file.relative_to(path).as_posix(): partial(bounded_bytes, file, MAX_CASE_BYTES)
        for file in path.rglob("*.json")
        if file.is_file() and not file.name.startswith(".")
    }


def _archive(path: Path, stack: ExitStack) -> dict[str, Callable[[], bytes]]:
    """How to read each JSON file of an archive, by its path there, while ``stack`` is open."""
    try:
        file = stack.enter_context(open_regular(path))
    except FileNotFoundError:
        raise CorpusError(f"{path}: no such file or folder") from None
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        # A damaged header asks for gigabytes, of which a map gives no more than there is.
        plain = mmap(_plain(file, stack).fileno(), 0, access=ACCESS_READ)
        opened = tarfile.open(fileobj=stack.enter_context(plain), mode="r:")  # noqa: SIM115 (the stack's)
        archive = stack.enter_context(opened)
        members = list(islice(archive, MAX_MEMBERS + 1))
    except MemoryError:
        raise
    except Exception as error:  # tarfile raises whatever a damaged header leads to
        raise CorpusError(f"{path}: is no whole tar archive ({line_of(error)})") from None

    if len(members) > MAX_MEMBERS:
        raise CorpusError(f"{path}: has more than {MAX_MEMBERS:,} members")

    def reader(member: tarfile.TarInfo) -> Callable[[], bytes]:
        def read() -> bytes:
            if member.size > MAX_CASE_BYTES:  # a sparse one can be of any size in a short archive
                raise FileError(errno.EFBIG, f"more than {MAX_CASE_BYTES:,} bytes")
            content = archive.extractfile(member)
            return content.read() if content is not None else b""

        return read

    return {
        member.name: reader(member)
        for member in members
        if member.isfile()
        and member.name.endswith(".json")
        and not PurePosixPath(member.name).name.startswith(".")
    }


def _plain(file: IO[bytes], stack: ExitStack) -> IO[bytes]:
    """The file itself, or a temporary one with what it holds compressed."""
    magic = file.read(len(ZSTD_MAGIC))
    file.seek(0)
    packed: Any
    if magic == ZSTD_MAGIC:
        packed = zstd.ZstdFile(file)
    elif magic.startswith(GZIP_MAGIC):
        packed = gzip.GzipFile(fileobj=file)
    else:
        return file
    unpacked = stack.enter_context(tempfile.TemporaryFile(buffering=0))  # noqa: SIM115 (the stack's)
    written = 0
    while chunk := packed.read(1 << 20):
        written += unpacked.write(chunk)
        if written > MAX_ARCHIVE_BYTES:
            raise FileError(errno.EFBIG, f"unpacks to more than {MAX_ARCHIVE_BYTES:,} bytes")
    return unpacked


INDENTS = (None, 2, "\t")
"""How the instances of a schema are spaced where that is admitted, by its number."""


@cache
def own_cases(whitespace: Whitespace) -> tuple[SchemaCase, ...]:
    """All schemas of our own, sorted by name, with instances that the white space mode admits.

    Those for "flexible" are the compact texts and spaced ones; the schemas are the same.
    """
    file = importlib.resources.files("corpora.grammars") / "own_schemas.jsonl"
    documents = map(json.loads, file.read_text("utf-8").split("\n")[:-1])
    cases = [case_of(one["name"], one, file.name) for one in documents]
    return tuple(map(_spaced, cases)) if whitespace == "flexible" else tuple(cases)


def _spaced(case: SchemaCase) -> SchemaCase:
    """The case, with its instances spaced besides."""
    indent = INDENTS[int(case.name[-2:]) % len(INDENTS)]
    spaced = (
        json.dumps(json.loads(text), ensure_ascii=False, indent=indent).encode()
        for text in case.instances
    )
    return replace(case, instances=tuple(dict.fromkeys((*case.instances, *spaced))))
