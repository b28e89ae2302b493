"""Which tokenizer belongs to a vocabulary: of bytes, or of pieces of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.forced.piece_tokenizer import PieceTokenizer
from impls.forced.tokenizer import Tokenizer

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.forced.tokenizer import AnyTokenizer


def tokenizer_of(vocabulary: Vocabulary) -> AnyTokenizer:
    """Return what the policies take for a vocabulary. Raises Unsupported where they take none."""
    return PieceTokenizer(vocabulary) if vocabulary.pieces else Tokenizer(vocabulary)
