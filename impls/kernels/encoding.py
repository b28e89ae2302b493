"""What a compiled encoder of pieces looks like to those who call it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


class EncodePieces(Protocol):
    """A compiled encoder of many pieces."""

    def __call__(
        self,
        block: NDArray[np.int32],
        data: NDArray[np.uint8],
        ends: NDArray[np.int64],
        given: NDArray[np.int64],
        ids: NDArray[np.int32],
        id_ends: NDArray[np.int64],
    ) -> int:
        """Encode pieces; those of ``given`` other than EMPTY become just that id.

        block: the encoder's tables (:mod:`impls.kernels.layout`), read-only. data (read-only),
        ends, given: as in :class:`impls.pretokenize.pieces.Pieces`. ids: receives the ids; longer
        than ``data`` by SPARE, as some that are none are written, too. id_ends: receives where the
        ids of each piece end; without entries, nobody asks. Returns the number of ids, or ``-1 -
        p`` where the byte at ``data[p]`` has no token.
        """
        ...


class Kernel(Protocol):
    """A module with a compiled encoder. Imported on load only: Numba takes a second."""

    encode_pieces: EncodePieces

    def block_of(self, vocabulary: Vocabulary) -> NDArray[np.int32]:
        """The tables that this encoder needs for a vocabulary (:mod:`impls.kernels.layout`)."""
        ...
