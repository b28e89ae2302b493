"""Pair validity (:mod:`impls.bpe.pair_validity`), from filters over the bytes at the boundary.

Whatever is undone, the same two bytes face each other at the boundary. So the merges
over each boundary stand together, and so do the filters that tell most pairs that do not merge: the
questions of one boundary, and those of the next ones in the same script, read the same few lines
of memory. And once the limit is not above the oldest merge over the boundary, none can come before
it: undoing ends there, and need not go down to bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

from corpora.vocabularies.model import VocabularyError
from impls.compiled.jit import inlined, njit
from impls.fast.bpe.block import BLOOM, BOUNDARIES, MERGED, bits_of
from impls.kernels.layout import EMPTY, INDEX, PLACE, Bytes, Flags, Ints, Longs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.bpe.tokens import Tokens
    from impls.fast.bpe.block import Sections


Numbers = TypeVar("Numbers", int, "Ints")

TOKEN_BITS = 21
"""The bits of each of the three numbers in an entry of MERGED."""
TOKEN_MASK = (1 << TOKEN_BITS) - 1

BITS_PER_MERGE = 10
"""The filters have so many bits for each merge: with two hashes in a word of 32 bits, 1 of 30 pairs
that do not merge is looked up in vain (measured on tekken)."""

ROOM = 5
"""Entries of MERGED for each word of the filters: of 32 bits, for 3.2 merges at most, where a
boundary has less than MOST_WORDS."""

MOST_WORDS = (1 << 16) - 1
"""The filter of a boundary has so many words at the most: 16 bits of a pair's hash say which of
them is asked."""

OLDEST_BITS = 21
FIRST_BITS = 42
"""A boundary's entry is ``first word << 42 | oldest merge << 21 | number of words``."""

_WORDS_MASK = (1 << OLDEST_BITS) - 1
_WORD = 32

# A pair's hash is one of 32 bits, so that it can be made of many pairs at once
# (impls.fast.bpe.batched_pair_validity), and each part of it says something else.
LEFT_FACTOR, RIGHT_FACTOR = 0x9E3779B1 - (1 << 32), 0x85EBCA6B - (1 << 32)
FOLDED = 15
"""The bits by which the product is shifted, to be mixed with itself."""
WORD_AT = 16
"""The bits of a pair's hash from this one on say which of a boundary's words is asked."""
SECOND_AT = 5
_FOLDED_MASK, _WORD_MASK = ((1 << _WORD - shifted) - 1 for shifted in (FOLDED, WORD_AT))
BIT_MASK = 31
"""The bits of a pair's hash from here on, and from its lowest bit on, say which bits of that word
are asked."""
ENTRY_AT = 10
ENTRY_BITS = 3
ENTRY_MASK = (1 << ENTRY_BITS) - 1
"""These bits of a pair's hash say where in the word's room its entry is looked for first."""


@njit
def boundary_of(boundaries: Longs, last: int, first: int) -> int:
    """Of the bytes ``last first``: 0 if no merge goes over them, and then any pair is valid."""
    return int(boundaries[(first << 8 | last) & INDEX])


@njit
def boundary_at(boundaries: Longs, data: Bytes, position: int) -> int:
    """Likewise, of the bytes before and after a position, which is not where the text begins."""
    return boundary_of(boundaries, int(data[(position - 1) & PLACE]), int(data[position & PLACE]))


@inlined
def parts_of(boundary: int) -> tuple[int, int, int]:
    """Where its words begin, how many they are, and the oldest merge."""
    return boundary >> FIRST_BITS, boundary & _WORDS_MASK, (boundary >> OLDEST_BITS) & TOKEN_MASK


# Of one pair, or of a vector of them: what is above bit 32 differs, and no part looks there.
@inlined
def pair_bits(left: Numbers, right: Numbers) -> Numbers:
    """The hash of two tokens."""
    mixed = left * LEFT_FACTOR + right * RIGHT_FACTOR
    return mixed ^ (mixed >> FOLDED & _FOLDED_MASK)


@inlined
def word_asked(first_word: Numbers, words: Numbers, mixed: Numbers) -> Numbers:
    """Which word of BLOOM says whether a pair of this hash may merge, of those of its boundary."""
    return first_word + ((mixed >> WORD_AT & _WORD_MASK) * words >> WORD_AT & _WORD_MASK)


@inlined
def may_merge(word: Numbers, mixed: Numbers) -> Numbers:
    """1 if it says so, or 0."""
    return (word >> (mixed & BIT_MASK)) & (word >> (mixed >> SECOND_AT & BIT_MASK)) & 1


