"""GGUF as a container: its fields read and written; nothing that is read is trusted.

The reader of the ``gguf`` package maps whole files into memory and believes the counts in them, so
that a damaged count costs gigabytes or minutes; this one checks each against the bytes that are
left. Its writer makes a call for each of the 400,000 texts of a large vocabulary; ours writes the
same bytes, as a test holds. The format: llama.cpp's ``docs/gguf.md``, versions 2 and 3, of either
byte order.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from corpora.vocabularies.limits import COPY, LARGER, MAX_FILE_BYTES, MAX_METADATA, check_count
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.reading import GGUF_MAGIC, shown

Value = str | bool | int | float | list[str] | NDArray[np.generic]
"""The value of a field is a string, a number, or an array of either."""

PREFIX = "tokenizer.ggml."

_VERSION = 3

_SCALARS = {
    **{0: "u1", 1: "i1", 2: "u2", 3: "i2", 4: "u4", 5: "i4", 6: "f4"},
    **{7: "?", 10: "u8", 11: "i8", 12: "f8"},
}
"""The format's types of numbers to NumPy's."""

_UINT8, _UINT32, _INT32, _FLOAT32, _BOOL, _STRING, _ARRAY = 0, 4, 5, 6, 7, 8, 9

_DEEPEST = 4
"""Arrays of arrays: the format allows them, no known field is one, and they are passed over."""


def read(content: bytes, source: str) -> dict[str, Value]:
    """The fields of the vocabulary by their full names; VocabularyError names ``source``."""
    return _Reader(content, source).fields()


class _Reader:
    """A place in the content, which moves on with whatever is read."""

    def __init__(self, content: bytes, source: str) -> None:
        self.content = content
        self.source = source
        self.at = len(GGUF_MAGIC)
        self.order = "<"
        self.field = "the header"

    def fields(self) -> dict[str, Value]:
        """Read the header and all fields; keep those of the vocabulary."""
        if not self.content.startswith(GGUF_MAGIC):
            raise VocabularyError(self.source, "is not a GGUF file", "give a .gguf file")
        version = self._integer("I")
        if version & 0xFFFF == 0:  # of a machine of the other byte order
            self.order = ">"
            version = int.from_bytes(version.to_bytes(4, "little"), "big")
        if version not in (2, 3):
            raise VocabularyError(
                self.source, f"is a GGUF file of version {version}", "versions 2 and 3 are read"
            )
        self._integer("Q")  # how many tensors there are: nothing of theirs is read
        count = self._integer("Q")
        check_count(count, MAX_METADATA, "fields of metadata", self.source)
        found: dict[str, Value] = {}
        for number in range(count):
            self.field = f"field {number + 1}"
            name = self._decoded(self._string())
            if name in found:
                raise self._corrupt(f"{shown(name)} appears twice")
            self.field = name if len(name) < 80 else shown(name)
            value = self._value(self._integer("I"))
            if name.startswith(PREFIX):
                found[name] = self._kept(value)
        return found

    def _kept(self, value: Any) -> Value:
        """A value with its texts decoded. Those of other fields need not be UTF-8."""
        if isinstance(value, bytes):
            return self._decoded(value)
        if not isinstance(value, list):
            kept: Value = value
            return kept
        texts: list[str] = []
        try:
            for one in value:
                texts.append(one.decode())  # noqa: PERF401 (its place is told)
        except UnicodeDecodeError as error:
            raise VocabularyError(
                self.source, f"{self.field}[{len(texts)}] is not UTF-8 ({error.reason})", COPY
            ) from None
        except AttributeError:  # an array in an array
            raise self._corrupt(f"type {_ARRAY}") from None
        return texts

    def _decoded(self, raw: bytes) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise VocabularyError(
                self.source, f"{self.field} is not UTF-8 ({error.reason})", COPY
            ) from None

    def _value(self, kind: int, depth: int = 0) -> Any:
        """Bytes, a number, an array of numbers, or a list of bytes or of such arrays."""
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            return self._numbers(kind, 1)[0].item()
        kind, count = self._integer("I"), self._integer("Q")
        if kind == _STRING:
            return self._strings(count)
        if kind != _ARRAY:
            return self._numbers(kind, count)
        if depth == _DEEPEST or count > len(self.content) - self.at:
            raise self._corrupt("an array too deep or too long")
        return [self._value(_ARRAY, depth + 1) for _ in range(count)]

    def _strings(self, count: int) -> list[bytes]:
        """An array of strings; a loop of its own, as vocabularies have a million of them."""
        content, at, end = self.content, self.at, len(self.content)
        if count > (end - at) // 8:
            raise self._corrupt(f"{count} strings")
        length_of = struct.Struct(f"{self.order}Q").unpack_from
        found: list[bytes] = []
        for _ in range(count):
            start = at + 8
            at = start + length_of(content, at)[0] if start <= end else end + 1
            if at > end:
                raise self._corrupt("the file ends within it")
            found.append(content[start:at])
        self.at = at
        return found

    def _numbers(self, kind: int, count: int) -> NDArray[np.generic]:
        if kind not in _SCALARS:
            raise self._corrupt(f"type {kind}")
        dtype = np.dtype(self.order + _SCALARS[kind])
        raw = self._take(count * dtype.itemsize)
        numbers: NDArray[np.generic] = np.frombuffer(raw, dtype)
        if dtype.kind == "b":  # any byte but zero is true
            numbers = np.not_equal(np.frombuffer(raw, np.uint8), 0)
        return numbers

    def _string(self) -> bytes:
        return self._take(self._integer("Q"))

    def _integer(self, code: str) -> int:
        form = f"{self.order}{code}"
        number: int = struct.unpack(form, self._take(struct.calcsize(form)))[0]
        return number

    def _take(self, size: int) -> bytes:
        if size > len(self.content) - self.at:
            raise self._corrupt("the file ends within it")
        self.at += size
        return self.content[self.at - size : self.at]

    def _corrupt(self, what: str) -> VocabularyError:
        if len(self.content) == MAX_FILE_BYTES:  # reading stopped there: see `read_bytes`
            fault = f"has more than {MAX_FILE_BYTES:,} bytes of metadata, or is corrupt"
            return VocabularyError(self.source, f"{fault} ({self.field}: {what})", LARGER)
        return VocabularyError(self.source, f"is a corrupt GGUF file ({self.field}: {what})", COPY)


def write(model: str, fields: dict[str, Any]) -> bytes:
    """A GGUF file with ``tokenizer.ggml.<name>`` for each of ``fields``, but for empty lists."""
    # Any architecture will do: what differs between them are tensors.
    named: dict[str, Any] = {"general.architecture": "llama", f"{PREFIX}model": model}
    for name, value in fields.items():
        if not isinstance(value, list | bytes) or value:
            named[PREFIX + name] = value
    parts = [GGUF_MAGIC, struct.pack("<IQQ", _VERSION, 0, len(named))]
    for key, value in named.items():
        parts += [_text(key), *_written(value)]
    return b"".join(parts)


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<Q", len(encoded)) + encoded


def _written(value: bool | int | str | bytes | list[Any]) -> list[bytes]:
    """The number of a value's type, and the value; bytes are an array of numbers."""
    if isinstance(value, bool):
        return [struct.pack("<I?", _BOOL, value)]
    if isinstance(value, int):
        return [struct.pack("<II", _UINT32, value)]
    if isinstance(value, str):
        return [struct.pack("<I", _STRING), _text(value)]
    if isinstance(value, bytes):
        kind, items = _UINT8, [value]
    elif isinstance(value[0], str):
        kind, items = _STRING, list(map(_text, value))
    else:
        kind = _INT32 if isinstance(value[0], int) else _FLOAT32
        items = [np.array(value, f"<{_SCALARS[kind]}").tobytes()]
    return [struct.pack("<IIQ", _ARRAY, kind, len(value)), *items]
