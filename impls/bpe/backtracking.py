"""``bpe.backtracking``: byte-pair encoding, longest token first, back where it does not fit."""

from __future__ import annotations

from impls.bpe.encoder import BpeImplementation

IMPLEMENTATION = BpeImplementation(
    name="bpe.backtracking", kernel="impls.bpe.backtracking_kernel", linear=True
)
