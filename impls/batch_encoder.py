"""What our compiled encoders share: one call for a batch, and a text is a batch of one.

Numba compiles a function for the types of its first call, which takes seconds. So an encoder is
called once when it is loaded, and can call all that it has where nobody counts the seconds
(:class:`impls.interface.WarmsUp`).
"""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

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

if TYPE_CHECKING:
    from impls.kernels.layout import Ints, Longs

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


class BatchEncoder(ABC):
    """An encoder whose calls are all one for a batch."""

    @abstractmethod
    def encode_batch(self, data: bytes, ends: Longs, mode: Mode) -> tuple[Ints, Longs]:
        """All inputs in one compiled call; see ``EncodesBatches``."""

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids of one input. Raises as ``encode_batch`` does."""
        ids, _ = self.encode_batch(data, np.array([len(data)], dtype=np.int64), mode)
        return cast("list[int]", ids.tolist())

    def warm_up(self, modes: Sequence[Mode]) -> None:
        """Call all that the encoder has on a few bytes, in each of these modes.

        What it does not do, or what the vocabulary has no token for, is passed over: by then its
        code is compiled.
        """
        for mode in modes:
            for kind, call in CALLS:
                if isinstance(self, kind):
                    with contextlib.suppress(Exception):
                        call(self, mode)


def are_texts(data: bytes, ends: Longs) -> bool:
    """Whether all inputs of a batch are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    # All of it is, so that only an end inside a character spoils inputs.
    begins = np.frombuffer(data, dtype=np.uint8)[ends[ends < len(data)]]
    return not (begins & 0xC0 == 0x80).any()
