"""How our encoders warm up: each of their methods is called once on a few bytes.

Numba compiles a function for the types of its first call, which takes seconds; here nobody counts
them. See :class:`impls.interface.WarmsUp`.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from impls.interface import (
    Appends,
    Counts,
    CountsIntervals,
    CountsTillLimit,
    Decodes,
    EncodesBatches,
    GivesOffsets,
    Prepends,
    Splits,
)
from impls.prepared import Prepares, PreparesCount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from impls.interface import Encoder, Mode

TEXT = "a b\u00e9 12".encode()
"""Letters, a space, a character of two bytes, digits: no more than a vocabulary may have."""


def warm_up(encoder: Encoder, modes: Sequence[Mode]) -> None:
    """Call all that an encoder has on a few bytes, in each of these modes.

    What it does not do, or what the vocabulary has no token for, is passed over: by then its code
    is compiled.
    """
    for mode in modes:
        for call in _calls(encoder, mode):
            with contextlib.suppress(Exception):
                call()


def _calls(encoder: Encoder, mode: Mode) -> Iterator[Callable[[], object]]:
    """One call of each method."""
    size = len(TEXT)
    yield lambda: encoder.encode(b"", mode)
    yield lambda: encoder.encode(TEXT, mode)
    if isinstance(encoder, EncodesBatches):
        batches = encoder
        yield lambda: batches.encode_batch(TEXT, np.array([1, size], dtype=np.int64), mode)
    if isinstance(encoder, GivesOffsets):
        locating = encoder
        yield lambda: locating.encode_with_offsets(TEXT, mode)
    if isinstance(encoder, Decodes):
        decoding = encoder
        yield lambda: decoding.decode(encoder.encode(TEXT, mode))
    if isinstance(encoder, Prepares):
        preparing = encoder
        yield lambda: [preparing.prepare(TEXT, mode)()]
    if isinstance(encoder, PreparesCount):
        counting = encoder
        yield lambda: [counting.prepare_count(TEXT, mode)()]
    yield from _services(encoder, mode)


def _services(encoder: Encoder, mode: Mode) -> Iterator[Callable[[], object]]:
    """One call of each service."""
    if isinstance(encoder, Counts):
        counts = encoder
        yield lambda: counts.count(TEXT, mode)
    if isinstance(encoder, CountsTillLimit):
        limited = encoder
        yield lambda: limited.count_till_limit(TEXT, 2, mode)
    if isinstance(encoder, Splits):
        splitting = encoder
        yield lambda: splitting.split(TEXT, 2, mode)
    if isinstance(encoder, Appends):
        appending = encoder
        yield lambda: appending.append([TEXT[:1], TEXT[1:]], mode)
    if isinstance(encoder, Prepends):
        prepending = encoder
        yield lambda: prepending.prepend([TEXT[1:], TEXT[:1]], mode)
    if isinstance(encoder, CountsIntervals):
        intervals = encoder
        yield lambda: intervals.interval(TEXT, [(0, 1), (1, 3)], mode)
