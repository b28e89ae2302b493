"""Implementations of known cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from harness.studies.selftest.plain.base import Plain
from impls.interface import Capability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from impls.interface import Mode

ABSENT = b"\xfe\xfd"
"""A pass looks for these bytes. It sees some gigabytes a second, so that squares stay within the
time limits."""


class PlainBytes(Plain):
    """One id a byte, in one pass: what is measured is what a mistake burns besides."""

    name = "plain.bytes"
    modes: ClassVar[tuple[str, ...]] = ("raw",)
    max_input = None
    linear = True

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The bytes."""
        return list(passed(data, 1))


class PlainGrowing(PlainBytes):
    """The same, for texts in a batch and for ids as well: one pass each."""

    name = "plain.growing"
    modes = ("raw", "special")
    capabilities = frozenset({Capability.DECODE})

    def encode_batch(
        self, data: bytes, ends: NDArray[np.int64], mode: Mode
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """All texts at once: an id is a byte."""
        passed(data, 1)
        return np.frombuffer(data, dtype=np.uint8).astype(np.int32), ends.astype(np.int64)

    def decode(self, ids: Sequence[int]) -> bytes:
        """The bytes."""
        return passed(bytes(i & 255 for i in ids), 1)

    def decode_stream(self, ids: Sequence[int]) -> list[bytes]:
        """Each byte."""
        data = passed(bytes(one & 255 for one in ids), 1)
        return [data[place : place + 1] for place in range(len(data))]


def passed(data: bytes, times: int) -> bytes:
    """Go over the data so many times; returns it."""
    for _ in range(times):
        data.count(ABSENT)
    return data
