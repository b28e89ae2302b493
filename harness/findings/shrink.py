"""Minimise an input while its violation keeps its signature.

Delta debugging (Zeller and Hildebrandt 2002) over characters, and over the bytes between them that
are not UTF-8, in batches: the candidates of a round go to the workers in one request, and the first
that still fails, in an order that prefers the smaller, is taken. Hypothesis's shrinker asks one
candidate at a time, which costs a round trip of processes for each. Of a long input parts are tried
alone before others are taken out, as most mistakes need a few characters that stand together.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence

Failing = Callable[[Sequence[bytes]], Iterable[bool]]
"""A function of this type says of each of the given inputs whether it still fails in the same way.
What it says of those after the first that does is not read, so that it may be a generator."""

SIMPLE = "a 0A.\n"
"""Characters that a reader understands at once, the simplest first."""

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

BYTE_BY_BYTE = "surrogateescape"
"""How bytes that are no text are decoded: each as an atom of its own, which stays what it is."""

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
    # too many to keep: a hash stands for each that was answered.
    answered = {hash(data)}
    while time.monotonic() <= deadline and not enough():
        asked: dict[bytes, At] = {}
        for at, text in candidates:
            candidate = text.encode(errors=BYTE_BY_BYTE)
            if hash(candidate) not in answered:
                asked.setdefault(candidate, at)
            if len(asked) >= most or sum(map(len, asked)) >= ROUND_BYTES:
                break
        if not asked:
            if best == before:
                return best, True
            before, candidates = best, _candidates(best)
            continue
        for (candidate, at), fails in zip(asked.items(), failing([*asked]), strict=False):
            answered.add(hash(candidate))
            if fails:
                best, candidates = candidate, _candidates(candidate, at)
                break
    return best, False


def subsequence(part: bytes, whole: bytes) -> bool:
    """Whether ``part`` is what is left of ``whole`` when some of its bytes are taken out."""
    rest = iter(whole)
    return all(byte in rest for byte in part)


def _candidates(data: bytes, at: At = None) -> Iterator[tuple[At, str]]:
    """A part of a long input; the input without a chunk: half of it, then ever less; simpler atoms.

    at: where to begin. Small chunks are tried at every place and in every size, so that what only
    goes together (a pair of brackets) goes together.
    """
    text = data.decode(errors=BYTE_BY_BYTE)
    for share in PARTS if at is None and len(text) > LONG else ():
        size = len(text) // share
        for place in range(0, len(text), size // 2):
            yield None, text[place : place + size]
    chunk, start = at or ((len(text) + 1) // 2, 0)
    while chunk:
        step = 1 if chunk <= SMALL_CHUNK else chunk
        for place in range(start, len(text), step):
            before = max(start, place - step)
            if before < place and text[before:place] == text[before + chunk : place + chunk]:
                continue  # as if it were taken out at the place before: so it is in a long run
            yield (chunk, place), text[:place] + text[place + chunk :]
        chunk, start = chunk - 1 if chunk <= SMALL_CHUNK else max(SMALL_CHUNK, chunk // 2), 0
    for simpler in _simplified(text):
        yield (0, 0), simpler


def _simplified(text: str) -> Iterator[str]:
    """The text with all characters that are alike made simpler, then ever shorter chunks made the
    simplest, then each character by itself made simpler."""
    for character in dict.fromkeys(text):
        for simpler in SIMPLE.partition(character)[0]:
            yield text.replace(character, simpler)
    chunk = len(text) // 2
    while chunk:
        for place in range(0, len(text), chunk):
            part = text[place : place + chunk]
            for simpler in SIMPLE[0] if chunk > 1 else SIMPLE.partition(part)[0]:
                yield text[:place] + simpler * len(part) + text[place + chunk :]
        chunk //= 2
