"""Implementations of known cost: ``--impl tests/doubles/planted.py:Quadratic``.

All give one id a byte, and take time or memory besides.
"""

from __future__ import annotations

from typing import ClassVar

from impls.interface import About

STRIDE = 64
"""Bytes to each pass over the input: with them, the square is seen from a kilobyte on."""


class Linear:
    """Goes over its input once."""

    name = "linear"
    claims_linear = True

    @property
    def about(self):
        return About(name=self.name, version="1", linear=self.claims_linear)

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        return self

    def encode(self, data, mode):
        return list(data)


class Quadratic(Linear):
    """Goes over its input once for every so many bytes of it."""

    name = "quadratic"

    def encode(self, data, mode):
        for _ in range(0, len(data), STRIDE):
            sum(data)
        return list(data)


class Hungry(Linear):
    """Takes a thousand bytes for each."""

    name = "hungry"

    def encode(self, data, mode):
        taken = b"\x01" * (1000 * len(data))
        return list(data[: len(taken)])


class Caching(Linear):
    """Keeps an answer of 8 KiB for each text that it has seen."""

    name = "caching"
    seen: ClassVar[dict[bytes, bytes]] = {}

    def encode(self, data, mode):
        self.seen.setdefault(data, b"\x01" * 8192)
        return list(data)


class Keeping(Linear):
    """Takes two megabytes, and keeps one of them."""

    name = "keeping"
    kept: ClassVar[list[bytes]] = []

    def encode(self, data, mode):
        self.kept.append(b"\x01" * (1 << 20))
        taken = b"\x01" * (1 << 20)
        return list(data[: len(taken)])
