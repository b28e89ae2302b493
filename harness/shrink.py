"""Minimise an input while its violation keeps its signature.

Delta debugging (Zeller and Hildebrandt 2002) over characters, or over bytes where the input is
not UTF-8, in batches: all candidates of a round go to the workers in one request, and the first
that still fails, in an order that prefers the smaller, is taken. Hypothesis's shrinker asks one
candidate at a time, which costs a round trip of processes for each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Failing = Callable[[Sequence[bytes]], list[bool]]
"""Which of these inputs still fail in the same way."""

Atoms = TypeVar("Atoms", str, bytes)

SIMPLE = "a 0A.\n"
"""Characters that a reader understands at once, the simplest first."""

SIMPLE_BYTE = b"a"

ROUND_BYTES = 1 << 20
"""At most so many bytes of candidates in one request, so that long inputs do not flood it."""

ROUND_CASES = 64


def shrink(data: bytes, failing: Failing, seconds: float) -> tuple[bytes, bool]:
    """The smallest input found, and whether the search ended by itself (else time ran out).

    The result fails wherever ``data`` did; it is never longer than ``data``, and it is the same
    for the same answers of ``failing``.
    """
    deadline = time.monotonic() + seconds
    best = data
    improved = True
    while improved:
        improved = False
        for candidates in (deletions, replacements):
            while (smaller := _first_failing(candidates(best), failing, deadline)) is not None:
                best, improved = smaller, True
            if time.monotonic() > deadline:
                return best, False
    return best, True


def _first_failing(candidates: Iterator[bytes], failing: Failing, deadline: float) -> bytes | None:
    round_: list[bytes] = []
    size = 0
    for candidate in candidates:
        round_.append(candidate)
        size += len(candidate)
        if len(round_) >= ROUND_CASES or size >= ROUND_BYTES:
            found = _ask(round_, failing)
            if found is not None or time.monotonic() > deadline:
                return found
            round_, size = [], 0
    return _ask(round_, failing) if round_ else None


def _ask(round_: list[bytes], failing: Failing) -> bytes | None:
    for candidate, fails in zip(round_, failing(round_), strict=True):
        if fails:
            return candidate
    return None


def deletions(data: bytes) -> Iterator[bytes]:
    """The input without a chunk: halves first, then ever smaller chunks, down to single atoms."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        yield from _without_chunks(data)
        return
    for shorter in _without_chunks(text):
        yield shorter.encode()


def _without_chunks(atoms: Atoms) -> Iterator[Atoms]:
    chunk = (len(atoms) + 1) // 2
    while chunk:
        # Long inputs keep what is at one end far more often than what is in the middle.
        for start in range(0, len(atoms), chunk):
            yield atoms[:start] + atoms[start + chunk :]
        chunk //= 2


def replacements(data: bytes) -> Iterator[bytes]:
    """The input with one atom made simpler: every one alike first, then each by itself."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        for place, byte in enumerate(data):
            if byte != SIMPLE_BYTE[0]:
                yield data[:place] + SIMPLE_BYTE + data[place + 1 :]
        return
    for character in dict.fromkeys(text):
        for simple in _simpler(character):
            yield text.replace(character, simple).encode()
    for place, character in enumerate(text):
        for simple in _simpler(character):
            yield (text[:place] + simple + text[place + 1 :]).encode()


def _simpler(character: str) -> str:
    place = SIMPLE.find(character)
    return SIMPLE if place < 0 else SIMPLE[:place]
