"""``bpe.greedy``: no byte-pair encoding: the longest token from left to right."""

from __future__ import annotations

from impls.bpe.encoder import BpeImplementation
from impls.interface import Law

IMPLEMENTATION = BpeImplementation(
    name="bpe.greedy", kernel="impls.bpe.algorithms.greedy_kernel", linear=True, law=Law.SPELLING
)
