"""``bpe.backtracking``: longest token first, back where it does not fit; and the services."""

from __future__ import annotations

from impls.bpe.services.implementation import ServingImplementation

IMPLEMENTATION = ServingImplementation(
    name="bpe.backtracking", kernel="impls.bpe.backtracking_kernel", linear=True
)
