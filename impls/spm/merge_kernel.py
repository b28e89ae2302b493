"""SentencePiece BPE, compiled: characters, merges by score, resegmentation, ids.

A text is cut wherever no piece holds the two characters side by side: no merge ever crosses such
a place, so each *segment*, often a word, is merged alone, in cache, to the same result. Only where
a vocabulary has UNUSED pieces to be split again is a text one segment, since the last pair that
was offered for a piece, anywhere in the text, decides its split.

Within a segment a heap holds the pairs by (rank, position) as in :mod:`impls.bpe.heap_kernel`, or
a scan finds the least where there are few. Equal scores have equal ranks, so the leftmost wins; a
stale entry of the same rank is the same as the live one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.jit import njit
from impls.bpe.heap_kernel import POSITION_BITS, pop, push
from impls.bpe.tables import EMPTY, pair_row
from impls.bpe.trie import child, token_at
from impls.spm.lexicon import character_row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FROZEN = -2
"""The symbol of a user-defined piece that never merges is ``FROZEN - id``."""

# Rows of the work array: one entry a symbol of the segment, by position.
SYMBOL = 0
START = 1
"""Where its text begins."""
NEXT = 2
PREVIOUS = 3
ROW = 4
"""The row of the pair that begins here, EMPTY for none."""

SCANNED = 16
"""Segments of so many symbols are merged by scanning: quicker than a heap up to about here."""


@njit
def lead_length(lead: int) -> int:
    """Bytes of the character that begins with this byte, as both engines count them unchecked."""
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@njit
def next_symbol(
    characters: NDArray[np.int64],
    frozen: NDArray[np.int32],
    frozen_ids: NDArray[np.int64],
    longest_frozen: int,
    text: NDArray[np.uint8],
    position: int,
    end: int,
) -> tuple[int, int]:
    """The symbol at ``position`` of the text, EMPTY for an unknown one, and its length in bytes."""
    if len(frozen) > 0:
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
        if found != EMPTY:
            return FROZEN - found, length
    length = min(lead_length(int(text[position])), end - position)
    key = 0
    for i in range(position, position + length):
        key = (key << 8) | int(text[i])
    row = character_row(characters, key)
    return (EMPTY if characters[row, 0] == EMPTY else int(characters[row, 1])), length


@njit
def offer(
    pairs: NDArray[np.int32],
    unused: NDArray[np.uint8],
    offers: NDArray[np.int64],
    left: int,
    right: int,
) -> int:
    """The row of a pair, EMPTY for none; notes how an UNUSED piece was offered last."""
    if left < 0 or right < 0:
        return EMPTY
    row = pair_row(pairs, left, right)
    if row != EMPTY and len(unused) > 0:
        merged = int(pairs[row + 3])
        if merged != EMPTY and unused[merged]:
            offers[merged, 0] = left
            offers[merged, 1] = right
    return row


@njit
def merge(
    pairs: NDArray[np.int32],
    unused: NDArray[np.uint8],
    offers: NDArray[np.int64],
    work: NDArray[np.int64],
    heap: NDArray[np.int64],
    count: int,
) -> None:
    """Merge the first ``count`` symbols of the work array, whose ROW is filled in.

    The list that is left begins at position 0 and goes on by NEXT, to EMPTY.
    """
    for position in range(count):
        work[NEXT, position] = position + 1
        work[PREVIOUS, position] = position - 1
    work[NEXT, count - 1] = EMPTY
    work[ROW, count - 1] = EMPTY
    if count <= SCANNED:
        while True:
            best = -1
            least = 0
            position = 0
            while position != EMPTY:
                row = int(work[ROW, position])
                if row != EMPTY and pairs[row + 3] != EMPTY:
                    rank = int(pairs[row + 2])
                    if best < 0 or rank < least:
                        best, least = position, rank
                position = int(work[NEXT, position])
            if best < 0:
                return
            join(pairs, unused, offers, work, best)
    size = 0
    for position in range(count - 1):
        size = queue(pairs, work, heap, size, position)
    while size > 0:
        key = int(heap[0])
        size = pop(heap, size)
        position = key & ((1 << POSITION_BITS) - 1)
        row = int(work[ROW, position])
        if row == EMPTY or pairs[row + 3] == EMPTY or pairs[row + 2] != key >> POSITION_BITS:
            continue
        join(pairs, unused, offers, work, position)
        before = int(work[PREVIOUS, position])
        if before != EMPTY:
            size = queue(pairs, work, heap, size, before)
        size = queue(pairs, work, heap, size, position)


@njit
def join(
    pairs: NDArray[np.int32],
    unused: NDArray[np.uint8],
    offers: NDArray[np.int64],
    work: NDArray[np.int64],
    position: int,
) -> None:
    """Merge the pair at ``position`` and look up the pairs on either side, the left one first."""
    gone = int(work[NEXT, position])
    after = int(work[NEXT, gone])
    symbol = int(pairs[work[ROW, position] + 3])
    work[SYMBOL, position] = symbol
    work[NEXT, position] = after
    work[ROW, gone] = EMPTY
    work[ROW, position] = EMPTY
    before = int(work[PREVIOUS, position])
    if before != EMPTY:
        work[ROW, before] = offer(pairs, unused, offers, int(work[SYMBOL, before]), symbol)
    if after != EMPTY:
        work[PREVIOUS, after] = position
        work[ROW, position] = offer(pairs, unused, offers, symbol, int(work[SYMBOL, after]))


@njit
def queue(
    pairs: NDArray[np.int32],
    work: NDArray[np.int64],
    heap: NDArray[np.int64],
    size: int,
    position: int,
) -> int:
    """Put the pair at ``position`` into the heap if there is one; returns the heap's size."""
    row = int(work[ROW, position])
    if row == EMPTY or pairs[row + 3] == EMPTY:
        return size
    return push(heap, size, (int(pairs[row + 2]) << POSITION_BITS) | position)


