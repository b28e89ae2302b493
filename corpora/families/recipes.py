"""Recipes: inputs of one kind at any size, each with the line of Python that makes it.

A variant is a fresh input of the same cost, so that what an implementation keeps of what it
encoded before (a cache of pieces) is no help: other draws, or a length of its own.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

VARIANTS = 32
"""Fresh inputs of a repetition: each is a byte shorter than the one before, or a character."""

WIDEST = 4
"""Bytes of the longest character: between draws of one kind of characters none is wider."""


class Recipe(Protocol):
    """What a family's inputs are made by; a pure function of its arguments."""

    @property
    def text(self) -> bool:
        """Whether all inputs are valid UTF-8."""
        ...

    def make(self, size: int, variant: int = 0) -> bytes:
        """The input of ``size`` bytes, less at most a variant and what a character takes."""
        ...

    def expression(self) -> str:
        """One line of Python for variant 0 of ``n`` bytes, with ``random`` imported."""
        ...


def seed_of(size: int, variant: int) -> int:
    """Another for each size, so that the shorter input is no beginning of the longer."""
    return size * VARIANTS + variant


SEED = f"{VARIANTS} * n"
"""The seed in an expression."""

MENDED = ".decode('utf-8', 'ignore').encode()"
"""This drops, in an expression, what a cut left of a character."""


def whole(data: bytes) -> bytes:
    """Text without the character that a cut at its end left incomplete."""
    return data.decode("utf-8", "ignore").encode()


def is_text(*parts: bytes) -> bool:
    """Whether all of these are valid UTF-8."""
    try:
        for part in parts:
            part.decode()
    except UnicodeDecodeError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class Repeated:
    """``prefix + unit x k + suffix``."""

    unit: bytes
    prefix: bytes = b""
    suffix: bytes = b""

    @property
    def text(self) -> bool:
        """Whether all its parts are."""
        return is_text(self.unit, self.prefix, self.suffix)

    def make(self, size: int, variant: int = 0) -> bytes:
        """The ends are kept; a variant is shorter by as many bytes."""
        room = max(0, size - variant % VARIANTS - len(self.prefix) - len(self.suffix))
        data = self.prefix + self._fill(room) + self.suffix
        if len(data) <= size:
            return data
        # Too small for its ends: they are cut as well.
        return whole(data[:size]) if self.text else data[:size]

    def _fill(self, room: int) -> bytes:
        filled = (self.unit * (room // len(self.unit) + 1))[:room]
        return whole(filled) if self.text else filled

    def expression(self) -> str:
        """``b'a' * n``, or with its ends and a cut."""
        ends = len(self.prefix) + len(self.suffix)
        room = f"n - {ends}" if ends else "n"
        if len(self.unit) == 1:
            middle = f"{self.unit!r} * ({room})" if ends else f"{self.unit!r} * n"
        else:
            middle = f"({self.unit!r} * n)[:{room}]"
            if self.text and not self.unit.isascii():
                middle += MENDED
        before = f"{self.prefix!r} + " if self.prefix else ""
        after = f" + {self.suffix!r}" if self.suffix else ""
        return before + middle + after


@dataclass(frozen=True, slots=True)
class Letters:
    """Single bytes at random, each as likely as often it stands in ``alphabet``, up to 256."""

    alphabet: bytes

    @property
    def text(self) -> bool:
        """Of ASCII only, any order is text."""
        return self.alphabet.isascii()

    def make(self, size: int, variant: int = 0) -> bytes:
        """By a table of 256: a megabyte takes a millisecond."""
        table = (self.alphabet * 256)[:256]
        return random.Random(seed_of(size, variant)).randbytes(size).translate(table)

    def expression(self) -> str:
        """Bytes and the table."""
        table = f"({self.alphabet!r} * 256)[:256]"
        return f"random.Random({SEED}).randbytes(n).translate({table})"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Parts at random, one after another."""

    parts: tuple[bytes, ...]

    @property
    def text(self) -> bool:
        """Whether all parts are."""
        return is_text(*self.parts)

    @property
    def _shortest(self) -> int:
        return min(map(len, self.parts))

    def make(self, size: int, variant: int = 0) -> bytes:
        """As many parts as surely fill it."""
        rng = random.Random(seed_of(size, variant))
        data = b"".join(rng.choices(self.parts, k=size // self._shortest + 1))[:size]
        return whole(data) if self.text else data

    def expression(self) -> str:
        """The parts in full."""
        parts = ", ".join(map(repr, self.parts))
        count = "n + 1" if self._shortest == 1 else f"n // {self._shortest} + 1"
        line = f"b''.join(random.Random({SEED}).choices([{parts}], k={count}))[:n]"
        return line if all(map(bytes.isascii, self.parts)) or not self.text else line + MENDED


@dataclass(frozen=True, slots=True)
class Characters:
    """Characters at random from ``first`` to ``last``, neither a surrogate; all of one width."""

    first: int
    last: int

    text = True

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


@dataclass(frozen=True, slots=True)
class AnyText:
    """Random bytes, each that is no character replaced by U+FFFD."""

    text = True

    def make(self, size: int, variant: int = 0) -> bytes:
        """Cut at a character."""
        data = random.Random(seed_of(size, variant)).randbytes(size)
        return whole(data.decode("utf-8", "replace").encode()[:size])

    def expression(self) -> str:
        """Bytes, replaced, cut."""
        drawn = f"random.Random({SEED}).randbytes(n)"
        return f"{drawn}.decode('utf-8', 'replace').encode()[:n]{MENDED}"


@dataclass(frozen=True, slots=True)
class English:
    """Lines at random of the English that tokgate has at hand.

    Not a page of it, as pages differ: tables and lists cost more than what is told in sentences.
    """

    text = True

    def make(self, size: int, variant: int = 0) -> bytes:
        """As many lines as surely fill it."""
        lines = english_lines()
        rng = random.Random(seed_of(size, variant))
        count = size // 16 + 1
        data = b"".join(rng.choices(lines, k=count))
        while len(data) < size:
            data += b"".join(rng.choices(lines, k=count))
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
