"""``bpe.table``: byte-pair encoding by a table of the last token of every prefix."""

from __future__ import annotations

from impls.bpe.encoder import BpeImplementation

IMPLEMENTATION = BpeImplementation(
    name="bpe.table", kernel="impls.bpe.algorithms.table_kernel", linear=True
)
