"""``bpe.backtracking``: byte-pair encoding, longest token first, back where it does not fit; and services."""

from __future__ import annotations

from impls.bpe.services.encoder import ServingImplementation

IMPLEMENTATION = ServingImplementation(
    name="bpe.backtracking", kernel="impls.bpe.backtracking_kernel", linear=True
)
