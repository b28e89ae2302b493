"""Interval counting: the number of tokens of any part of a text, as if it stood alone.

Preparation finds the last token of every prefix of the text. Positions form a tree: the parent of
a position is where its prefix's last token begins, so the ancestors of ``end`` are the boundaries
in the encoding of ``text[:end]``.

To count ``text[start:end]``, encode from ``start`` on by backtracking, token by token, until a
token ends at an ancestor of ``end`` and is the last token of that whole prefix, too. Then what has
been encoded since ``start`` is a valid encoding, the tokens of ``text[:end]`` from this one on are
one, both share this token, so together they are valid: the encoding of ``text[start:end]``. The
rest of the count is a difference of two stored ones. Ancestry is an inclusion of intervals of
preorder numbers. Two encodings of one text from different starts meet after a few tokens as a
rule, and then the cost does not depend on the interval's length; where they never meet, the whole
interval is encoded. (After the ``IntervalEncoding`` of the `bpe` crate by GitHub, which asks that
the next token is shared, too: one is enough.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.encoder import no_token
from impls.bpe.pair_validity import valid_pair
from impls.bpe.table import COUNT, LAST, extend, new_rows
from impls.bpe.tokens import Tokens
from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Bytes, Ints, Longs
from impls.kernels.trie import longest_token

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.bpe.table import Tables

FIRST, STOP = 0, 1
"""Of each position: its preorder number, and the first one after those of its descendants."""

ROOM = 256
"""Bytes of an interval for which there is scratch room at first."""


@njit
def number_tree(tokens: Tokens, rows: Ints) -> Ints:
    """The preorder numbers of the tree of positions: FIRST and STOP of each."""
    size = len(rows)
    numbers = np.empty((size, 2), dtype=np.int32)
    numbers[:, FIRST] = 1  # of nodes below, itself included
    for position in range(size - 1, 0, -1):
        parent = position - int(tokens.lengths[rows[position, LAST]])
        numbers[parent, FIRST] += numbers[position, FIRST]
    # Until all its children are numbered, STOP is the number of the next one.
    numbers[0, FIRST], numbers[0, STOP] = 0, 1
    for position in range(1, size):
        parent = position - int(tokens.lengths[rows[position, LAST]])
        number = numbers[parent, STOP]
        numbers[parent, STOP] += numbers[position, FIRST]
        numbers[position, FIRST], numbers[position, STOP] = number, number + 1
    return numbers


@njit
def count_range(tokens: Tokens, rows: Ints, numbers: Ints, text: Bytes, start: int) -> int:
    """The tokens of ``text[start:]``, by itself; rows, numbers: of a text that begins with it.

    The loop is that of :func:`impls.bpe.backtracking.encode_piece`, until it may stop.
    """
    end = len(text)
    stack = np.empty(ROOM, dtype=np.int32)
    dead = np.zeros(ROOM + 1, dtype=np.int32)
    count = 0
    position = start
    token = longest_token(tokens.trie, text, position) if start < end else EMPTY
    while position < end:
        if token != EMPTY and position + int(tokens.lengths[token]) - start > len(stack):
            room = 2 * (position + int(tokens.lengths[token]) - start)
            stack, dead = _grown(stack, room), _grown(dead, room + 1)
        while token != EMPTY:
            stop = position + int(tokens.lengths[token])
            if dead[stop - start] == 0 and (
                count == 0 or valid_pair(tokens.pairs, tokens.splits, int(stack[count - 1]), token)
            ):
                break
            token = int(tokens.prefixes[token])
        if token != EMPTY:
            stack[count] = token
            count += 1
            position += int(tokens.lengths[token])
            goal = numbers[end, FIRST]
            joined = numbers[position, FIRST] <= goal < numbers[position, STOP]
            if joined and rows[position, LAST] == token:
                return count + int(rows[end, COUNT] - rows[position, COUNT])
            token = longest_token(tokens.trie, text, position)
        else:
            dead[position - start] = 1
            count -= 1
            position -= int(tokens.lengths[stack[count]])
            token = int(tokens.prefixes[stack[count]])
    return count


@njit
def _grown(entries: Ints, size: int) -> Ints:
    """The entries with zeros behind them."""
    grown = np.zeros(size, dtype=np.int32)
    grown[: len(entries)] = entries
    return grown


@njit
def count_ranges(
    tokens: Tokens, rows: Ints, numbers: Ints, data: Bytes, ranges: Longs, counts: Longs
) -> None:
    """Count the tokens of ``data[start:end]`` for each row (start, end) of ``ranges``."""
    for index in range(len(ranges)):
        start, end = int(ranges[index, 0]), int(ranges[index, 1])
        counts[index] = count_range(tokens, rows, numbers, data[:end], start)


class Intervals:
    """A text prepared for counting any of its parts. 20 bytes of memory a byte.

    For all s <= e: count(s, e) = |encode(text[s:e])|. Preparation is O(n). Read-only, so for
    several threads at once.
    """

    def __init__(self, tables: Tables, text: bytes) -> None:
        self._tokens = tables.tokens
        self._data = np.frombuffer(text, dtype=np.uint8)
        self._rows = new_rows(len(text))
        length = extend(tables, self._rows, 0, self._data)
        if length < 0:
            raise no_token(text[-1 - length])
        self._numbers = number_tree(self._tokens, self._rows)

    def count(self, start: int, end: int) -> int:
        """Tokens of ``text[start:end]``; ValueError unless 0 <= start <= end <= its length."""
        return int(self.counts([(start, end)])[0])

    def counts(self, ranges: Sequence[tuple[int, int]] | Longs) -> Longs:
        """The tokens of many ranges in one call. ranges: rows (start, end)."""
        table = np.array(ranges, dtype=np.int64).reshape(-1, 2)
        starts, ends = table[:, 0], table[:, 1]
        wrong = np.nonzero((starts < 0) | (starts > ends) | (ends > len(self._data)))[0]
        if len(wrong):
            start, end = table[wrong[0]].tolist()
            raise ValueError(f"[{start}, {end}) is no range of a text of {len(self._data)} bytes")
        counts = np.empty(len(table), dtype=np.int64)
        count_ranges(self._tokens, self._rows, self._numbers, self._data, table, counts)
        return counts
