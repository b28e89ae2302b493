"""Splitting a text into chunks of at most so many tokens, at the ends of characters.

The rule, for a text that is one piece: each chunk is the longest beginning of what is left that
ends where a character does and has at most ``limit`` tokens, encoded by itself; where not even the
first character has so few, that character alone. So a token that straddles a character never cuts
it; a chunk is never empty; and only single characters exceed the limit.

With pre-tokenization: as many whole pre-tokens as have ``limit`` tokens together. A pre-token that
has more is cut by the rule above. Since a part of a pre-token may be cut into others when it
stands alone, every chunk is then encoded by itself, and one that exceeds the limit is halved, at a
character, until it does not or is a single character.

A character is a well-formed UTF-8 sequence (The Unicode Standard, table 3-7); any other byte is a
character of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.encoder import no_token
from impls.bpe.table import COUNT, Tables, extend, new_rows
from impls.compiled.lazy import njit
from impls.kernels.layout import Bytes, Longs
from impls.kernels.utf8 import character_length

if TYPE_CHECKING:
    from impls.bpe.encoder import BpeEncoder
    from impls.interface import Mode


@njit
def character_ends(data: Bytes) -> Longs:
    """Where each character ends."""
    ends = np.empty(len(data), dtype=np.int64)
    count = 0
    position = 0
    while position < len(data):
        position += max(character_length(data, position, len(data)), 1)
        ends[count] = position
        count += 1
    return ends[:count].copy()


@njit
def split_piece(tables: Tables, data: Bytes, limit: int, ends: Longs) -> int:
    """Split one piece; returns the number of chunks, or ``-1 - p`` where ``data[p]`` has no token.

    ends: receives where the chunks end; as long as ``data``.
    """
    longest = 1
    for length in tables.tokens.lengths:
        longest = max(longest, int(length))
    characters = character_ends(data)
    rows = new_rows(len(data))
    chunks = first = start = 0
    while start < len(data):
        last = first  # of the characters of the chunk: the first one, whatever it takes
        character = first
        low = start  # the last position up to which there are fewer than ``limit`` tokens
        position = start
        # An encoding has a boundary among any ``longest`` positions in a row. Where all of them
        # have ``limit`` tokens or more before them, whatever is longer has more than ``limit``.
        while position < len(data) and position - low < longest:
            if extend(tables, rows, position - start, data[position : position + 1]) < 0:
                return -1 - position
            position += 1
            count = rows[position - start, COUNT]
            if count < limit:
                low = position
            if position == characters[character]:
                if count <= limit:
                    last = character
                character += 1
        start = int(characters[last])
        first = last + 1
        ends[chunks] = start
        chunks += 1
    return chunks


def piece_ends(tables: Tables, data: bytes, limit: int) -> list[int]:
    """Where the chunks of a text that is one piece end. Rejected for a byte without a token."""
    ends = np.empty(len(data), dtype=np.int64)
    chunks = split_piece(tables, np.frombuffer(data, dtype=np.uint8), limit, ends)
    if chunks < 0:
        raise no_token(data[-1 - chunks])
    found: list[int] = ends[:chunks].tolist()
    return found


def chunk_ends(
    encoder: BpeEncoder, tables: Tables, data: bytes, limit: int, mode: Mode
) -> list[int]:
    """Where the chunks of a text that is cut into pre-tokens end."""
    pieces = encoder.cut(data, np.array([len(data)], dtype=np.int64), mode)
    counts = np.diff(encoder.encode_pieces(pieces)[1], prepend=0)
    stops = [0, *pieces.ends.tolist()]
    ends: list[int] = []
    for low, high in whole_pieces(counts, limit):
        if high - low == 1 and counts[low] > limit:
            part = data[stops[low] : stops[high]]
            ends += [stops[low] + end for end in piece_ends(tables, part, limit)]
        else:
            ends.append(stops[high])
    return halved(encoder, data, ends, limit, mode)


def whole_pieces(counts: Longs, limit: int) -> list[tuple[int, int]]:
    """Runs of pieces with at most ``limit`` tokens together, as long as may be; a piece with more
    is a run of its own. counts: the tokens of each piece."""
    totals = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(counts)))
    runs = []
    low = 0
    while low < len(counts):
        high = int(np.searchsorted(totals, totals[low] + limit, side="right")) - 1
        high = max(high, low + 1)
        runs.append((low, high))
        low = high
    return runs


def halved(encoder: BpeEncoder, data: bytes, ends: list[int], limit: int, mode: Mode) -> list[int]:
    """Halve chunks until each has at most ``limit`` tokens by itself or is one character."""
    characters = character_ends(np.frombuffer(data, dtype=np.uint8))
    settled = []
    waiting = list(zip([0, *ends], ends, strict=False))
    while waiting:
        parts = [data[start:end] for start, end in waiting]
        sizes = np.cumsum([len(part) for part in parts], dtype=np.int64)
        counts = np.diff(encoder.encode_batch(b"".join(parts), sizes, mode)[1], prepend=0)
        again = []
        for (start, end), tokens in zip(waiting, counts.tolist(), strict=True):
            first, last = np.searchsorted(characters, (start, end), side="right").tolist()
            # Characters ``first`` to ``last - 1`` are those of the range.
            if tokens <= limit or last - first == 1:
                settled.append(end)
            else:
                middle = int(characters[(first + last) // 2 - 1])
                again += [(start, middle), (middle, end)]
        waiting = again
    return sorted(settled)
