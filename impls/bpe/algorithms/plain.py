"""``bpe.plain``: backtracking without anything that is there for speed alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.bpe.encoder import BpeImplementation

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.pretokenize.pieces import PlainCutter

KERNEL = "impls.bpe.algorithms.plain_backtracking_kernel"
"""The module of its kernel, to which ``bpe.backtracking`` falls back, too."""


class PlainImplementation(BpeImplementation):
    """The plain kernel behind a pre-tokenizer that is run by the `regex` package."""

    def cutter(self, vocabulary: Vocabulary) -> PlainCutter:
        """What cuts inputs into pieces, by nothing but the vocabulary's own patterns."""
        from impls.pretokenize.pieces import PlainCutter  # noqa: PLC0415 - as in the base class

        return PlainCutter(vocabulary)


IMPLEMENTATION = PlainImplementation(name="bpe.plain", kernel=KERNEL, linear=True)
