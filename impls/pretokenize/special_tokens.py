"""Finding the texts of special tokens, of which a vocabulary may have a thousand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit
from impls.kernels.layout import EMPTY, Bytes, Ints, Longs
from impls.kernels.trie import build_trie, child, token_at

if TYPE_CHECKING:
    from collections.abc import Mapping


_STAYS = -2
"""The id of what is found and stays text."""


@njit
def _cut_out(
    data: Bytes,
    ends: Longs,
    trie: Ints,
    ids: Longs,
    part_ends: Longs,
    given: Longs,
    counts: Longs,
) -> int:
    """See :meth:`SpecialTexts.cut_out`; returns the number of parts."""
    count = start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        at = start
        while at < end:
            # The longest text that begins here.
            slot, after, found = 0, at + 1, EMPTY
            for place in range(at, end):
                slot = child(trie, slot, int(data[place]))
                if slot == EMPTY:
                    break
                if token_at(trie, slot) != EMPTY:
                    after, found = place + 1, int(ids[token_at(trie, slot)])
            if found >= 0:
                if start < at:
                    part_ends[count], given[count] = at, EMPTY
                    count += 1
                part_ends[count], given[count] = after, found
                count += 1
                start = after
            at = after
        if start < end:
            part_ends[count], given[count] = end, EMPTY
            count += 1
            start = end
        counts[index] = count
    return count


class SpecialTexts:
    """Texts that stand for one token each, found leftmost and longest first.

    One whose id is None stays text, and hides what begins in it. UTF-8 synchronizes itself, so a
    text is found at the beginnings of characters only.
    """

    def __init__(self, ids: Mapping[bytes, int | None]) -> None:
        texts = [*filter(None, ids)]
        self._trie = build_trie(texts)[0] if texts else np.zeros(512, dtype=np.int32)
        found = (ids[text] for text in texts)
        self._ids = np.array([_STAYS if i is None else i for i in found], dtype=np.int64)
        self._shortest = min(map(len, texts), default=1)

    def __bool__(self) -> bool:
        return bool((self._ids >= 0).any())

    def cut_out(self, data: Bytes, ends: Longs) -> tuple[Longs, Longs, Longs]:
        """Part inputs (``data``, ``ends`` as in ``EncodesBatches``, UTF-8) at these texts.

        Returns where each part ends, its id or EMPTY for ordinary text, and the number of parts
        up to and including each input. No part is empty.
        """
        room = 2 * (len(data) // self._shortest) + len(ends)
        part_ends, given = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
        counts = np.empty(len(ends), dtype=np.int64)
        count = _cut_out(data, ends, self._trie, self._ids, part_ends, given, counts)
        return part_ends[:count], given[:count], counts
