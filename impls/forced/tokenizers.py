"""Which tokenizer and which futures belong to a vocabulary: bytes, or pieces of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.forced.byte_futures import ByteFutures
from impls.forced.piece_futures import PieceFutures
from impls.forced.piece_tokenizer import PieceTokenizer
from impls.forced.tokenizer import Tokenizer

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.forced.futures import Futures
    from impls.forced.tokenizer import AnyTokenizer


def tokenizer_of(vocabulary: Vocabulary) -> AnyTokenizer:
    """Return what the policies take for a vocabulary. Raises Unsupported where they take none."""
    return PieceTokenizer(vocabulary) if vocabulary.pieces else Tokenizer(vocabulary)


def futures_of(tokenizer: AnyTokenizer) -> Futures:
    """Return what the exact policy asks. Raises TypeError for a tokenizer of somebody else's."""
    if isinstance(tokenizer, PieceTokenizer):
        return PieceFutures(tokenizer)
    if isinstance(tokenizer, Tokenizer):
        return ByteFutures(tokenizer)
    raise TypeError(f"the exact policy knows no futures of {type(tokenizer).__name__}")
