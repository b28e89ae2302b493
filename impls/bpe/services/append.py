"""Appending: the number of tokens after each byte that a text grows by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.services.growing import Growing

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Appender(Growing):
    """A text that grows at its end.

    For all texts x appended in parts: ``count`` is |encode(x)|, by the last token of every prefix.
    """

    def extend(self, data: bytes) -> NDArray[np.int32]:
        """The count after each byte of ``data``. Rejected, and nothing done, for an unknown one."""
        return self._extend(np.frombuffer(data, dtype=np.uint8))
