"""Recipes: inputs of one kind at any size, each with the line of Python that makes it.

A variant is a fresh input of the same cost, so that what an implementation keeps of what it
encoded before (a cache of pieces) is no help. Most recipes are patterns
(:mod:`corpora.families.pattern`); here are those that are not.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

VARIANTS = 32
"""Fresh inputs of a repetition: each is a byte shorter than the one before, or a character."""

SEED = f"{VARIANTS} * n"
"""The seed in an expression."""

MENDED = ".decode('utf-8', 'ignore').encode()"
"""This drops, in an expression, what a cut left of a character."""


class Recipe(Protocol):
    """What a family's inputs are made by; a pure function of its arguments."""

    def make(self, size: int, variant: int = 0) -> bytes:
        """The input of ``size`` bytes, less at most a variant and what a character takes."""
        ...

    def expression(self) -> str:
        """One line of Python for variant 0 of ``n`` bytes, with ``random`` imported."""
        ...


def seed_of(size: int, variant: int) -> int:
    """Another for each size, so that the shorter input is no beginning of the longer."""
    return size * VARIANTS + variant


def whole(data: bytes) -> bytes:
    """Text without the character that a cut at its end left incomplete."""
    return data.decode("utf-8", "ignore").encode()


@dataclass(frozen=True, slots=True)
class Characters:
    """Characters at random from ``first`` to ``last``, neither a surrogate; all of one width."""

    first: int
    last: int

    @property
    def _width(self) -> int:
        return len(chr(self.first).encode())

    def make(self, size: int, variant: int = 0) -> bytes:
        """As many as there is room for."""
        rng = random.Random(seed_of(size, variant))
        points = rng.choices(range(self.first, self.last + 1), k=size // self._width)
        return "".join(map(chr, points)).encode()

    def expression(self) -> str:
        """Code points in hexadecimal."""
        points = f"range(0x{self.first:x}, 0x{self.last + 1:x})"
        drawn = f"random.Random({SEED}).choices({points}, k=n // {self._width})"
        return f"''.join(map(chr, {drawn})).encode()"


class AnyText:
    """Random bytes, each that is no character replaced by U+FFFD."""

    def make(self, size: int, variant: int = 0) -> bytes:
        """Cut at a character."""
        data = random.Random(seed_of(size, variant)).randbytes(size)
        return whole(data.decode("utf-8", "replace").encode()[:size])

    def expression(self) -> str:
        """Bytes, replaced, cut."""
        drawn = f"random.Random({SEED}).randbytes(n)"
        return f"{drawn}.decode('utf-8', 'replace').encode()[:n]{MENDED}"


class English:
    """Lines at random of the English that tokgate has at hand.

    Not a page of it, as pages differ: tables and lists cost more than what is told in sentences.
    """

    def make(self, size: int, variant: int = 0) -> bytes:
        """As many lines as fill it."""
        rng, data = random.Random(seed_of(size, variant)), b""
        while len(data) < size:
            data += b"".join(rng.choices(english_lines(), k=size // 16 + 1))
        return whole(data[:size])

    def expression(self) -> str:
        """By this very function: the control is no input that anybody has to send."""
        module = "__import__('corpora.families.recipes', fromlist=['English'])"
        return f"{module}.English().make(n)"


@lru_cache(maxsize=1)
def english_lines() -> tuple[bytes, ...]:
    """The lines, empty ones left out, each with its end."""
    from corpora.generators.prose import english  # noqa: PLC0415 - half a megabyte of text

    return tuple(f"{line}\n".encode() for line in english().split("\n") if line.strip())
