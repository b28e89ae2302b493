"""One array for all tables of the fast encoder: numbered sections behind a header.

A compiled call pays about 150 ns for each array it is handed; one int32 array costs that once, is
what is kept on disk, and is read alike compiled and interpreted. ``block[2 k]`` and
``block[2 k + 1]`` bound section k, which begins on a cache line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.tables_on_disk import on_a_line
from impls.compiled.jit import njit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from impls.kernels.layout import Flags, Ints, Longs

    Sections = dict[int, Ints]

# Tokens by age: see the fields of the same names in impls.bpe.tokens.
BASE_TOKENS, IDS, SPLITS, LENGTHS = 0, 1, 2, 3

# Pair validity (impls.fast.bpe.pair_validity).
MERGED = 4
"""The table of what merges over each boundary, as open-addressing hashes one behind another. Its
entries of int64 are ``(left << 21 | right) << 21 | token``, and EMPTY where there is none."""
BLOOM = 5
"""The filters of the boundaries, in words of 32 bits, those of each boundary together: a clear bit
says that a pair does not merge."""
BOUNDARIES = 6
"""The table of boundaries, in entries of int64, by ``first byte of the right << 8 | last byte of
the left``: where the words of BLOOM begin, which of the merges is the oldest, and how many words
they are; 0 if no merge goes over these bytes."""

# Whole pre-tokens (impls.fast.bpe.words); and the improper ones (impls.bpe.pieces.Wholes).
WORDS = 7
"""Open-addressing hash of the short tokens that are their own encoding, in entries of int64."""
SHORT = 8
"""Bits by the hashes of WORDS: a clear one says that no token has that hash."""
WHOLE_IDS, WHOLE_TRIE = 9, 10

# What backtracking tries (impls.fast.bpe.candidates).
WALK = 11
"""One a slot of the trie: ``value << 10 | has token << 9 | (byte + 1)``."""
INNER = 12
"""One a slot of the trie: the token that ends there although longer ones go on."""
SHORTER = 13
"""The table that has for each token the next shorter one to try in its place, as ``token << 10 |
bytes less``."""
REGULAR = 14
"""Two: from which token on ids differ from tokens by a constant, and by which."""

SECTIONS = 15

HEADER = 2 * SECTIONS

_LINE = 16
"""Entries of a cache line of 64 bytes."""


@njit
def section(block: Ints, number: int) -> Ints:
    """The entries of a section; a view."""
    return block[int(block[2 * number]) : int(block[2 * number + 1])]


@njit
def wide(entries: Ints) -> Longs:
    """A section that is in entries of int64."""
    return entries.view(np.int64)


@njit
def has_bit(bits: Ints, number: int) -> bool:
    """Whether the bit is set; bits: of :func:`bits_of`."""
    return (int(bits[number >> 5]) >> (number & 31)) & 1 == 1


def bits_of(flags: Flags) -> Ints:
    """Flag k as bit k, 32 an entry; their number divides by that."""
    return np.packbits(flags, bitorder="little").view("<i4").astype(np.int32)


def pack(sections: Mapping[int, Ints]) -> Ints:
    """The block of these sections, the others empty."""
    bounds = np.zeros(HEADER, dtype=np.int64)
    at = HEADER
    for number in range(SECTIONS):
        size = len(sections.get(number, ()))
        if size:
            at = -(-at // _LINE) * _LINE
        bounds[2 * number : 2 * number + 2] = at, at + size
        at += size
    block = on_a_line(at)
    block[:HEADER] = bounds
    for number, entries in sections.items():
        block[bounds[2 * number] : bounds[2 * number + 1]] = entries
    block.flags.writeable = False
    return block
