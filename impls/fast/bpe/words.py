"""Short tokens by their bytes: what a pre-token becomes that is itself a token, in one probe.

Most pre-tokens are a token, and nearly all are short. Walking the trie byte by byte waits for
memory at each step; the key of a short one is two overlapping loads, and the probes of many
pre-tokens do not depend on each other, so that the processor waits for all of them together.

What is no token is told by a filter, mostly: its row in the table, met once, would be one more line
of memory to wait for, and would push out others.

A key is 16 bytes, the spelling, bytes that fill it up, and at the end the length. A run of one byte
has one, too, if it is longer: most long pre-tokens of source are the white space before a line. A
row of the table holds a key, then ``id + 1``, of which 0 marks a free row, and one entry to make it
half a cache line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit
from impls.fast.bpe.block import bits_of, has_bit
from impls.fast.bpe.piece_results import put_one
from impls.fast.bpe.processor import copy_pair, folded, masked_pair, prefetch
from impls.fast.kernels.eight_bytes import word_at
from impls.kernels.layout import EMPTY, INDEX, PLACE, Bytes, Flags, Ints, Longs
from impls.kernels.merge_tables import capacity

if TYPE_CHECKING:
    from collections.abc import Mapping


LONGEST = 15
"""Bytes of the longest spelling that has a key."""

LONGEST_RUN = 127
"""Bytes of the longest run of one byte that has one; its key has 8 of them."""

KEYED = 16
"""Bytes of a key, and how many are read for it."""

ROW_BITS = 2
"""A row has 4 entries of int64."""

_LENGTHS = 31
"""Bits of a length that count: what has no key may be of any."""
_LENGTH_AT = 56
_SEVEN = (1 << 56) - 1
"""The first seven bytes of a word: each of them has another one behind it."""


def spelled(length: int) -> Longs:
    """The bits of the first ``length`` of KEYED bytes, in two words."""
    return np.frombuffer(((1 << 8 * length) - 1).to_bytes(KEYED, "little"), dtype=np.int64)


_FILLER = np.array([0x1E3779B97F4A7C15, 0x004BB92E5C6F0A3D], dtype=np.int64)
"""What stands in a key where the spelling has ended. Of zeros a product would lose bytes, and so
the hash is a product of the key as it is, which saves two operations for each piece."""


def _behind(length: int) -> tuple[int, int]:
    """What a key has behind a spelling: the filler, and at the end the length."""
    low, high = (int(word) for word in _FILLER & ~spelled(min(length, KEYED)))
    return low, high & _SEVEN | length << _LENGTH_AT


_MASKS = np.array(
    [[*spelled(min(n, KEYED)), *_behind(n)] for n in range(_LENGTHS + 1)], dtype=np.int64
)
"""The masks of a key, by its length; see :func:`impls.fast.bpe.processor.masked_pair`."""

UNKNOWN = -1
"""The hash of what has no key, and its second word: a longer piece, or one of the data's last."""
_HIGH = 10
"""The filter is asked for other bits of a hash's 32 than the table is, from this one on."""
_ROOM = 2
"""Four bits a row of the table: of those that are no token, a tenth gets past it."""


@njit
def key_at(data: Bytes, start: int, length: int) -> tuple[int, int]:
    """The key of the ``length`` bytes from ``start`` on; KEYED bytes are read.

    length: at most LONGEST; of a longer spelling see :func:`run_key_at`.
    """
    return masked_pair(data, start, _MASKS, length & _LENGTHS)


@njit
def run_key_at(data: Bytes, start: int, length: int) -> tuple[int, int]:
    """Likewise, of a longer one; if it is no run, the second word is UNKNOWN, which no row has."""
    word = word_at(data, start)
    last = min(length, LONGEST_RUN) - 8
    differ = ((word ^ word >> 8) & _SEVEN) | (word_at(data, start + last) ^ word)
    for at in range(8, last, 8):
        differ |= word_at(data, start + at) ^ word
    # All bits or none: for the sake of a branch the arrays would be counted (see tests).
    other = ((differ | -differ) | (LONGEST_RUN - length)) >> 63
    return word, (length & LONGEST_RUN) << _LENGTH_AT | other


@njit
def spell(
    data: Bytes,
    ends: Longs,
    start: int,
    first: int,
    last: int,
    keys: Longs,
    hashes: Longs,
) -> None:
    """The keys and hashes of the pieces ``first`` to ``last``, the first of which begins at start.

    keys: receives two entries a piece. hashes: UNKNOWN for what has no key, or cannot be read.
    """
    readable = len(data) - KEYED
    keyed = last
    while keyed > first and (int(ends[keyed - 2]) if keyed > 1 else 0) > readable:
        keyed -= 1
        index = keyed - first
        keys[2 * index] = keys[2 * index + 1] = hashes[index] = UNKNOWN
    begin = start
    own_ends = ends[first:]
    for index in range(keyed - first):
        end = int(own_ends[index])
        length = end - begin
        low, high = key_at(data, begin, length)
        keys[2 * index] = low
        keys[2 * index + 1] = high
        hashes[index] = word_hash(low, high)
        # Written again for the few: with one place for both, encoding took 18 to 43 % longer.
        if length > LONGEST:
            low, high = run_key_at(data, begin, length)
            keys[2 * index] = low
            keys[2 * index + 1] = high
            hashes[index] = word_hash(low, high) | high >> 63
        begin = end


@njit
def has_key(data: Bytes, start: int, length: int) -> bool:
    """Whether :func:`spell` finds a key for a piece."""
    if start + KEYED > len(data):
        return False
    return length <= LONGEST or run_key_at(data, start, length)[1] != UNKNOWN