@inlined
def first_entry(asked: Numbers, mixed: Numbers) -> Numbers:
    """Where in MERGED the search for the pair begins."""
    return asked * ROOM + ((mixed >> ENTRY_AT & ENTRY_MASK) * ROOM >> ENTRY_BITS)


@njit
def valid_pair(
    splits: Ints,
    merged: Longs,
    bloom: Ints,
    boundary: int,
    left: int,
    right: int,
) -> bool:
    """Whether encoding keeps the tokens apart.

    merged: MERGED as int64. bloom: BLOOM. boundary: of :func:`boundary_of`, not 0. At most 13
    rounds were seen on o200k, about 4 on text (docs/algorithms.md); here less than 3 (see above,
    and single bytes are older than all merges).
    """
    limit = len(splits)  # above all tokens
    first_word, words, oldest = parts_of(boundary)
    while True:
        mixed = pair_bits(left, right)
        asked = word_asked(first_word, words, mixed)
        if may_merge(int(bloom[asked & PLACE]), mixed):
            pair = left << TOKEN_BITS | right
            slot = first_entry(asked, mixed) & PLACE
            entry = int(merged[slot])
            while entry != EMPTY:
                if entry >> TOKEN_BITS == pair:
                    if entry & TOKEN_MASK < limit:
                        return False
                    break
                slot = (slot + 1) & PLACE
                entry = int(merged[slot])
        if left > right:
            if left <= oldest:
                return True
            limit = left
            left = int(splits[2 * left + 1]) & INDEX
        else:
            if right < oldest:
                return True
            limit = right + 1
            right = int(splits[2 * right]) & INDEX


@njit
def _fill(
    splits: Ints,
    over: Longs,
    boundaries: Longs,
    base_tokens: int,
    merged: Longs,
    bloom: Flags,
) -> int:
    """Returns how many entries of ``merged`` are needed. over: the boundary of each merge."""
    used = 0
    for token in range(base_tokens, len(splits) >> 1):
        left, right = int(splits[2 * token]), int(splits[2 * token + 1])
        mixed = pair_bits(left, right)
        first_word, words, _ = parts_of(int(boundaries[over[token - base_tokens]]))
        asked = word_asked(first_word, words, mixed)
        bloom[_WORD * asked + (mixed & BIT_MASK)] = True
        bloom[_WORD * asked + (mixed >> SECOND_AT & BIT_MASK)] = True
        slot = first_entry(asked, mixed)
        while merged[slot] != EMPTY:
            slot += 1
        merged[slot] = (left << TOKEN_BITS | right) << TOKEN_BITS | token
        used = max(used, slot + 1)
    return used


def validity_tables(tokens: Tokens, spellings: Sequence[bytes]) -> Sections:
    """MERGED, BLOOM and BOUNDARIES. spellings: of the tokens, by age.

    Raises VocabularyError where there are too many tokens for an entry of MERGED.
    """
    if len(spellings) > TOKEN_MASK:
        raise VocabularyError(
            "vocabulary",
            f"{len(spellings)} tokens are more than {TOKEN_MASK}",
            "use bpe.heap or bpe.naive",
        )
    splits = tokens.splits
    base_tokens = int(tokens.base[256])
    edges = np.frombuffer(b"".join(text[:1] + text[-1:] for text in spellings), dtype=np.uint8)
    lefts, rights = splits.reshape(-1, 2)[base_tokens:].T
    over = edges[2 * rights].astype(np.int64) << 8 | edges[2 * lefts + 1]
    words = -(-np.bincount(over, minlength=1 << 16) * BITS_PER_MERGE // _WORD)
    words = np.minimum(words, MOST_WORDS)
    oldest = np.zeros(1 << 16, dtype=np.int64)
    facing, first = np.unique(over, return_index=True)
    oldest[facing] = base_tokens + first
    firsts = np.cumsum(words) - words
    boundaries = np.where(words, firsts << FIRST_BITS | oldest << OLDEST_BITS | words, 0)
    total = int(words.sum())
    # What does not fit behind its own boundary goes into the room of the next, and at last behind
    # all.
    merged = np.full(total * ROOM + len(over) + 1, EMPTY, dtype=np.int64)
    # One word at least: what is not asked reads the first one
    # (impls.fast.bpe.batched_pair_validity).
    bloom = np.zeros(max(total, 1) * _WORD, dtype=np.bool_)
    used = _fill(splits, over, boundaries, base_tokens, merged, bloom)
    merged = merged[: max(used, total * ROOM) + 1]  # with an EMPTY behind the last one
    return {
        MERGED: merged.view(np.int32),
        BLOOM: bits_of(bloom),
        BOUNDARIES: boundaries.view(np.int32),
    }
