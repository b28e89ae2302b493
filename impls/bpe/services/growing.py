"""A text that grows at one end, with its number of tokens at every length it has had."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.services.prefixes import COUNT, extend, new_memo, new_rows
from impls.interface import Rejected

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_ROOM = 256
"""Bytes that there is room for at first; doubled when full, so that growth costs O(1) a byte."""

SINGLE_BYTES = np.arange(256, dtype=np.uint8).reshape(256, 1)
"""Each byte as an array of one, for calls that would spend more on making it than on the work."""


class Growing:
    """Counts after every byte, in O(1) each; rollback in O(1). 16 bytes of memory a byte.

    One row a byte is written and none is ever changed, so going back is forgetting rows. Not for
    several threads at once.
    """

    mirrored = False

    def __init__(self, block: NDArray[np.int32]) -> None:
        self._block = block
        self._rows = new_rows(FIRST_ROOM)
        self._memo = new_memo()
        self._length = 0

    def __len__(self) -> int:
        """Bytes of the text so far."""
        return self._length

    @property
    def count(self) -> int:
        """Tokens of the text so far."""
        return int(self._rows[self._length, COUNT])

    def _make_room(self, more: int) -> None:
        needed = self._length + more
        if needed >= len(self._rows):
            rows = new_rows(max(needed, 2 * len(self._rows)))
            rows[: self._length + 1] = self._rows[: self._length + 1]
            self._rows = rows

    def push(self, byte: int) -> int:
        """One byte more; gives the count. Rejected if it has no token.

        About a microsecond, nearly all of it the call: ``extend`` for many at once.
        """
        if self._length + 1 >= len(self._rows):
            self._make_room(1)
        length = extend(
            self._block, self._memo, self._rows, self._length, SINGLE_BYTES[byte], self.mirrored
        )
        if length < 0:
            raise Rejected(f"byte 0x{byte:02x} has no token")
        self._length = length
        return int(self._rows[length, COUNT])

    def _extend(self, data: NDArray[np.uint8]) -> NDArray[np.int32]:
        self._make_room(len(data))
        start = self._length
        length = extend(self._block, self._memo, self._rows, start, data, self.mirrored)
        if length < 0:
            raise Rejected(f"byte 0x{data[-1 - length]:02x} has no token")
        self._length = length
        return self._rows[start + 1 : length + 1, COUNT].copy()

    def snapshot(self) -> int:
        """Where the text stands, for ``rollback``. O(1): it is the length."""
        return self._length

    def rollback(self, snapshot: int) -> None:
        """Back to a snapshot. O(1). Void are snapshots taken after one that was gone back to."""
        if not 0 <= snapshot <= self._length:
            raise ValueError(f"snapshot {snapshot} is not of this text of {self._length} bytes")
        self._length = snapshot
