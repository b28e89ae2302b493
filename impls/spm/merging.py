"""SentencePiece BPE: characters, merges by score, resegmentation, ids.

The characters of a text are merged pairwise, the piece with the best score first and the leftmost
of equals (SentencePiece's ``bpe_model.cc``, llama.cpp's ``llm_tokenizer_spm_session``). A heap
holds the pairs by (rank, position). Equal scores have equal ranks, so the leftmost wins; a stale
entry of the same rank is the same as the live one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.heap import POSITION_BITS, pop, push
from impls.compiled.jit import njit
from impls.kernels.merge_tables import EMPTY, longest_piece, pair_row
from impls.kernels.trie import child, token_at
from impls.kernels.utf8 import lead_length
from impls.unigram.trie import spelled

if TYPE_CHECKING:
    from impls.kernels.layout import Bytes, Ints, Longs
    from impls.spm.lexicon import Lexicon

FROZEN = -2
"""The symbol of a user-defined piece that never merges is ``FROZEN - id``."""

# Columns of the work array, which has a row for each character at first.
SYMBOL = 0
START = 1
"""The column that says where the text of a symbol begins."""
NEXT = 2
"""The column of the next symbol, EMPTY behind the last one, and where one has been merged away."""
PREVIOUS = 3
COLUMNS = 4

USED = -3
"""Stands in the table of offers for symbols that are not to be split again."""


@njit
def encode_texts(
    lexicon: Lexicon,
    text: Bytes,
    ends: Longs,
    given: Longs,
    id_ends: Longs,
) -> tuple[Ints, int]:
    """Encode each normalized text ``text[ends[i-1]:ends[i]]``.

    given: ids that texts become instead, EMPTY for none; no entries if there are none at all.
    Writes where the ids of each text end to ``id_ends``; returns all ids, and EMPTY, or the first
    byte that has no id (there are no ids then).
    """
    pieces, unknown_id, byte_ids = lexicon.pieces, lexicon.unknown_id, lexicon.byte_ids
    offers = offers_of(lexicon.unused)
    stack = np.empty((lexicon.depth + 3, 3), dtype=np.int64)
    longest = longest_piece(ends)
    work = np.empty((longest, COLUMNS), dtype=np.int32)
    heap = np.empty(3 * longest, dtype=np.int64)
    parts = np.empty((longest, 3), dtype=np.int64)
    # An id stands for at least one byte, or is given.
    ids = np.empty(len(text) + len(given), dtype=np.int32)
    at = start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        here = EMPTY
        if len(given) > 0 and given[index] != EMPTY:
            ids[at] = given[index]
            at += 1
        elif fill(lexicon, text, start, end, work) > 0:
            merge(lexicon.pairs, offers, work, heap)
            here = 0
        unknown = False  # whether the symbol before was
        while here != EMPTY:
            symbol = int(work[here, SYMBOL])
            rows = resegment(lexicon.lengths, offers, lexicon.depth, symbol, here, stack, parts)
            for part in range(rows):
                known = known_id(
                    lexicon.emitted, pieces, unknown_id, parts[part, 0], parts[part, 2]
                )
                if known == EMPTY and len(byte_ids) > 0:
                    # Only characters are unknown.
                    first = int(work[parts[part, 1], START])
                    for i in range(first, min(first + lead_length(int(text[first])), end)):
                        byte = int(text[i])
                        if byte_ids[byte] == EMPTY:
                            return ids[:0], byte
                        ids[at] = byte_ids[byte]
                        at += 1
                elif known != EMPTY or not (unknown and lexicon.joins_unknown):
                    ids[at] = unknown_id if known == EMPTY else known
                    at += 1
                unknown = known == EMPTY
            here = int(work[here, NEXT])
        id_ends[index] = at
        start = end
    return ids[:at], EMPTY


@njit
def frozen_symbol(
    frozen: Ints,
    frozen_ids: Longs,
    longest_frozen: int,
    text: Bytes,
    position: int,
    end: int,
) -> tuple[int, int]:
    """The user-defined piece at ``position`` of the text, or EMPTY, and its length in bytes."""
    slot = 0
    seen = 0
    length = 0
    found = EMPTY
    for i in range(position, end):
        slot = child(frozen, slot, int(text[i]))
        if slot == EMPTY or seen == longest_frozen:
            break
        index = token_at(frozen, slot)
        if index != EMPTY:
            seen += 1
            found = int(frozen_ids[index])
            length = i + 1 - position
    return found, length


@njit
def fill(
    lexicon: Lexicon,
    text: Bytes,
    position: int,
    end: int,
    work: Ints,
) -> int:
    """Enter the symbols of ``text[position:end]`` as a list; returns how many."""
    frozen = lexicon.frozen
    count = 0
    while position < end:
        symbol, length = EMPTY, 0
        if len(frozen) > 0:
            found, length = frozen_symbol(
                frozen, lexicon.frozen_ids, lexicon.longest_frozen, text, position, end
            )
            symbol = FROZEN - found
        if length == 0:
            # Both engines take as many bytes as the first one announces.
            length = min(lead_length(int(text[position])), end - position)
            index = spelled(lexicon.characters, text, position, position + length)
            symbol = int(lexicon.character_symbols[index]) if index != EMPTY else EMPTY
        work[count, SYMBOL], work[count, START] = symbol, position
        work[count, NEXT], work[count, PREVIOUS] = count + 1, count - 1
        count += 1
        position += length
    if count > 0:
        work[count - 1, NEXT] = EMPTY
    return count


@njit
def offer(
    pairs: Ints,
    offers: Ints,
    work: Ints,
    heap: Longs,
    size: int,
    position: int,
) -> int:
    """Put the pair that begins at a position into the heap, if it merges; returns its size.

    Notes how an UNUSED piece was offered last.
    """
    row = _row(pairs, work, position)
    if row == EMPTY:
        return size
    merged = pairs[row + 3]
    if len(offers) > 0 and offers[merged, 0] != USED:
        offers[merged, 0] = work[position, SYMBOL]
        offers[merged, 1] = work[work[position, NEXT], SYMBOL]
    return push(heap, size, int(pairs[row + 2]) << POSITION_BITS | position)


@njit
def _row(pairs: Ints, work: Ints, position: int) -> int:
    """The row of the pair that begins at a position, EMPTY if it does not merge."""
    after = int(work[position, NEXT])
    if after == EMPTY:
        return EMPTY
    left, right = int(work[position, SYMBOL]), int(work[after, SYMBOL])
    return pair_row(pairs, left, right) if left >= 0 and right >= 0 else EMPTY


@njit
def merge(
    pairs: Ints,
    offers: Ints,
    work: Ints,
    heap: Longs,
) -> None:
    """Merge the symbols of a list; the list that is left begins at the same place.

    ``heap`` has room for the pairs of the beginning and two more for each merge.
    """
    size = position = 0
    while position != EMPTY:
        size = offer(pairs, offers, work, heap, size, position)
        position = int(work[position, NEXT])
    while size > 0:
        rank, position = heap[0] >> POSITION_BITS, int(heap[0]) & ((1 << POSITION_BITS) - 1)
        size = pop(heap, size)
        row = _row(pairs, work, position)
        if row == EMPTY or pairs[row + 2] != rank:
            continue
        gone = int(work[position, NEXT])
        after, before = int(work[gone, NEXT]), int(work[position, PREVIOUS])
        work[position, SYMBOL] = pairs[row + 3]
        work[position, NEXT], work[gone, NEXT] = after, EMPTY
        if after != EMPTY:
            work[after, PREVIOUS] = position
        if before != EMPTY:
            size = offer(pairs, offers, work, heap, size, before)
        size = offer(pairs, offers, work, heap, size, position)


@njit
def offers_of(unused: Bytes) -> Ints:
    """The table of how each UNUSED piece was offered last: (left, right), none yet."""
    offers = np.full((len(unused), 2), USED, dtype=np.int32)
    for symbol in range(len(unused)):
        if unused[symbol]:
            offers[symbol, 0] = EMPTY
    return offers


@njit
def resegment(
    lengths: Ints,
    offers: Ints,
    depth: int,
    symbol: int,
    position: int,
    stack: Longs,
    parts: Longs,
) -> int:
    """Split a symbol if it is UNUSED; writes (symbol, position, 1 if too deep) rows.

    Returns their number. ``stack`` has room for ``depth + 3`` rows, ``parts`` for the characters of
    the symbol.
    """
    count = 0
    stack[0, 0], stack[0, 1], stack[0, 2] = symbol, position, 0
    size = 1
    while size > 0:
        size -= 1
        symbol, position, level = int(stack[size, 0]), int(stack[size, 1]), int(stack[size, 2])
        whole = len(offers) == 0 or symbol < 0 or offers[symbol, 0] == USED
        if whole or level > depth:
            parts[count, 0], parts[count, 1] = symbol, position
            parts[count, 2] = 1 if level > depth else 0
            count += 1
            continue
        left, right = int(offers[symbol, 0]), int(offers[symbol, 1])
        stack[size, 0], stack[size, 1] = right, position + int(lengths[left])
        stack[size + 1, 0], stack[size + 1, 1] = left, position
        stack[size, 2] = stack[size + 1, 2] = level + 1
        size += 2
    return count


@njit
def known_id(emitted: Ints, pieces: int, unknown_id: int, symbol: int, raw: int) -> int:
    """The id of a symbol that has one, else EMPTY. raw: 1 if any but the unknown one keeps its."""
    if symbol <= FROZEN:
        return FROZEN - symbol
    if symbol < 0:
        return EMPTY
    if raw == 1 and symbol < pieces and symbol != unknown_id:
        return symbol
    return int(emitted[symbol])
