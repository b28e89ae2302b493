"""Minimise an input while its violation keeps its signature.

Delta debugging (Zeller and Hildebrandt 2002) over characters, or over bytes where the input is
not UTF-8, in batches: all candidates of a round go to the workers in one request, and the first
that still fails, in an order that prefers the smaller, is taken. Hypothesis's shrinker asks one
candidate at a time, which costs a round trip of processes for each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
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

MIXED_BYTES = 1 << 16
"""One request has chunks of several sizes up to so many bytes of candidates: of a short input all
are answered as soon as one."""

ROUND_CASES = 64

At = tuple[int, int]
"""The size of a chunk, and the place in the input from which on it is taken out; a chunk of no size
stands for atoms made simpler."""


def shrink(
    data: bytes,
    failing: Failing,
    seconds: float,
    enough: Callable[[], bool] = lambda: False,
    mixed: int = 0,
) -> tuple[bytes, bool]:
    """The smallest input found, and whether the search ended by itself (else time ran out).

    enough: whether no further candidate is worth its cost, asked before each request. mixed: a
    request has chunks of several sizes up to so many bytes.
    The result fails wherever ``data`` did; it is never longer than ``data``, and it is the same
    for the same answers of ``failing``.
    """
    deadline = time.monotonic() + seconds
    best = data

    def late() -> bool:
        return time.monotonic() > deadline or enough()

    def take(candidates: Iterable[tuple[At, bytes]]) -> At | None:
        """Take the first candidate that fails; where it was, None if none does or time is up."""
        nonlocal best
        for asked in _rounds(candidates, mixed):
            answers = failing([candidate for _, candidate in asked])
            for (at, candidate), fails in zip(asked, answers, strict=True):
                if fails:
                    best = candidate
                    return at
            if late():
                break
        return None

    while not late():
        before = best
        at: At | None = ((len(_units(best)) + 1) // 2, 0)
        while at is not None and not late():
            at = take(_candidates(best, *at))
        if best == before:
            return best, not late()
    return best, False


def subsequence(part: bytes, whole: bytes) -> bool:
    """Whether ``part`` is what is left of ``whole`` when some of its bytes are taken out."""
    rest = iter(whole)
    return all(byte in rest for byte in part)


def _rounds(candidates: Iterable[tuple[At, bytes]], mixed: int) -> Iterator[list[tuple[At, bytes]]]:
    """The candidates of one request after another."""
    asked: list[tuple[At, bytes]] = []
    size = 0
    for at, candidate in candidates:
        other = bool(asked) and at[0] != asked[-1][0][0]
        if len(asked) >= ROUND_CASES or size >= ROUND_BYTES or (other and size >= mixed):
            yield asked
            asked, size = [], 0
        asked.append((at, candidate))
        size += len(candidate)
    if asked:
        yield asked


def _candidates(data: bytes, chunk: int, start: int) -> Iterator[tuple[At, bytes]]:
    """The input without a chunk: half of it, then ever less; then with simpler atoms.

    chunk, start: where to begin. Small chunks are tried at every place and in every size, so that
    what only goes together (a pair of brackets) goes together.
    """
    units = _units(data)
    while chunk:
        for place in range(start, len(units), 1 if chunk <= SMALL_CHUNK else chunk):
            yield (chunk, place), _bytes(units[:place] + units[place + chunk :])
        chunk, start = chunk - 1 if chunk <= SMALL_CHUNK else max(SMALL_CHUNK, chunk // 2), 0
    for simpler in _simplified(units):
        yield (0, 0), _bytes(simpler)


def _simplified(units: Any) -> Iterator[Any]:
    """A text or bytes with one atom made simpler: every one alike first, then each by itself."""
    simple: Any = SIMPLE if isinstance(units, str) else SIMPLE_BYTE
    if isinstance(units, str):
        for character in dict.fromkeys(units):
            for simpler in simple.partition(character)[0]:
                yield units.replace(character, simpler)
    for place in range(len(units)):
        before = simple.partition(units[place : place + 1])[0]
        for at in range(len(before)):
            yield units[:place] + before[at : at + 1] + units[place + 1 :]


def _units(data: bytes) -> Any:
    """The characters of a text, the bytes of what is none: both are cut and joined alike."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def _bytes(units: str | bytes) -> bytes:
    return units.encode() if isinstance(units, str) else units
