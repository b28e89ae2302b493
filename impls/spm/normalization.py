"""Inputs to normalized texts, many in one compiled call: the seam to SentencePiece's normalizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.unigram.normalizer import Rules, make_rules, normalize

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Rules", "escape_all", "make_rules", "normalize_all"]

SPACE = 0x20
SPACE_SYMBOL = (0xE2, 0x96, 0x81)
"""U+2581 in UTF-8."""


@njit
def normalize_all(
    rules: Rules, data: NDArray[np.uint8], ends: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The inputs ``data[ends[i-1]:ends[i]]`` as SentencePiece normalizes them, and their ends."""
    out = np.empty(2 * len(data) + 16, dtype=np.uint8)
    out_ends = np.empty(len(ends), dtype=np.int64)
    at = 0
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        room = (end - start + 1) * rules.growth
        if at + room > len(out):
            more = np.empty(2 * (at + room), dtype=np.uint8)
            more[:at] = out[:at]
            out = more
        at += normalize(rules, data, start, end, out[at:])
        out_ends[index] = at
        start = end
    return out[:at], out_ends


@njit
def escape_all(
    data: NDArray[np.uint8], ends: NDArray[np.int64], prefixed: NDArray[np.bool_]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The same as llama.cpp's SPM does: spaces as U+2581, one before each input with ``prefixed``.

    Empty inputs are to have none.
    """
    out = np.empty(3 * (len(data) + len(ends)), dtype=np.uint8)
    out_ends = np.empty(len(ends), dtype=np.int64)
    at = 0
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        for position in range(start - 1 if prefixed[index] else start, end):
            if position < start or data[position] == SPACE:
                for i in range(3):
                    out[at + i] = SPACE_SYMBOL[i]
                at += 3
            else:
                out[at] = data[position]
                at += 1
        out_ends[index] = at
        start = end
    return out[:at], out_ends
