"""Reading files that may hold anything: bounded bytes, checked JSON and TOML, every fault a line.

Nothing here trusts a file: only regular files are opened, what is read (and unpacked) is bounded,
and what is decoded is checked against a type, by msgspec, whose errors carry the path of the field.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import json
import os
import re
import reprlib
import stat
import tomllib
import zlib
from collections import deque
from typing import IO, TYPE_CHECKING, Any, TypeVar

import msgspec

from corpora.plain_text import printable_line
from corpora.vocabularies.limits import COPY, LARGER, MAX_FILE_BYTES, MAX_JSON_COMMAS
from corpora.vocabularies.model import VocabularyError

if TYPE_CHECKING:
    from pathlib import Path

GZIP_MAGIC = b"\x1f\x8b"
GGUF_MAGIC = b"GGUF"

HALF = (
    "of vocab.txt, or vocab.json with merges.txt, give the folder, with its tokenizer_config.json"
)
"""Said of files that are a part of a tokenizer alone."""

MAX_TOML_BYTES = 1 << 20
"""Bytes of a TOML file. Ours, written by hand, have up to 20 KB; tomllib takes about 100 bytes of
memory for one of the file."""

UTF8_STEP = 1 << 20
"""Bytes of JSON that are decoded at a time to see that all of it is UTF-8."""

MAX_KEY_PARTS = 32
"""Parts of a dotted key of a TOML file: tomllib needs time and memory in the square of it."""

MAX_SHOWN = 160
"""Characters of a value in a message."""

_DEEP_KEY = re.compile(rb"""^[ \t]*\[{0,2}(?:[ \t]*[\w"'-]+[ \t]*\.){%d}""" % MAX_KEY_PARTS, re.M)

_T = TypeVar("_T")

_shown = reprlib.Repr()
_shown.maxstring = _shown.maxother = _shown.maxlong = 60
_shown.maxlevel = 2


class FileError(OSError):
    """A file cannot be read: ``strerror`` says why in a few words."""


def shown(value: object) -> str:
    """A value from a file as it can stand in a message: short, on one line, whatever it is."""
    text = _shown.repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def shown_json(value: object) -> str:
    """A value of a JSON file as it stands there, short and on one line."""
    try:
        text = printable_line(json.dumps(value, ensure_ascii=False, default=str))
    except RecursionError:
        text = "(nested too deeply to show)"
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def line_of(error: BaseException) -> str:
    """The message of an exception, short and on one line; its type's name where it has none."""
    text = getattr(error, "strerror", None) or str(error)
    return printable_line(" ".join(text.split())[:120]) or type(error).__name__


def open_regular(path: Path) -> IO[bytes]:
    """Open a regular file. Raises OSError for others: a pipe or a device may never end.

    Without waiting: opening a pipe that nobody writes to would.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise FileError(errno.EINVAL, "not a regular file, but a pipe or a device", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def bounded_bytes(path: Path, most: int) -> bytes:
    """The content of a regular file of at most ``most`` bytes. Raises OSError."""
    with open_regular(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise FileError(errno.EFBIG, f"more than {most:,} bytes", str(path))
    return content


# --- vocabularies ---------------------------------------------------------------------------------


def read_bytes(path: Path, most: int = MAX_FILE_BYTES) -> bytes:
    """The content of ``path``, unpacked if it is gzip (by its first bytes, not its name).

    Of a GGUF file the first ``most`` bytes: its metadata stands before its weights. Raises
    VocabularyError, also for other files of more than ``most`` bytes.
    """
    source = str(path)
    try:
        with open_regular(path) as file:
            packed = file.read(2) == GZIP_MAGIC
            file.seek(0)
            content = _unpacked(file, most, source) if packed else file.read(most + 1)
    except FileNotFoundError:
        raise VocabularyError(source, "no such file", "check the path") from None
    except IsADirectoryError:
        raise VocabularyError(source, "is a directory", "name a file inside it") from None
    except FileError as error:
        raise VocabularyError(source, f"is {error.strerror}", "copy it to a file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        fault = getattr(error, "strerror", None) or line_of(error)
        raise VocabularyError(
            source, f"cannot be read ({fault})", "check the path and its permissions"
        ) from None
    if not packed and path.suffix == ".gz" and content:
        raise VocabularyError(
            source, "named .gz, but is not gzip", "rename it or compress it again"
        )
    if not content:
        raise VocabularyError(source, "the file is empty", COPY)
    if len(content) > most:
        if not content.startswith(GGUF_MAGIC):
            what = "unpacks to" if packed else "has"
            raise VocabularyError(source, f"{what} more than {most:,} bytes", LARGER)
        content = content[:most]
    return content


def _unpacked(file: IO[bytes], most: int, source: str) -> bytes:
    """The first ``most`` + 1 bytes of what a gzip file holds."""
    try:
        return gzip.GzipFile(fileobj=file).read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise VocabularyError(
            source, f"corrupt or truncated gzip ({line_of(error)})", COPY
        ) from None


def decode_json(content: bytes, kind: type[_T], source: str) -> _T:
    """JSON as a value of a type. Raises VocabularyError with the path of the field at fault."""
    if content.count(b",") > MAX_JSON_COMMAS:
        raise VocabularyError(source, f"has more than {MAX_JSON_COMMAS:,} values", LARGER)
    parts = (content[at : at + UTF8_STEP] for at in range(0, len(content), UTF8_STEP))
    try:
        deque(codecs.iterdecode(parts, "utf-8"), maxlen=0)  # also where no field of ours is read
        return msgspec.json.decode(content, type=kind)
    except msgspec.ValidationError as error:
        raise VocabularyError(source, fault_of(error), COPY) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise VocabularyError(source, f"is not JSON ({line_of(error)})", COPY) from None


def convert(value: object, kind: type[_T], source: str, at: str) -> _T:
    """A decoded value as a value of a type. Raises VocabularyError with the path of the field."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise VocabularyError(source, fault_of(error, at), COPY) from None


def fault_of(error: msgspec.ValidationError, at: str = "") -> str:
    """What msgspec found, as ``model.vocab[3]: expected `str`, got `int```."""
    message, _, path = str(error).partition(" - at `")
    path = path.removesuffix("`").removeprefix("$")
    place = at + path if at else path.removeprefix(".")
    message = f"{message[:1].lower()}{message[1:]}"
    return printable_line(f"{place}: {message}" if place else message)[:300]


LONGEST_QUOTE = 80
"""Characters of a value that :func:`quoted` shows."""


def quoted(value: object) -> str:
    """Return the beginning of a value of somebody else's JSON, in ASCII, for a message.

    Lists in lists without end, and numbers too long to print, are named by their type.
    """
    try:
        return ascii(value)[:LONGEST_QUOTE]
    except (RecursionError, MemoryError, ValueError):
        return f"a {type(value).__name__} that cannot be shown"


# --- TOML -----------------------------------------------------------------------------------------


def read_toml(path: Path) -> dict[str, Any]:
    """The document in a TOML file. Raises OSError, and ValueError with one line on the fault."""
    content = bounded_bytes(path, MAX_TOML_BYTES)
    deep = _DEEP_KEY.search(content)
    if deep is not None:
        number = content.count(b"\n", 0, deep.start()) + 1
        raise ValueError(f"line {number} has a key of more than {MAX_KEY_PARTS} parts")
    try:
        return tomllib.loads(content.decode())
    except RecursionError:
        raise ValueError("values are nested too deeply") from None


def toml_document(path: Path, kind: type[Exception]) -> dict[str, Any]:
    """The document in a TOML file. Raises an error of this kind, in one line."""
    try:
        return read_toml(path)
    except OSError as error:
        raise kind(f"{path}: {error.strerror}; check the path") from error
    except ValueError as error:
        raise kind(f"{path}: not valid TOML ({line_of(error)}); correct that line") from error
