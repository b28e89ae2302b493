"""What becomes of one input, stage by stage: for explaining where two engines part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from impls.kernels.merge_tables import EMPTY
from impls.spm.merging import COLUMNS, NEXT, START, SYMBOL, fill, merge, offers_of, resegment

if TYPE_CHECKING:
    from impls.kernels.layout import Bytes
    from impls.spm.lexicon import Lexicon


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages of one input.

    normalized: the text after normalization; symbols that were cut out stand in it as they are.
    symbols: the texts at which merging begins: characters, and symbols that never merge.
    merged: the texts after merging. resegmented: after UNUSED pieces were split again.
    ids: the result; more than ``resegmented`` where characters fall back to bytes, fewer where
    neighbouring unknown ones are one; None if a byte has no id.

    Each of the three lists spells ``normalized``.
    """

    normalized: bytes
    symbols: tuple[bytes, ...]
    merged: tuple[bytes, ...]
    resegmented: tuple[bytes, ...]
    ids: tuple[int, ...] | None


def part_lists(lexicon: Lexicon, text: Bytes) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """The symbols of a normalized text before merging, after, and after resegmentation."""
    size = len(text)
    offers = offers_of(lexicon.unused)
    work = np.empty((size + 1, COLUMNS), dtype=np.int32)
    count = fill(lexicon, text, 0, size, work)
    if count == 0:
        return [], [], []
    starts = work[:count, START].tolist()
    merge(lexicon.pairs, offers, work, np.empty(3 * count, dtype=np.int64))
    stack = np.empty((lexicon.depth + 3, 3), dtype=np.int64)
    parts = np.empty((count, 3), dtype=np.int64)
    merged = []
    resegmented = []
    here = 0
    while here != EMPTY:
        symbol = int(work[here, SYMBOL])
        merged.append(here)
        rows = resegment(lexicon.lengths, offers, lexicon.depth, symbol, here, stack, parts)
        resegmented += parts[:rows, 1].tolist()
        here = int(work[here, NEXT])
    content = text.tobytes()

    def cut(positions: list[int]) -> list[bytes]:
        begins = [starts[position] for position in positions]
        return [content[i:j] for i, j in zip(begins, [*begins[1:], size], strict=True)]

    return cut(list(range(count))), cut(merged), cut(resegmented)
