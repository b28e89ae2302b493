"""Reading vocabulary files: bytes and JSON from a path, every fault as a one-line error."""

from __future__ import annotations

import gzip
import json
import zlib
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.model import VocabularyError

if TYPE_CHECKING:
    from pathlib import Path

GZIP_MAGIC = b"\x1f\x8b"

_MEND_COPY = "get a complete copy of the file"


def read_bytes(path: Path) -> bytes:
    """The content of ``path``, unpacked if it is gzip (by its first bytes, not its name)."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise VocabularyError(str(path), "no such file", "check the path") from None
    except IsADirectoryError:
        raise VocabularyError(str(path), "is a directory", "name a file inside it") from None
    except OSError as error:
        raise VocabularyError(
            str(path), f"cannot be read ({error.strerror})", "check the path and its permissions"
        ) from None
    if content.startswith(GZIP_MAGIC):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise VocabularyError(
                str(path), f"corrupt or truncated gzip ({error})", _MEND_COPY
            ) from None
    elif path.suffix == ".gz" and content:
        raise VocabularyError(
            str(path), "named .gz, but is not gzip", "rename it or compress it again"
        )
    if not content:
        raise VocabularyError(str(path), "the file is empty", _MEND_COPY)
    return content


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in ``path``."""
    try:
        document = json.loads(read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise VocabularyError(str(path), f"is not JSON ({_line(error)})", _MEND_COPY) from None
    if not isinstance(document, dict):
        raise VocabularyError(
            str(path), "is JSON, but not an object", "give a tokenizer.json or tekken.json"
        )
    return document


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:120]
