"""The metadata of a GGUF file: ``tokenizer.ggml.*`` as Python values, nothing in it trusted.

The reader of the ``gguf`` package maps whole files into memory and believes the counts in them, so
that a damaged count costs gigabytes or minutes; this one checks each against the bytes that are
left. The format: llama.cpp's ``docs/gguf.md``, versions 2 and 3, of either byte order.
"""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

from corpora.vocabularies.limits import COPY, LARGER, MAX_FILE_BYTES, MAX_METADATA, check_count
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.reading import GGUF_MAGIC, shown

Value = str | bool | int | float | list[str] | NDArray[np.generic]
"""The value of a field is a string, a number, or an array of either."""

PREFIX = "tokenizer.ggml."

_SCALARS = {
    **{0: "u1", 1: "i1", 2: "u2", 3: "i2", 4: "u4", 5: "i4", 6: "f4"},
    **{7: "?", 10: "u8", 11: "i8", 12: "f8"},
}
"""The format's types of numbers to NumPy's."""

_STRING, _ARRAY = 8, 9

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
            raise VocabularyError(self.source, "is no GGUF file", "give a .gguf file")
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
            name = self._string()
            if name in found:
                raise self._corrupt(f"{shown(name)} stands twice")
            self.field = name if len(name) < 80 else shown(name)
            kind = self._integer("I")
            if name.startswith(PREFIX):
                found[name] = self._value(kind)
            else:
                self._pass(kind)
        return found

    def _value(self, kind: int) -> Value:
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            number: Value = self._numbers(kind, 1)[0].item()
            return number
        kind, count = self._integer("I"), self._integer("Q")
        if kind == _STRING:
            return self._strings(count)
        return self._numbers(kind, count)

    def _pass(self, kind: int, depth: int = 0) -> None:
        """Go on to the end of a value of another field."""
        if kind == _STRING:
            self._take(self._integer("Q"))
        elif kind != _ARRAY:
            self._numbers(kind, 1)
        else:
            kind, count = self._integer("I"), self._integer("Q")
            if kind not in (_STRING, _ARRAY):
                self._numbers(kind, count)
                return
            if depth == _DEEPEST or count > len(self.content) - self.at:
                raise self._corrupt("an array too deep or too long")
            for _ in range(count):
                self._pass(kind, depth + 1)

    def _strings(self, count: int) -> list[str]:
        """An array of strings; a loop of its own, as vocabularies have a million of them."""
        if count > (len(self.content) - self.at) // 8:
            raise self._corrupt(f"{count} strings")
        length_of = struct.Struct(f"{self.order}Q").unpack_from
        content, at, end = self.content, self.at, len(self.content)
        found: list[str] = []
        try:
            for _ in range(count):
                start = at + 8
                at = start + length_of(content, at)[0]
                if at > end:
                    raise self._corrupt("the file ends within it")
                found.append(content[start:at].decode())
        except UnicodeDecodeError as error:
            raise VocabularyError(
                self.source, f"{self.field}[{len(found)}] is not UTF-8 ({error.reason})", COPY
            ) from None
        except struct.error:
            raise self._corrupt("the file ends within it") from None
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

    def _string(self) -> str:
        raw = self._take(self._integer("Q"))
        try:
            return raw.decode()
        except UnicodeDecodeError as error:
            raise VocabularyError(
                self.source, f"{self.field} is not UTF-8 ({error.reason})", COPY
            ) from None

    def _integer(self, code: str) -> int:
        size = struct.calcsize(f"{self.order}{code}")
        number: int = struct.unpack(f"{self.order}{code}", self._take(size))[0]
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
