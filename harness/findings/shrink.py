"""Minimise an input while its violation keeps its signature.

Delta debugging (Zeller and Hildebrandt 2002) over characters, or over bytes where the input is
not UTF-8, in batches: the candidates of a round go to the workers in one request, and the first
that still fails, in an order that prefers the smaller, is taken. Hypothesis's shrinker asks one
candidate at a time, which costs a round trip of processes for each. Of a long input parts are tried
alone before others are taken out, as most mistakes need a few characters that stand together.
"""

import contextlib
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

ROUND_BYTES = 32 << 10
"""One request has so many bytes of candidates, or a single one. Its answer takes some hundredths of
a second: all others who ask the same workers wait for it."""

ROUND_CASES = 64
"""One request has so many candidates: of a short input all are answered as soon as one."""

LONG = 64
"""Of an input of more atoms than this, parts are tried alone."""

PARTS = (16, 4)
"""A part is such a share of the input. Parts overlap by half."""

At = tuple[int, int] | None
"""The size of a chunk, and the place in the input from which on it is taken out; a chunk of no size
stands for atoms made simpler. None of a part that stands alone, which is begun with anew."""


def shrink(
    data: bytes,
    failing: Failing,
    seconds: float,
    enough: Callable[[], bool] = lambda: False,
    most: int = ROUND_CASES,
) -> tuple[bytes, bool]:
    """The smallest input found, and whether the search ended by itself (else time ran out).

    enough: whether no further candidate is worth its cost, asked before each request. most: so many
    candidates are asked in one request.
    The result fails wherever ``data`` did; it is never longer than ``data``, and it is the same
    for the same answers of ``failing``. What ``failing`` raises ends the search.
    """
    deadline = time.monotonic() + seconds
    best = before = data
    candidates = _candidates(data)
    # Of a run of one character nearly all candidates are the same, and of a long input there are
    # too many to keep: a hash stands for each that does not fail.
    passed = set[int]()
    while time.monotonic() <= deadline and not enough():
        asked: dict[bytes, At] = {}
        for at, units in candidates:
            candidate = units.encode() if isinstance(units, str) else units
            if hash(candidate) not in passed:
                asked[candidate] = asked.get(candidate, at)
            if len(asked) >= most or sum(map(len, asked)) >= ROUND_BYTES:
                break
        if not asked:
            if best == before:
                return best, True
            before, candidates = best, _candidates(best)
            continue
        for candidate, fails in zip(asked, failing([*asked]), strict=True):
            if fails:
                best, candidates = candidate, _candidates(candidate, asked[candidate])
                break
            passed.add(hash(candidate))
    return best, False


def subsequence(part: bytes, whole: bytes) -> bool:
    """Whether ``part`` is what is left of ``whole`` when some of its bytes are taken out."""
    rest = iter(whole)
    return all(byte in rest for byte in part)


def _candidates(data: bytes, at: At = None) -> Iterator[tuple[At, Any]]:
    """A part of a long input; the input without a chunk: half of it, then ever less; simpler atoms.

    Each is a text, or bytes where the input is none. at: where to begin. Small chunks are tried at
    every place and in every size, so that what only goes together (a pair of brackets) goes
    together.
    """
    units: Any = data
    with contextlib.suppress(UnicodeDecodeError):
        units = data.decode()
    for share in PARTS if at is None and len(units) > LONG else ():
        size = len(units) // share
        for place in range(0, len(units), size // 2):
            yield None, units[place : place + size]
    chunk, start = at or ((len(units) + 1) // 2, 0)
    while chunk:
        step = 1 if chunk <= SMALL_CHUNK else chunk
        for place in range(start, len(units), step):
            before = max(start, place - step)
            if before < place and units[before:place] == units[before + chunk : place + chunk]:
                continue  # as if it were taken out at the place before: so it is in a long run
            yield (chunk, place), units[:place] + units[place + chunk :]
        chunk, start = chunk - 1 if chunk <= SMALL_CHUNK else max(SMALL_CHUNK, chunk // 2), 0
    for simpler in _simplified(units):
        yield (0, 0), simpler


def _simplified(units: Any) -> Iterator[Any]:
    """A text or bytes with atoms made simpler: all that are alike first, then ever shorter chunks
    made the simplest, then each by itself."""
    text = isinstance(units, str)
    simple: Any = SIMPLE if text else SIMPLE_BYTE
    for character in dict.fromkeys(units) if text else ():
        for simpler in simple.partition(character)[0]:
            yield units.replace(character, simpler)
    chunk = len(units) // 2
    while chunk > 1:
        for place in range(0, len(units), chunk):
            part = units[place : place + chunk]
            if part != (simplest := simple[:1] * len(part)):
                yield units[:place] + simplest + units[place + chunk :]
        chunk //= 2
    for place in range(len(units)):
        before = simple.partition(units[place : place + 1])[0]
        for at in range(len(before)):
            yield units[:place] + before[at : at + 1] + units[place + 1 :]
