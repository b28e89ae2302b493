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
class Line:
    """A line of Python for ``n`` bytes, with ``random`` imported, and ``{seed}`` for the seed."""

    line: str

    def make(self, size: int, variant: int = 0) -> bytes:
        """What the line says, of another seed for each variant."""
        line = self.line.replace("{seed}", str(seed_of(size, variant)))
        made: bytes = eval(line, {"random": random, "n": size})  # ours, as shipped
        return made

    def expression(self) -> str:
        """The line with its seed."""
        return self.line.replace("{seed}", SEED)


def english(size: int, seed: int) -> bytes:
    """Lines at random of the English that tokgate has at hand.

    Not a page of it, as pages differ: tables and lists cost more than what is told in sentences.
    """
    rng, data = random.Random(seed), b""
    while len(data) < size:
        data += b"".join(rng.choices(english_lines(), k=size // 16 + 1))
    return whole(data[:size])


@lru_cache(maxsize=1)
def english_lines() -> tuple[bytes, ...]:
    """The lines, empty ones left out, each with its end."""
    from corpora.generators import prose  # noqa: PLC0415 - half a megabyte of text

    return tuple(f"{line}\n".encode() for line in prose.english().split("\n") if line.strip())
