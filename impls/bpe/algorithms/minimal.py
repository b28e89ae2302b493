"""``bpe.minimal``: no byte-pair encoding: the fewest tokens."""

from __future__ import annotations

from impls.bpe.encoder import BpeImplementation
from impls.interface import Law

IMPLEMENTATION = BpeImplementation(
    name="bpe.minimal", kernel="impls.bpe.algorithms.minimal_kernel", linear=True, law=Law.FEWEST
)
