"""``bpe.dropout``: byte-pair encoding with merges left out by chance, seeded."""

from __future__ import annotations

from impls.bpe.encoder import BpeImplementation
from impls.interface import Law

IMPLEMENTATION = BpeImplementation(
    name="bpe.dropout", kernel="impls.bpe.algorithms.dropout_kernel", law=Law.REACHABLE
)
