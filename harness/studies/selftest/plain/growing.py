"""An implementation of known cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.studies.selftest.plain.base import Plain

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

ABSENT = b"\xfe\xfd"
"""A pass looks for these bytes. It sees some gigabytes a second, so that squares stay within the
time limits."""


class PlainBytes(Plain):
    """One id a byte, in one pass: what is measured is what a mistake burns besides."""

    name = "plain.bytes"
    modes = ("raw",)
    max_input = None
    linear = True

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """All."""
        return None

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The bytes."""
        for _ in range(self.passes(data)):
            data.count(ABSENT)
        return list(data)

    def passes(self, data: bytes) -> int:
        """How often it goes over its input."""
        return 1
