"""Prepending: the number of tokens after each byte that a text grows by at its front."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.services.growing import Growing

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Prepender(Growing):
    """A text that grows at its front: the mirror of ``Appender``, by the first token of suffixes.

    block: with the automaton of reversed tokens.
    """

    mirrored = True

    def extend(self, data: bytes) -> NDArray[np.int32]:
        """Put ``data`` in front; the count after each of its bytes, from its last to its first.

        Rejected, and nothing done, for a byte without a token.
        """
        return self._extend(np.frombuffer(data, dtype=np.uint8)[::-1].copy())
