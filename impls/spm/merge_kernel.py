"""SentencePiece BPE, compiled: characters, merges by score, resegmentation, ids.

A text is cut wherever no piece holds the two characters side by side: no merge ever crosses such
a place, so each *segment*, often a word, is merged alone, in cache, to the same result. Only where
a vocabulary has UNUSED pieces to be split again is a text one segment, since the last pair that
was offered for a piece, anywhere in the text, decides its split.

Within a segment a heap holds the pairs by (rank, position) as in
:mod:`impls.bpe.definition.heap_kernel`, or a scan finds the least where there are few. Equal scores
have equal ranks, so the leftmost wins; a stale entry of the same rank is the same as the live one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.definition.heap_kernel import POSITION_BITS, pop, push
from impls.kernels.merge_tables import EMPTY, pair_row
from impls.kernels.trie import child, token_at
from impls.spm.lexicon import LEFT, RIGHT, character_slot

if TYPE_CHECKING:
    from numpy.typing import NDArray

FROZEN = -2
"""The symbol of a user-defined piece that never merges is ``FROZEN - id``."""

# Columns of the work array: one row a symbol of the segment. int32, half a cache line.
SYMBOL = 0
START = 1
"""The column that says where the text of a symbol begins."""
NEXT = 2
PREVIOUS = 3
RANK = 4
"""The column that has the rank of the pair that begins at a symbol, EMPTY if it does not merge."""
MERGED = 5
"""The column that has what the pair that begins at a symbol merges to."""
JOINED = 6
"""1 if some piece holds this character and the next side by side."""
COLUMNS = 8

USED = -3
"""Stands in the table of offers for symbols that are not to be split again."""

SCANNED = 16
"""Segments of so many symbols are merged by scanning: quicker than a heap up to about here."""

SORTED = 256
"""Fewer pairs of the beginning than this are not worth sorting."""


@njit
def lead_length(lead: int) -> int:
    """Bytes of the character that begins with this byte, as both engines count them unchecked."""
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@njit
def frozen_symbol(
    frozen: NDArray[np.int32],
    frozen_ids: NDArray[np.int64],
    longest_frozen: int,
    text: NDArray[np.uint8],
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
    characters: NDArray[np.int64],
    frozen: NDArray[np.int32],
    frozen_ids: NDArray[np.int64],
    longest_frozen: int,
    pairs: NDArray[np.int32],
    sides: NDArray[np.uint8],
    offers: NDArray[np.int32],
    text: NDArray[np.uint8],
    position: int,
    end: int,
    work: NDArray[np.int32],
) -> tuple[int, int]:
    """Enter the symbols of ``text[position:end]`` and their pairs, as many as there is room for.

    Returns how many, and the position after them.
    """
    # One loop without calls for a character: passing the arrays would take longer than the work.
    mask = len(characters) - 1
    count = 0
    before = EMPTY
    while position < end and count < len(work):
        symbol = EMPTY
        length = 0
        if len(frozen) > 0:
            found, length = frozen_symbol(frozen, frozen_ids, longest_frozen, text, position, end)
            if found != EMPTY:
                symbol = FROZEN - found
        if length == 0:
            length = min(lead_length(int(text[position])), end - position)
            key = 0
            for i in range(position, position + length):
                key = (key << 8) | int(text[i])
            row = character_slot(key) & mask
            while characters[row, 0] != EMPTY:
                if characters[row, 0] == key:
                    symbol = int(characters[row, 1])
                    break
                row = (row + 1) & mask
        work[count, SYMBOL] = symbol
        work[count, START] = position
        work[count, RANK] = EMPTY
        work[count, JOINED] = 0
        if symbol >= 0 and before >= 0 and sides[before] & LEFT and sides[symbol] & RIGHT:
            row = pair_row(pairs, before, symbol)
            if row != EMPTY:
                work[count - 1, JOINED] = 1
                enter(pairs, offers, work, count - 1, row, before, symbol)
        before = symbol
        count += 1
        position += length
    return count, position


@njit
def enter(
    pairs: NDArray[np.int32],
    offers: NDArray[np.int32],
    work: NDArray[np.int32],
    position: int,
    row: int,
    left: int,
    right: int,
) -> None:
    """Enter the pair of a row at a position; note how an UNUSED piece was offered last."""
    merged = pairs[row + 3]
    work[position, RANK] = EMPTY if merged == EMPTY else pairs[row + 2]
    work[position, MERGED] = merged
    if len(offers) > 0 and merged != EMPTY and offers[merged, 0] != USED:
        offers[merged, 0] = left
        offers[merged, 1] = right


@njit
def offer(
    pairs: NDArray[np.int32],
    offers: NDArray[np.int32],
    work: NDArray[np.int32],
    position: int,
    left: int,
    right: int,
) -> None:
    """Look up a pair that begins at ``position`` of the work array, and enter it there."""
    row = pair_row(pairs, left, right) if left >= 0 and right >= 0 else EMPTY
    if row == EMPTY:
        work[position, RANK] = EMPTY
    else:
        enter(pairs, offers, work, position, row, left, right)


@njit
def merge(
    pairs: NDArray[np.int32],
    offers: NDArray[np.int32],
    work: NDArray[np.int32],
    heap: NDArray[np.int64],
    count: int,
) -> None:
    """Merge the first ``count`` symbols of the work array, whose pairs are entered.

    ``heap`` has room for the pairs of the beginning and two more for each merge.

    The list that is left begins at position 0 and goes on by NEXT, to EMPTY.
    """
    for position in range(count):
        work[position, NEXT] = position + 1
        work[position, PREVIOUS] = position - 1
    work[count - 1, NEXT] = EMPTY
    work[count - 1, RANK] = EMPTY
    if count <= SCANNED:
        while True:
            best = EMPTY
            least = 0
            position = 0
            while position != EMPTY:
                rank = work[position, RANK]
                if rank != EMPTY and (best == EMPTY or rank < least):
                    best, least = position, rank
                position = int(work[position, NEXT])
            if best == EMPTY:
                return
            join(pairs, offers, work, best)
    # The pairs of the beginning, once sorted, are read off one by one: only new ones need the heap.
    first = heap[2 * count :]
    total = 0
    ascending = True
    highest = 0
    for position in range(count - 1):
        rank = int(work[position, RANK])
        if rank != EMPTY:
            first[total] = (rank << POSITION_BITS) | position
            ascending = ascending and (total == 0 or first[total - 1] < first[total])
            highest = max(highest, rank)
            total += 1
    read = 0
    size = 0
    if not ascending and total < SORTED:
        while read < total:
            size = push(heap, size, int(first[read]))
            read += 1
    elif not ascending:
        sort_by_rank(first[:total], heap, highest)
    # Entries outlive their pairs: what counts is whether there are any pairs left.
    live = total
    while live > 0:
        if size == 0 or (read < total and first[read] < heap[0]):
            key = int(first[read])
            read += 1
        else:
            key = int(heap[0])
            size = pop(heap, size)
        position = key & ((1 << POSITION_BITS) - 1)
        if work[position, RANK] != key >> POSITION_BITS:
            continue
        before = int(work[position, PREVIOUS])
        live -= 1 + is_pair(work, before) + is_pair(work, int(work[position, NEXT]))
        join(pairs, offers, work, position)
        size = queue(work, heap, size, before)
        size = queue(work, heap, size, position)
        live += is_pair(work, before) + is_pair(work, position)


@njit
def sort_by_rank(keys: NDArray[np.int64], spare: NDArray[np.int64], highest: int) -> None:
    """Sort heap keys whose positions ascend, by their ranks up to ``highest``: a radix sort.

    ``spare`` has room for them.
    """
    shift = POSITION_BITS
    while highest > 0:
        starts = np.zeros(257, dtype=np.int64)
        for i in range(len(keys)):
            starts[((keys[i] >> shift) & 255) + 1] += 1
        for digit in range(256):
            starts[digit + 1] += starts[digit]
        for i in range(len(keys)):
            digit = (keys[i] >> shift) & 255
            spare[starts[digit]] = keys[i]
            starts[digit] += 1
        for i in range(len(keys)):
            keys[i] = spare[i]
        highest >>= 8
        shift += 8


@njit
def join(
    pairs: NDArray[np.int32],
    offers: NDArray[np.int32],
    work: NDArray[np.int32],
    position: int,
) -> None:
    """Merge the pair at ``position`` and look up the pairs on either side, the left one first."""
    gone = int(work[position, NEXT])
    after = int(work[gone, NEXT])
    before = int(work[position, PREVIOUS])
    symbol = int(work[position, MERGED])
    work[position, SYMBOL] = symbol
    work[position, NEXT] = after
    work[position, RANK] = EMPTY
    work[gone, RANK] = EMPTY
    if before != EMPTY:
        offer(pairs, offers, work, before, int(work[before, SYMBOL]), symbol)
    if after != EMPTY:
        work[after, PREVIOUS] = position
        offer(pairs, offers, work, position, symbol, int(work[after, SYMBOL]))


@njit
def is_pair(work: NDArray[np.int32], position: int) -> int:
    """1 if there is a position and a pair that begins there, else 0."""
    return 1 if position != EMPTY and work[position, RANK] != EMPTY else 0


@njit
def queue(work: NDArray[np.int32], heap: NDArray[np.int64], size: int, position: int) -> int:
    """Put the pair at ``position`` into the heap if there is one; returns the heap's size."""
    if is_pair(work, position) == 0:
        return size
    return push(heap, size, (int(work[position, RANK]) << POSITION_BITS) | position)


@njit
def resegment(
    lengths: NDArray[np.int32],
    offers: NDArray[np.int32],
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
        whole = symbol < 0 or offers[symbol, 0] == USED
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
