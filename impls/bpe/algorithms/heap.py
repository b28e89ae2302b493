"""``bpe.heap``: byte-pair encoding by a heap of pairs over linked symbols."""

from __future__ import annotations

from impls.bpe.encoder import BpeImplementation

IMPLEMENTATION = BpeImplementation(name="bpe.heap", kernel="impls.bpe.definition.heap_kernel")