@njit
def resegment(
    lengths: NDArray[np.int32],
    unused: NDArray[np.uint8],
    offers: NDArray[np.int64],
    depth: int,
    symbol: int,
    position: int,
    stack: NDArray[np.int64],
    parts: NDArray[np.int64],
) -> int:
    """Split an UNUSED symbol; writes (symbol, position, 1 if too deep) rows, returns their number.

    ``stack`` has room for ``depth + 3`` rows, ``parts`` for the characters of the symbol.
    """
    count = 0
    stack[0, 0], stack[0, 1], stack[0, 2] = symbol, position, 0
    size = 1
    while size > 0:
        size -= 1
        symbol, position, level = int(stack[size, 0]), int(stack[size, 1]), int(stack[size, 2])
        whole = symbol < 0 or not unused[symbol]
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
def emit(
    emitted: NDArray[np.int32],
    byte_ids: NDArray[np.int32],
    pieces: int,
    unknown_id: int,
    text: NDArray[np.uint8],
    end: int,
    symbol: int,
    start: int,
    raw: bool,
    joining: bool,
    ids: NDArray[np.int32],
    at: int,
) -> int:
    """Write the ids of a symbol; returns where they end, or ``-1 - byte`` for one without an id.

    raw: any piece but the unknown one keeps its id. joining: the symbol before was unknown.
    """
    known = known_id(emitted, pieces, unknown_id, symbol, raw)
    if known != EMPTY:
        ids[at] = known
        return at + 1
    if len(byte_ids) == 0:
        if not joining:
            ids[at] = unknown_id
            at += 1
        return at
    # Only characters are unknown.
    for i in range(start, start + min(lead_length(int(text[start])), end - start)):
        byte = int(text[i])
        if byte_ids[byte] == EMPTY:
            return -1 - byte
        ids[at] = byte_ids[byte]
        at += 1
    return at


@njit
def known_id(
    emitted: NDArray[np.int32], pieces: int, unknown_id: int, symbol: int, raw: bool
) -> int:
    """The id of a symbol that has one, else EMPTY."""
    if symbol <= FROZEN:
        return FROZEN - symbol
    if symbol < 0:
        return EMPTY
    if raw and symbol < pieces and symbol != unknown_id:
        return symbol
    return int(emitted[symbol])
