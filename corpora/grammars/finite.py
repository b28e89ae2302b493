"""A language of finitely many sentences."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from corpora.grammars.base import Grammar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class FiniteLanguage(Grammar):
    """The sentences given, as a trie over bytes.

    The trie is implicit: its nodes are the ranges of the sorted sentences that share their first
    ``depth`` bytes, and a child is found by bisection. Equal states have equal rests.
    """

    __slots__ = ("_depth", "_first", "_last", "_sorted")

    def __init__(self, sentences: Iterable[bytes]) -> None:
        self._sorted: Sequence[bytes] = sorted(set(sentences))
        self._first = 0
        self._last = len(self._sorted)
        self._depth = 0

    def forced(self) -> bytes:
        """What the first and the last sentence share, and so all between them."""
        if self._first == self._last:
            return b""
        first, last = self._sorted[self._first], self._sorted[self._last - 1]
        end = self._depth
        while end < min(len(first), len(last)) and first[end] == last[end]:
            end += 1
        return first[self._depth : end]

    def viable(self, data: bytes) -> bool:
        """Whether some sentence begins with ``data``."""
        first, last = self._range(data)
        return first < last

    def after(self, data: bytes) -> FiniteLanguage:
        """The state after ``data``. Raises ValueError where it is not viable."""
        first, last = self._range(data)
        if first == last:
            raise ValueError(f"no sentence goes on with {data!r}")
        return self._state(first, last, self._depth + len(data))

    @property
    def complete(self) -> bool:
        """Whether a sentence may end here."""
        # The shortest sentence of a range comes first.
        return self._first < self._last and len(self._sorted[self._first]) == self._depth

    def next_bytes(self) -> tuple[int, ...]:
        """The bytes with which some sentence goes on, ascending."""
        found = []
        at = self._first + self.complete
        while at < self._last:
            byte = self._sorted[at][self._depth]
            found.append(byte)
            at = bisect_right(self._sorted, byte, at, self._last, key=lambda s: s[self._depth])
        return tuple(found)

    def sentences(self, most: int) -> tuple[bytes, ...] | None:
        """All sentences, sorted, or None if there are more than ``most``."""
        if self._last - self._first > most:
            return None
        return tuple(s[self._depth :] for s in self._sorted[self._first : self._last])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FiniteLanguage) and self._rests() == other._rests()

    def __hash__(self) -> int:
        return hash(self._rests())

    def __repr__(self) -> str:
        return f"<FiniteLanguage: {self._last - self._first} sentences after {self._depth} bytes>"

    def _rests(self) -> tuple[bytes, ...]:
        return self.sentences(len(self._sorted)) or ()

    def _state(self, first: int, last: int, depth: int) -> FiniteLanguage:
        state = FiniteLanguage.__new__(FiniteLanguage)
        state._sorted, state._first, state._last, state._depth = self._sorted, first, last, depth
        return state

    def _range(self, data: bytes) -> tuple[int, int]:
        """Which of the sorted sentences go on with ``data``."""
        start, end = self._depth, self._depth + len(data)

        def part(sentence: bytes) -> bytes:
            return sentence[start:end]

        first = bisect_left(self._sorted, data, self._first, self._last, key=part)
        return first, bisect_right(self._sorted, data, first, self._last, key=part)
