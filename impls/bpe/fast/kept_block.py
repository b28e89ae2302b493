"""The whole block of the backtracking encoder on disk, as it lies in memory.

To put it together from its sections takes ten times as long as to read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.tables_on_disk import SMALLEST, kept
from impls.bpe.fast.backtracking_kernel import block_of
from impls.kernels.table_cache import source_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

ROOMS = ("impls/bpe", "impls/kernels")
"""The folders of all modules that have a part in the making of a block."""


def kept_block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """As :func:`impls.bpe.fast.backtracking_kernel.block_of`, and kept for the next process."""
    if len(vocabulary) < SMALLEST:
        return block_of(vocabulary)
    name = f"{vocabulary.fingerprint[:40]}-block"
    return kept(name, lambda: block_of(vocabulary), source_of(*ROOMS))
