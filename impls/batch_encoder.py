"""How our encoders warm up: each of their methods is called once on a few bytes.

Numba compiles a function for the types of its first call, which takes seconds; here nobody counts
them. See :class:`impls.interface.WarmsUp`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from impls.interface import (
    Appends,
    Counts,
    CountsIntervals,
    CountsTillLimit,
    Decodes,
    Encoder,
    EncodesBatches,
    GivesOffsets,
    Mode,
    Prepends,
    Splits,
)
from impls.prepared import Prepares, PreparesCount

TEXT = "a b\u00e9 12".encode()
"""Letters, a space, a character of two bytes, digits: no more than a vocabulary may have."""


CALLS: tuple[tuple[type, Callable[[Any, Mode], object]], ...] = (
    (Encoder, lambda one, mode: one.encode(b"", mode)),
    (Encoder, lambda one, mode: one.encode(TEXT, mode)),
    (EncodesBatches, lambda one, mode: one.encode_batch(TEXT, np.array([1, len(TEXT)]), mode)),
    (GivesOffsets, lambda one, mode: one.encode_with_offsets(TEXT, mode)),
    (Decodes, lambda one, mode: one.decode(one.encode(TEXT, mode))),
    (Prepares, lambda one, mode: one.prepare(TEXT, mode)()),
    (PreparesCount, lambda one, mode: one.prepare_count(TEXT, mode)()),
    (Counts, lambda one, mode: one.count(TEXT, mode)),
    (CountsTillLimit, lambda one, mode: one.count_till_limit(TEXT, 2, mode)),
    (Splits, lambda one, mode: one.split(TEXT, 2, mode)),
    (Appends, lambda one, mode: one.append([TEXT[:1], TEXT[1:]], mode)),
    (Prepends, lambda one, mode: one.prepend([TEXT[1:], TEXT[:1]], mode)),
    (CountsIntervals, lambda one, mode: one.interval(TEXT, [(0, 1), (1, 3)], mode)),
)
"""What has each method, and a call of it."""


def warm_up(encoder: Encoder, modes: Sequence[Mode]) -> None:
    """Call all that an encoder has on a few bytes, in each of these modes.

    What it does not do, or what the vocabulary has no token for, is passed over: by then its code
    is compiled.
    """
    for mode in modes:
        for kind, call in CALLS:
            if isinstance(encoder, kind):
                with contextlib.suppress(Exception):
                    call(encoder, mode)
