"""One array for all tables of an encoder: numbered sections behind a header.

A compiled call pays about 150 ns for each array it is handed, and a tuple of arrays costs a second
of compilation more; one int32 array costs neither, is what the cache stores, and is read alike
compiled and interpreted. ``block[2 k]`` and ``block[2 k + 1]`` bound section k, which begins on a
cache line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.tables_on_disk import on_a_line
from impls.compiled.jit import njit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

EMPTY = -1
"""A free slot in a table; also "no such token"."""

INDEX = 0x7FFFFFFF
"""An entry AND this is itself where it is an index, and the compiler then knows that it does not
count from the end: reading by it is two instructions shorter, in the middle of a chain of reads."""

PLACE = (1 << 62) - 1
"""A place in a text AND this is the place itself, and the compiler then knows that it does not
count from the end."""

# The definition's tables (impls.kernels.merge_tables).
BYTE_IDS = 0
"""256: the id of each single byte, EMPTY where there is none."""
PAIRS = 1
"""Open-addressing hash of all merges: rows of (left id, right id, rank, merged id)."""
WHOLE_SLOTS = 2
"""Open-addressing hash of the tokens that are emitted whole where they are a piece: indices into
WHOLE_IDS; no slots at all if there are none."""
WHOLE_IDS = 3
WHOLE_BYTES = 4
"""The bytes of the tokens of WHOLE_IDS, one behind another, one byte an entry."""
WHOLE_ENDS = 5
"""The place in WHOLE_BYTES where each token of WHOLE_IDS ends."""

# Tokens by age (impls.bpe.tables.derivations): base_tokens first, then in order of rank.
BASE_TOKENS = 6
"""257: the token of each single byte, EMPTY where there is none; and the number of base_tokens."""
IDS = 7
"""The vocabulary's id of each token."""
SPLITS = 8
"""Two a token: the left and right tokens of its one merge; a base token's are itself."""
LENGTHS = 9
"""Bytes of each token."""

# The double array (impls.kernels.trie).
TRIE = 10
"""Two a slot: base, and ``(token + 1) << 9 | (byte + 1)``."""
PREFIXES = 11
"""The next shorter token that is a prefix of each token, EMPTY for none."""

# Pair validity (impls.bpe.tables.pair_validity).
MERGED = 12
"""The table of what merges over each boundary, as open-addressing hashes one behind another. Its
entries of int64 are ``(left << 21 | right) << 21 | token``, and EMPTY where there is none."""
BLOOM = 13
"""The filters of the boundaries, in words of 32 bits, those of each boundary together: a clear bit
says that a pair does not merge."""
BOUNDARIES = 14
"""The table of boundaries, in entries of int64, by ``first byte of the right << 8 | last byte of
the left``: where the words of BLOOM begin, which of the merges is the oldest, and how many words
they are; 0 if no merge goes over these bytes."""

# The automaton (impls.bpe.tables.automaton).
STATES = 15
"""Two a slot of TRIE: the slot of the longest proper suffix, and the longest suffix token."""
SUFFIXES = 16
"""The next shorter token that is a suffix of each token, EMPTY for none."""

# Right spines (impls.bpe.tables.spines).
SPINES = 17
"""Three a token: its preorder number; the interval of those that may stand to its right half's
left (first number, end)."""
SEARCHES = 18
"""The centroid tree of each token's suffixes: see impls.bpe.tables.spines."""
SEARCH_STARTS = 19
"""The place in SEARCHES where each token's tree begins."""

# Merges that act out of order (impls.bpe.tables.out_of_order).
OUT_OF_ORDER = 20
"""A TRIE of the spellings that only the definition encodes; empty for nearly all vocabularies."""

# Whole pre-tokens (impls.bpe.fast.words).
WORDS = 21
"""Open-addressing hash of the short tokens that are their own encoding, in entries of int64."""

# What backtracking tries (impls.bpe.fast.candidates).
WALK = 22
"""One a slot of TRIE: ``value << 10 | has token << 9 | (byte + 1)``."""
INNER = 23
"""One a slot of TRIE: the token that ends there although longer ones go on."""
SHORTER = 24
"""The table that has for each token the next shorter one to try in its place, as ``token << 10 |
bytes less``."""
REGULAR = 25
"""Two: from which token on ids differ from tokens by a constant, and by which."""
SHORT = 26
"""Bits by the hashes of WORDS: a clear one says that no token has that hash."""

# What the plain encoder asks (impls.bpe.tables.plain_pair_validity).
AGED_PAIRS = 27
"""Open-addressing hash, laid out as PAIRS, of the one merge that builds each token, with tokens
numbered by age: rows of (left, right, token, token), since a token's age is its rank."""

SECTIONS = 28

HEADER = 2 * SECTIONS

_LINE = 16
"""Entries of a cache line of 64 bytes."""


@njit
def section(block: NDArray[np.int32], number: int) -> NDArray[np.int32]:
    """The entries of a section; a view."""
    return block[int(block[2 * number]) : int(block[2 * number + 1])]


@njit
def wide(entries: NDArray[np.int32]) -> NDArray[np.int64]:
    """A section that is in entries of int64."""
    return entries.view(np.int64)


@njit
def has_bit(bits: NDArray[np.int32], number: int) -> bool:
    """Whether the bit is set; bits: of :func:`bits_of`."""
    return (int(bits[number >> 5]) >> (number & 31)) & 1 == 1


def bits_of(flags: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Flag k as bit k, 32 an entry; their number divides by that."""
    return np.packbits(flags, bitorder="little").view("<i4").astype(np.int32)


def pack(sections: Mapping[int, NDArray[np.int32]]) -> NDArray[np.int32]:
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


def unpack(block: NDArray[np.int32]) -> dict[int, NDArray[np.int32]]:
    """The sections that have entries."""
    bounds = block[:HEADER].reshape(-1, 2).tolist()
    return {number: block[start:end] for number, (start, end) in enumerate(bounds) if start < end}
