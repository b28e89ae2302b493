"""Finding the texts of special tokens, of which a vocabulary may have a thousand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit
from impls.kernels.merge_tables import EMPTY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

_ROOT = 0
_SURROGATE = re.compile("[\ud800-\udfff]")


@njit
def _cut_out(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    columns: NDArray[np.int64],
    children: NDArray[np.int32],
    ids: NDArray[np.int64],
    part_ends: NDArray[np.int64],
    given: NDArray[np.int64],
    counts: NDArray[np.int64],
    state: NDArray[np.int64],
) -> bool:
    """See :meth:`SpecialTexts.cut_out`; false if ``part_ends`` is full.

    state: (input, position, number of parts), zeros at first, from where the next call goes on.
    """
    index, start, count = state[0], state[1], state[2]
    capacity = len(part_ends)
    while index < len(ends):
        end = ends[index]
        at = start
        while at < end:
            node = children[_ROOT, columns[data[at]]]
            if node == _ROOT:
                at += 1
                continue
            # The longest text that begins here.
            after, found, reached = at, EMPTY, at
            while node != _ROOT:
                reached += 1
                if ids[node] != EMPTY:
                    after, found = reached, ids[node]
                node = children[node, columns[data[reached]]] if reached < end else _ROOT
            if found == EMPTY:
                at += 1
                continue
            if count + 2 > capacity:
                state[0], state[1], state[2] = index, start, count
                return False
            if start < at:
                part_ends[count], given[count] = at, EMPTY
                count += 1
            part_ends[count], given[count] = after, found
            count += 1
            start = at = after
        if start < end:
            if count == capacity:
                state[0], state[1], state[2] = index, start, count
                return False
            part_ends[count], given[count] = end, EMPTY
            count += 1
            start = end
        counts[index] = count
        index += 1
    state[0], state[1], state[2] = index, start, count
    return True


class SpecialTexts:
    """Texts that stand for one token each, found leftmost and longest first.

    A trie over bytes, its rows as wide as the texts have different bytes. UTF-8 synchronizes
    itself, so a text is found at the beginnings of characters only.
    """

    def __init__(self, ids: Mapping[str, int]) -> None:
        # A text with a surrogate is in no UTF-8.
        texts = {
            text.encode(): i for text, i in ids.items() if text and not _SURROGATE.search(text)
        }
        self._columns = np.zeros(256, dtype=np.int64)
        used = sorted(set(b"".join(texts)))
        self._columns[used] = np.arange(1, len(used) + 1)
        rows: list[dict[int, int]] = [{}]
        row_ids = [EMPTY]
        for text, token_id in texts.items():
            node = _ROOT
            for byte in text:
                child = rows[node].setdefault(byte, len(rows))
                if child == len(rows):
                    rows.append({})
                    row_ids.append(EMPTY)
                node = child
            row_ids[node] = token_id
        self._children = np.zeros((len(rows), len(used) + 1), dtype=np.int32)
        for node, row in enumerate(rows):
            self._children[node, self._columns[list(row)]] = list(row.values())
        self._ids = np.array(row_ids, dtype=np.int64)

    def __bool__(self) -> bool:
        return len(self._ids) > 1

    def cut_out(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Part inputs (``data``, ``ends`` as in ``EncodesBatches``, UTF-8) at these texts.

        Returns where each part ends, its id or EMPTY for ordinary text, and the number of parts
        up to and including each input. No part is empty.
        """
        part_ends = np.empty(len(ends) + 64, dtype=np.int64)
        given = np.empty(len(part_ends), dtype=np.int64)
        counts = np.empty(len(ends), dtype=np.int64)
        state = np.zeros(3, dtype=np.int64)
        while not _cut_out(
            data,
            ends,
            self._columns,
            self._children,
            self._ids,
            part_ends,
            given,
            counts,
            state,
        ):
            part_ends = np.concatenate((part_ends, np.empty_like(part_ends)))
            given = np.concatenate((given, np.empty_like(given)))
        return part_ends[: state[2]], given[: state[2]], counts
