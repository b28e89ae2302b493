"""Minimise an input while its violation keeps its signature.

Delta debugging (Zeller and Hildebrandt 2002) over characters, or over bytes where the input is
not UTF-8, in batches: all candidates of a round go to the workers in one request, and the first
that still fails, in an order that prefers the smaller, is taken. Hypothesis's shrinker asks one
candidate at a time, which costs a round trip of processes for each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Failing = Callable[[Sequence[bytes]], list[bool]]
"""A function of this type says which of the given inputs still fail in the same way."""

SIMPLE = "a 0A.\n"
"""Characters that a reader understands at once, the simplest first."""

SIMPLE_BYTE = b"a"

SMALL_CHUNK = 4
"""Chunks of up to so many atoms are taken out at every place."""

ROUND_BYTES = 1 << 20
"""One request has so many bytes of candidates at the most, so that long inputs do not flood it."""

ROUND_CASES = 64


def shrink(
    data: bytes, failing: Failing, seconds: float, enough: Callable[[], bool] = lambda: False
) -> tuple[bytes, bool]:
    """The smallest input found, and whether the search ended by itself (else time ran out).

    enough: whether no further candidate is worth its cost, asked before each request.
    The result fails wherever ``data`` did; it is never longer than ``data``, and it is the same
    for the same answers of ``failing``.
    """
    search = _Search(data, failing, time.monotonic() + seconds, enough)
    while not search.late:
        before = search.best
        search.delete()
        search.simplify()
        if search.best == before:
            return before, not search.late
    return search.best, False


def subsequence(part: bytes, whole: bytes) -> bool:
    """Whether ``part`` is what is left of ``whole`` when some of its bytes are taken out."""
    rest = iter(whole)
    return all(byte in rest for byte in part)


class _Search:
    """The smallest failing input so far, and the time by which the search must end."""

    def __init__(
        self, data: bytes, failing: Failing, deadline: float, enough: Callable[[], bool]
    ) -> None:
        self._enough = enough
        self.best = data
        self._failing = failing
        self._deadline = deadline

    @property
    def late(self) -> bool:
        """Whether time has run out, or enough has been spent."""
        return time.monotonic() > self._deadline or self._enough()

    def delete(self) -> None:
        """Take out chunks: halves first, then ever smaller ones, down to single atoms.

        Small chunks are tried at every place and in every size, so that what only goes together
        (a pair of brackets) goes together.
        """
        chunk = (len(_units(self.best)) + 1) // 2
        while chunk and not self.late:
            step = 1 if chunk <= SMALL_CHUNK else chunk
            start: int | None = 0
            while start is not None and not self.late:
                start = self._first(_without_chunks(self.best, chunk, start, step))
            chunk = chunk - 1 if chunk <= SMALL_CHUNK else max(SMALL_CHUNK, chunk // 2)

    def simplify(self) -> None:
        """Make atoms simpler as long as any can be."""
        while not self.late and self._first(enumerate(replacements(self.best))) is not None:
            pass

    def _first(self, candidates: Iterator[tuple[int, bytes]]) -> int | None:
        """Take the first candidate that fails; its place, None if none does or time is up."""
        round_: list[tuple[int, bytes]] = []
        size = 0
        for candidate in candidates:
            round_.append(candidate)
            size += len(candidate[1])
            if len(round_) >= ROUND_CASES or size >= ROUND_BYTES:
                place = self._ask(round_)
                if place is not None or self.late:
                    return place
                round_, size = [], 0
        return self._ask(round_) if round_ else None

    def _ask(self, round_: list[tuple[int, bytes]]) -> int | None:
        answers = self._failing([candidate for _, candidate in round_])
        for (place, candidate), fails in zip(round_, answers, strict=True):
            if fails:
                self.best = candidate
                return place
        return None


def _units(data: bytes) -> Any:
    """The characters of a text, the bytes of what is none: both are cut and joined alike."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _without_chunks(data: bytes, chunk: int, start: int, step: int) -> Iterator[tuple[int, bytes]]:
    """The input without one chunk, for every ``step``-th atom from ``start`` on, with the atom."""
    units = _units(data)
    for place in range(start, len(units), step):
        yield place, _bytes(units[:place] + units[place + chunk :])


def replacements(data: bytes) -> Iterator[bytes]:
    """The input with one atom made simpler: every one alike first, then each by itself."""
    units = _units(data)
    if isinstance(units, str):
        for character in dict.fromkeys(units):
            for simple in _simpler(character):
                yield units.replace(character, simple).encode()
    for place in range(len(units)):
        for simple in _simpler(units[place : place + 1]):
            yield _bytes(units[:place] + simple + units[place + 1 :])


def _bytes(units: str | bytes) -> bytes:
    return units.encode() if isinstance(units, str) else units


def _simpler(atom: str | bytes) -> Iterator[Any]:
    """What is simpler than a character, or than a byte, the simplest first."""
    if isinstance(atom, bytes):
        return iter([SIMPLE_BYTE] if atom != SIMPLE_BYTE else [])
    place = SIMPLE.find(atom)
    return iter(SIMPLE if place < 0 else SIMPLE[:place])
