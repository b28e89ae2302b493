"""``bpe.cached``: backtracking that remembers the pieces that it has encoded."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from impls.bpe.encoder import BpeImplementation
from impls.kernels.intrinsics import lacking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode
    from impls.kernels.encoding import EncodePieces


class CachedImplementation(BpeImplementation):
    """Backtracking with a cache of pieces for each loaded encoder and thread.

    Loops that tell implementations apart by speed want ``bpe.backtracking``, whose time does not
    depend on what it saw before; this one shows what a cache adds, and that it changes no id.
    """

    def supports(self, vocabulary: Vocabulary, mode: Mode) -> str | None:
        """As the others, where its kernel can be compiled: without one there is nothing to cache.

        ``bpe.backtracking`` falls back to the plain kernel there.
        """
        reason = super().supports(vocabulary, mode)
        if reason is None and (missing := lacking()) is not None:
            reason = f"its kernel cannot be compiled here: {missing}"
        return reason

    def encode_pieces(self) -> EncodePieces:
        """The kernel with a cache of its own."""
        from impls.bpe.fast.backtracking_kernel import encode_remembering  # noqa: PLC0415 - Numba
        from impls.bpe.fast.growing_cache import fitting  # noqa: PLC0415 - likewise

        local = threading.local()

        def encode_pieces(
            block: NDArray[np.int32],
            data: NDArray[np.uint8],
            ends: NDArray[np.int64],
            given: NDArray[np.int64],
            ids: NDArray[np.int32],
            id_ends: NDArray[np.int64],
        ) -> int:
            cache = local.cache = fitting(getattr(local, "cache", None), len(ends))
            return encode_remembering(block, cache, data, ends, given, ids, id_ends)

        return encode_pieces

    def block(self, vocabulary: Vocabulary) -> NDArray[np.int32]:
        """That of backtracking, kept on disk."""
        from impls.bpe.fast.kept_block import kept_block_of  # noqa: PLC0415 - Numba

        return kept_block_of(vocabulary)


IMPLEMENTATION = CachedImplementation(
    name="bpe.cached", kernel="impls.bpe.fast.backtracking_kernel", linear=True
)
