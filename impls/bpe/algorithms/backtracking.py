"""``bpe.backtracking``: longest token first, back where it does not fit; and the services."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, cast

from impls.bpe.algorithms.plain import KERNEL as PLAIN_KERNEL
from impls.bpe.services.implementation import ServingImplementation
from impls.kernels.intrinsics import lacking

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import About
    from impls.kernels.encoding import Kernel


class BacktrackingImplementation(ServingImplementation):
    """The fast kernel, or the plain one where the fast one cannot be compiled.

    Which one runs is a part of the version, ``+plain`` for the plain one: the version is what every
    report shows of an implementation, and a speed that was measured belongs to it.
    """

    @cached_property
    def about(self) -> About:
        """Who it is, with the kernel that runs here."""
        about = super().about
        if lacking() is None:
            return about
        return replace(about, version=f"{about.version}+plain")

    def _module(self) -> Kernel:
        if lacking() is None:
            return super()._module()
        return cast("Kernel", import_module(PLAIN_KERNEL))

    def block(self, vocabulary: Vocabulary) -> NDArray[np.int32]:
        """The fast kernel's is kept on disk."""
        if lacking() is not None:
            return super().block(vocabulary)
        from impls.bpe.fast.kept_block import kept_block_of  # noqa: PLC0415 - Numba

        return kept_block_of(vocabulary)


IMPLEMENTATION = BacktrackingImplementation(
    name="bpe.backtracking", kernel="impls.bpe.fast.backtracking_kernel", linear=True
)