@njit
def keep_keys(
    keys: Longs,
    hashes: Longs,
    first: int,
    asked: Longs,
    before: int,
    number: int,
    kept_keys: Longs,
    kept_hashes: Longs,
) -> None:
    """Copy the keys and hashes of the pieces ``asked[before:number]``, which are asked about.

    keys, hashes: of the pieces of a part of a block. They may be those that the copies replace.
    first: where the part begins. asked: counted from there, and from the block's beginning on
    return.
    """
    for place in range(before, number):
        index = int(asked[place]) & PLACE
        copy_pair(keys, 2 * index, kept_keys, 2 * place)
        kept_hashes[place] = hashes[index]
        asked[place] = first + index


@njit
def word_hash(low: int, high: int) -> int:
    """A hash of a key, all of whose bits are well mixed; at least 0, below 2**32."""
    return folded(low ^ 0x2D358DCCAA6C78A5, high)


@njit
def row_of(words: Longs, mixed: int) -> int:
    """Where the row begins at which the search for a hash begins."""
    return (mixed << ROW_BITS) & (len(words) - 1) & PLACE


@njit
def token_in(words: Longs, row: int, low: int, high: int) -> int:
    """The id of the row's token if it has this key, or EMPTY."""
    found = EMPTY
    if words[row] == low and words[row + 1] == high:
        found = int(words[row + 2]) - 1
    return found


@njit
def probe_on(words: Longs, row: int, low: int, high: int) -> int:
    """Likewise, of ``row`` or a later one."""
    found = EMPTY
    while found == EMPTY and words[row + 2] != 0:
        found = token_in(words, row, low, high)
        row = (row + (1 << ROW_BITS)) & (len(words) - 1) & PLACE
    return found


@njit
def look_up(
    words: Longs,
    filters: Ints,
    keys: Longs,
    hashes: Longs,
    asked: Longs,
    number: int,
    results: Ints,
    left: Longs,
) -> int:
    """Answer those of the pieces ``asked[:number]`` that are a token.

    words, filters: WORDS and SHORT of :mod:`impls.fast.bpe.block`. keys, hashes: of these pieces
    (:func:`keep_keys`). results: see :mod:`impls.fast.bpe.piece_results`. left: receives the
    others. Returns their number.
    """
    # First all that is looked for is asked for, so that it is here when it is read.
    for number_asked in range(number):
        mixed = int(hashes[number_asked])
        prefetch(filters, filter_bit(filters, mixed) >> 5)
        prefetch(words, row_of(words, mixed))
    lefts = 0
    for number_asked in range(number):
        index = int(asked[number_asked]) & PLACE
        mixed = int(hashes[number_asked])
        token = EMPTY
        # First the filter: what is no token waits for no row.
        if may_be(filters, mixed):
            low, high = keys[2 * number_asked], keys[2 * number_asked + 1]
            row = row_of(words, mixed)
            # Nearly always its first row tells.
            token = token_in(words, row, low, high)
            if token == EMPTY:
                token = probe_on(words, row, low, high)
        put_one(results, index, token)
        left[lefts & PLACE] = index
        lefts += token == EMPTY
    return lefts


@njit
def _fill(
    words: Longs,
    data: Bytes,
    ends: Longs,
    ids: Longs,
) -> None:
    mask = len(words) - 1
    spelling = np.zeros(LONGEST_RUN + 1, dtype=np.uint8)
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        length = end - start
        spelling[:length] = data[start:end]
        low, high = key_at(spelling, 0, length)
        if length > LONGEST:
            low, high = run_key_at(spelling, 0, length)
        row = row_of(words, word_hash(low, high))
        while words[row + 2] != 0:
            row = (row + (1 << ROW_BITS)) & mask
        words[row] = low
        words[row + 1] = high
        words[row + 2] = int(ids[index]) + 1
        start = end


@njit
def filter_bit(filters: Ints, mixed: int) -> int:
    """The bit of the filter that a hash has."""
    return (mixed >> _HIGH) & (32 * len(filters) - 1) & INDEX


@njit
def may_be(filters: Ints, mixed: int) -> bool:
    """Whether a token may have this hash; filters: SHORT of :mod:`impls.fast.bpe.block`."""
    return has_bit(filters, filter_bit(filters, mixed))


@njit
def _fill_filter(words: Longs, bits: Flags) -> None:
    for row in range(0, len(words), 1 << ROW_BITS):
        if words[row + 2] != 0:
            mixed = word_hash(words[row], words[row + 1])
            bits[(mixed >> _HIGH) & (len(bits) - 1)] = True


def word_filter(table: Ints) -> Ints:
    """SHORT for a table of :func:`word_table`, whose rows are less than half full."""
    words = table.view(np.int64)
    bits = np.zeros(max(32, len(words) >> ROW_BITS << _ROOM), dtype=np.bool_)
    _fill_filter(words, bits)
    return bits_of(bits)


def _has_key(text: bytes) -> bool:
    return 0 < len(text) <= LONGEST or (len(set(text)) == 1 and len(text) <= LONGEST_RUN)


def word_table(tokens: Mapping[bytes, int]) -> Ints:
    """The table of those of ``tokens``, spelling to id, that have a key."""
    short = {text: token_id for text, token_id in tokens.items() if _has_key(text)}
    size = capacity(len(short)) << ROW_BITS
    words = np.zeros(size, dtype=np.int64)
    if short:
        ends = np.cumsum([len(text) for text in short], dtype=np.int64)
        data = np.frombuffer(b"".join(short), dtype=np.uint8)
        _fill(words, data, ends, np.fromiter(short.values(), dtype=np.int64))
    return words.view(np.int32)
