"""Short tokens by their bytes: what a pre-token becomes that is itself a token, in one probe.

Most pre-tokens are a token, and nearly all are short. Walking the trie byte by byte waits for
memory at each step; the key of a short one is two overlapping loads, and the probes of many
pre-tokens do not depend on each other, so that the processor waits for all of them together.

What is no token is told by a filter, mostly: its row in the table, met once, would be one more line
of memory to wait for, and would push out others.

A row holds a key of 16 bytes (zeros after the spelling), then ``length << 32 | id + 1``, of which
0 marks a free row, and one entry to make it half a cache line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.layout import EMPTY, INDEX, PLACE, bits_of, has_bit
from impls.bpe.machine import folded, word_at
from impls.bpe.tables import capacity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

LONGEST = 16
"""Bytes of the longest spelling that has a key."""

ROW_BITS = 2
"""A row has 4 entries of int64."""

_LENGTHS = 31
"""Bits of an index of the next two, which have an entry for each value, so that none is checked."""
LOW_MASKS = np.array([(1 << 8 * n) - 1 for n in range(8)] + [-1] * 24, dtype=np.int64)
"""By the length of a spelling: which bits of the first 8 bytes belong to it."""
HIGH_MASKS = np.concatenate((np.zeros(8, dtype=np.int64), LOW_MASKS[:24]))
"""Likewise of the second 8 bytes."""

HALF = 0xFFFFFFFF
"""The lower half of a word: a hash; or, of a row, what stands beside the length."""
_HIGH = 10
"""Of a hash's 32 bits the filter is asked for other ones than the table."""
_ROOM = 2
"""Four bits a row of the table: of those that are no token, a tenth gets past it."""


@njit
def key_at(data: NDArray[np.uint8], start: int, length: int) -> tuple[int, int]:
    """The key of the ``length`` bytes from ``start`` on; 16 bytes are read.

    length: at most LONGEST; of a longer spelling the key means nothing.
    """
    low = word_at(data, start) & LOW_MASKS[length & _LENGTHS]
    return low, word_at(data, start + 8) & HIGH_MASKS[length & _LENGTHS]


@njit
def word_hash(low: int, high: int) -> int:
    """A hash of a key, all of whose bits are well mixed; at least 0, below 2**32."""
    return folded(low ^ 0x2D358DCCAA6C78A5, high ^ 0x4BB92E5C6F0A3D17)


@njit
def row_of(words: NDArray[np.int64], mixed: int) -> int:
    """Where the row begins at which the search for a hash begins."""
    return (mixed << ROW_BITS) & (len(words) - 1) & PLACE


@njit
def token_in(words: NDArray[np.int64], row: int, low: int, high: int, length: int) -> int:
    """The id of the row's token if it has this key, or EMPTY."""
    found = EMPTY
    if words[row] == low and words[row + 1] == high and words[row + 2] >> 32 == length:
        found = int(words[row + 2] & HALF) - 1
    return found


@njit
def probe_on(words: NDArray[np.int64], row: int, low: int, high: int, length: int) -> int:
    """Likewise, of ``row`` or a later one."""
    found = EMPTY
    while found == EMPTY and words[row + 2] != 0:
        found = token_in(words, row, low, high, length)
        row = (row + (1 << ROW_BITS)) & (len(words) - 1) & PLACE
    return found


@njit
def _fill(
    words: NDArray[np.int64],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    ids: NDArray[np.int64],
) -> None:
    mask = len(words) - 1
    spelling = np.empty(LONGEST, dtype=np.uint8)
    key = spelling.view(np.int64)
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        length = end - start
        spelling[:length] = data[start:end]
        spelling[length:] = 0
        low, high = key[0], key[1]
        row = row_of(words, word_hash(low, high))
        while words[row + 2] != 0:
            row = (row + (1 << ROW_BITS)) & mask
        words[row] = low
        words[row + 1] = high
        words[row + 2] = length << 32 | (int(ids[index]) + 1)
        start = end


@njit
def filter_bit(filters: NDArray[np.int32], mixed: int) -> int:
    """The bit of the filter that a hash has."""
    return (mixed >> _HIGH) & (32 * len(filters) - 1) & INDEX


@njit
def may_be(filters: NDArray[np.int32], mixed: int) -> bool:
    """Whether a token may have this hash; filters: SHORT of :mod:`impls.bpe.layout`."""
    return has_bit(filters, filter_bit(filters, mixed))


@njit
def _fill_filter(words: NDArray[np.int64], bits: NDArray[np.bool_]) -> None:
    for row in range(0, len(words), 1 << ROW_BITS):
        if words[row + 2] != 0:
            mixed = word_hash(words[row], words[row + 1])
            bits[(mixed >> _HIGH) & (len(bits) - 1)] = True


def word_filter(table: NDArray[np.int32]) -> NDArray[np.int32]:
    """SHORT for a table of :func:`word_table`, whose rows are less than half full."""
    words = table.view(np.int64)
    bits = np.zeros(max(32, len(words) >> ROW_BITS << _ROOM), dtype=np.bool_)
    _fill_filter(words, bits)
    return bits_of(bits)


def word_table(tokens: Mapping[bytes, int]) -> NDArray[np.int32]:
    """The table of those of ``tokens``, spelling to id, that are short enough."""
    short = {text: token_id for text, token_id in tokens.items() if 0 < len(text) <= LONGEST}
    size = capacity(len(short)) << ROW_BITS
    words = np.zeros(size, dtype=np.int64)
    if short:
        ends = np.cumsum([len(text) for text in short], dtype=np.int64)
        data = np.frombuffer(b"".join(short), dtype=np.uint8)
        _fill(words, data, ends, np.fromiter(short.values(), dtype=np.int64))
    return words.view(np.int32)
