"""``bpe.incremental``: byte-pair encoding byte by byte, from explicit merges."""

from __future__ import annotations

from impls.bpe.encoder import BpeImplementation

IMPLEMENTATION = BpeImplementation(
    name="bpe.incremental", kernel="impls.bpe.algorithms.incremental_kernel", linear=True
)
