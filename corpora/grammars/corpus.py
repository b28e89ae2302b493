"""Corpora of JSON Schemas with instances: a folder, or a tar archive of one.

Each file is a JSON object with ``schema`` and ``tests``, a list of objects with ``valid`` and
``data``, as in guidance-ai/jsonschemabench's maskbench. Files whose names do not end in ``.json``,
or begin with a dot, are passed over.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import tarfile
import tempfile
import zlib
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

import zstandard

from corpora.vocabularies.reading import GZIP_MAGIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


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


def read_cases(path: Path, after: str = "") -> Iterator[SchemaCase]:
    """The cases of a corpus, one by one, sorted by name; those after the name ``after`` only.

    path: a folder (with its subfolders), or a tar archive, plain or compressed by gzip or
    Zstandard, as its first bytes say. A compressed one is unpacked to a temporary file first, so
    that memory holds one case at a time. Raises CorpusError when the first case is asked for, or,
    for a file that is no case, when its turn comes.
    """
    with ExitStack() as stack:
        readers = _folder(path) if path.is_dir() else _archive(path, stack)
        if not readers:
            raise CorpusError(f"{path}: holds no .json file")
        shared = os.path.commonpath([str(PurePosixPath(member).parent) for member in readers])
        names = {
            PurePosixPath(member).relative_to(shared).with_suffix("").as_posix(): member
            for member in readers
        }
        for name in sorted(names):
            if name > after:
                place = f"{path}: {names[name]}"
                try:
                    content = readers[names[name]]()
                except (OSError, tarfile.TarError) as error:
                    raise CorpusError(f"{place}: cannot be read ({_line(error)})") from None
                yield _case(name, content, place)


def _case(name: str, content: bytes, place: str) -> SchemaCase:
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{place}: is not JSON ({_line(error)})") from None
    if not isinstance(document, dict):
        raise CorpusError(f"{place}: is JSON, but not an object")
    schema = document.get("schema")
    if not isinstance(schema, dict | bool):
        raise CorpusError(f"{place}: `schema` is missing, or neither an object nor a boolean")
    tests = document.get("tests", [])
    if not isinstance(tests, list) or not all(
        isinstance(test, dict) and "data" in test and isinstance(test.get("valid"), bool)
        for test in tests
    ):
        raise CorpusError(f"{place}: `tests` is not a list of objects with `valid` and `data`")
    instances = tuple(compact_json(test["data"]) for test in tests if test["valid"])
    return SchemaCase(name, schema, instances)


def _folder(path: Path) -> dict[str, Callable[[], bytes]]:
    """How to read each JSON file of a folder, by its path there."""
    return {
        file.relative_to(path).as_posix(): file.read_bytes
        for file in path.rglob("*.json")
        if file.is_file() and not file.name.startswith(".")
    }


def _archive(path: Path, stack: ExitStack) -> dict[str, Callable[[], bytes]]:
    """How to read each JSON file of an archive, by its path there, while ``stack`` is open."""
    try:
        file = stack.enter_context(path.open("rb"))
    except FileNotFoundError:
        raise CorpusError(f"{path}: no such file or folder") from None
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        opened = tarfile.open(fileobj=_plain(file, stack), mode="r:")  # noqa: SIM115 (the stack's)
        archive = stack.enter_context(opened)
        members = archive.getmembers()
    except (tarfile.TarError, zstandard.ZstdError, zlib.error, EOFError, OSError) as error:
        raise CorpusError(f"{path}: is no whole tar archive ({_line(error)})") from None

    def reader(member: tarfile.TarInfo) -> Callable[[], bytes]:
        def read() -> bytes:
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
    if magic == ZSTD_MAGIC:
        unpacked = _temporary(stack)
        zstandard.ZstdDecompressor().copy_stream(file, unpacked)
    elif magic.startswith(GZIP_MAGIC):
        unpacked = _temporary(stack)
        shutil.copyfileobj(gzip.GzipFile(fileobj=file), unpacked)
    else:
        return file
    unpacked.seek(0)
    return unpacked


def _temporary(stack: ExitStack) -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 (the stack closes it)
    return stack.enter_context(file)


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:120]
