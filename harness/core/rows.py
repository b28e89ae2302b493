"""Rows to certify, in columns: texts, and the ids that are said to be their encodings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from impls.kernels.layout import Longs


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows. data: all texts; ends: where each one ends. ids: of all rows; id_ends: likewise.

    numbers: of the rows in their file, from 1 on.
    """

    data: bytes
    ends: Longs
    ids: Longs
    id_ends: Longs
    numbers: Sequence[int]

    @classmethod
    def of(
        cls, texts: Sequence[bytes], ids: Sequence[Sequence[int]], numbers: Sequence[int] = ()
    ) -> Rows:
        """Rows of texts and their ids, numbered from 1 on unless ``numbers`` has their numbers."""
        flat = [token_id for row in ids for token_id in row]
        return cls(
            b"".join(texts),
            _ends(texts),
            np.array(flat, dtype=np.int64),
            _ends(ids),
            numbers or range(1, len(texts) + 1),
        )

    def __len__(self) -> int:
        return len(self.ends)

    def row(self, index: int) -> Rows:
        """One of the rows."""
        at, id_at = (int(ends[index - 1]) if index else 0 for ends in (self.ends, self.id_ends))
        end, id_end = int(self.ends[index]), int(self.id_ends[index])
        return Rows(
            self.data[at:end],
            np.array([end - at]),
            self.ids[id_at:id_end],
            np.array([id_end - id_at]),
            [self.numbers[index]],
        )

    def bounds(self, skipped: Sequence[int]) -> Longs:
        """Where the ids of each row begin and end, without ``skipped`` ones around them."""
        bounds = np.column_stack((np.concatenate(([0], self.id_ends))[:-1], self.id_ends))
        if len(skipped) and len(self.ids):
            around = np.isin(self.ids, skipped)
            for column, step in ((0, 1), (1, -1)):
                while True:
                    at = np.minimum(bounds[:, column] - column, len(around) - 1)
                    more = (bounds[:, 0] < bounds[:, 1]) & around[at]
                    if not more.any():
                        break
                    bounds[more, column] += step
        return bounds


def _ends(parts: Sequence[Sequence[int]]) -> Longs:
    return np.array(list(accumulate(map(len, parts))), dtype=np.int64)
