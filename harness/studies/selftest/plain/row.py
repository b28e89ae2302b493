"""The symbols of a text while they are merged: a doubly linked list with places that stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

S = TypeVar("S")


@dataclass(slots=True)
class Row(Generic[S]):
    """symbols: by place, None where one was merged into its left neighbour.

    after, before: the places beside each; the number of places for none after, -1 for none before.
    """

    symbols: list[S | None]
    after: list[int]
    before: list[int]

    @classmethod
    def of(cls, symbols: list[S]) -> Row[S]:
        """All symbols in a row."""
        size = len(symbols)
        return cls([*symbols], list(range(1, size + 1)), list(range(-1, size - 1)))

    def pair(self, place: int) -> tuple[S, S] | None:
        """The symbol at a place and the next one; None if either is not there."""
        if place < 0 or self.after[place] >= len(self.symbols):
            return None
        left, right = self.symbols[place], self.symbols[self.after[place]]
        return None if left is None or right is None else (left, right)

    def join(self, place: int, merged: S) -> None:
        """Put ``merged`` in place of a symbol and the next one."""
        gone = self.after[place]
        self.symbols[place], self.symbols[gone] = merged, None
        self.after[place] = self.after[gone]
        if self.after[place] < len(self.symbols):
            self.before[self.after[place]] = place

    def left(self) -> list[S]:
        """What is left, in order."""
        return [symbol for symbol in self.symbols if symbol is not None]
