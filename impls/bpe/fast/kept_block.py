"""The whole block of the backtracking encoder on disk, as it lies in memory.

To put it together from its sections takes ten times as long as to read it.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.vocabularies.tables_on_disk import SMALLEST, kept
from impls.bpe.fast.backtracking_kernel import block_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

_ROOMS = ("bpe", "kernels")
"""The folders of all modules that have a part in the making of a block."""


def kept_block_of(vocabulary: Vocabulary) -> NDArray[np.int32]:
    """As :func:`impls.bpe.fast.backtracking_kernel.block_of`, and kept for the next process."""
    if len(vocabulary) < SMALLEST:
        return block_of(vocabulary)
    name = f"{vocabulary.fingerprint[:40]}-block"
    return kept(name, lambda: block_of(vocabulary), _source())


@cache
def _source() -> bytes:
    """A digest of the source by which blocks are made."""
    digest = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted(Path(__file__).parents[2].joinpath(room).rglob("*.py")):
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()
