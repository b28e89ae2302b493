"""Implementations of known growth: ``--impl tests/harness/planted.py:Quadratic``.

All give one id a byte, and burn time besides.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from corpora.vocabularies.model import Vocabulary
from impls.interface import About, Mode, Rejected

STRIDE = 64
"""Bytes to each pass over the input: with them, the square is seen from a kilobyte on."""


class Linear:
    """Goes over its input once."""

    name = "linear"
    claims_linear = True

    @property
    def about(self) -> About:
        return About(name=self.name, version="1", linear=self.claims_linear)

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        return None

    def load(self, vocabulary: Vocabulary) -> Linear:
        return self

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        return list(data)


class Quadratic(Linear):
    """Goes over its input once for every so many bytes of it."""

    name = "quadratic"

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        for _ in range(0, len(data), STRIDE):
            sum(data)
        return list(data)


class QuadraticOnRuns(Quadratic):
    """As Quadratic, where all bytes are one."""

    name = "quadratic-on-runs"
    claims_linear = False

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        if len(set(data)) == 1:
            return super().encode(data, mode)
        return list(data)


class Dies(Linear):
    """Aborts above 2,000 bytes."""

    name = "dies"

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        if len(data) > 2000:
            os.abort()
        return list(data)


class Picky(Linear):
    """Takes no text."""

    name = "picky"

    def encode(self, data: bytes, mode: Mode) -> Sequence[int]:
        raise Rejected("no text, please")
