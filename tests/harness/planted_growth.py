"""Implementations of known growth, and of known failures, for the scaling check to name.

``--impl tests/harness/planted_growth.py:Quadratic``. All give one id a byte, and burn time besides:
``burn`` takes some ten nanoseconds a unit. Where they are named, they are held to ``n log n``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import ClassVar

from corpora.vocabularies.model import Vocabulary
from impls.interface import About, Mode

STRIDE = 64
"""Bytes to a unit of the square: with them, it is seen from a kilobyte on."""

MARKER = b"["


def burn(units: float) -> None:
    """Take time in proportion."""
    sum(range(int(units)))


class Linear:
    """Half a unit a byte."""

    name: ClassVar[str] = "linear"

    @property
    def about(self) -> About:
        return About(name=f"planted.{self.name}", version="1", linear=self.name == "linear")

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        return None if mode.pretokenize else "as a pipeline only"

    def load(self, vocabulary: Vocabulary) -> Linear:
        return self

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        burn(self.units(data))
        return list(data)

    def units(self, data: bytes) -> float:
        """What it takes."""
        return len(data) / 2


class LogLinear(Linear):
    """n log n."""

    name = "n-log-n"

    def units(self, data: bytes) -> float:
        return len(data) * len(data).bit_length() / 8


class ThreeHalves(Linear):
    """n^1.5."""

    name = "n-1.5"

    def units(self, data: bytes) -> float:
        return float(len(data) ** 1.5 / 8)


class Quadratic(Linear):
    """n^2 on all inputs."""

    name = "quadratic"

    def units(self, data: bytes) -> float:
        return len(data) ** 2 / STRIDE


class OnRuns(Quadratic):
    """n^2 where all bytes are one."""

    name = "on-runs"

    def units(self, data: bytes) -> float:
        return super().units(data) if len(set(data)) == 1 else len(data) / 2


class OnNewlines(Linear):
    """The square of the number of newlines."""

    name = "on-newlines"

    def units(self, data: bytes) -> float:
        return len(data) / 2 + data.count(b"\n") ** 2 / STRIDE


class Late(Linear):
    """A square that begins at 100 kB."""

    name = "late"

    def units(self, data: bytes) -> float:
        return len(data) / 2 + max(0, len(data) - 100_000) ** 2 / 80_000


class Exponential(Linear):
    """Twice as much for each 64 markers."""

    name = "exponential"

    def units(self, data: bytes) -> float:
        return len(data) / 2 + 2 ** (data.count(MARKER) / 64)


class Recursive(Linear):
    """Calls itself for each marker, through C, so that the stack of the thread ends some day."""

    name = "recursive"

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        sys.setrecursionlimit(1 << 30)
        self.descend(data.count(MARKER))
        return list(data)

    def descend(self, depth: int) -> int:
        """Down by one."""
        return max(map(self.descend, (depth - 1,))) if depth else 0


class Hungry(Linear):
    """Takes a thousand bytes for each."""

    name = "hungry"

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        taken = b"\x01" * (1000 * len(data))
        return list(data[: len(taken)])


class Caching(Linear):
    """Keeps an answer of 8 KiB for each text that it has seen."""

    name = "caching"
    seen: ClassVar[dict[bytes, bytes]] = {}

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        self.seen.setdefault(data, b"\x01" * 8192)
        return list(data)


class Keeping(Linear):
    """Takes two megabytes, and keeps one of them."""

    name = "keeping"
    kept: ClassVar[list[bytes]] = []

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        self.kept.append(b"\x01" * (1 << 20))
        taken = b"\x01" * (1 << 20)
        return list(data[: len(taken)])


ALL = (
    Linear,
    LogLinear,
    ThreeHalves,
    Quadratic,
    OnRuns,
    OnNewlines,
    Late,
    Exponential,
    Recursive,
    Hungry,
)
