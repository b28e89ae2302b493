"""``wordpiece.bert.fast`` and ``wordpiece.llama-cpp.fast``: WordPiece with a cache of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from impls.wordpiece.encoder import WordPieceEncoder, WordPieceImplementation
from impls.wordpiece.variants import BERT as BERT_VARIANT
from impls.wordpiece.variants import LLAMA_CPP as LLAMA_CPP_VARIANT

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.wordpiece.variants import Variant


class FastEncoder(WordPieceEncoder):
    """The plain encoder's ids. Each thread remembers words from call to call."""

    def __init__(self, vocabulary: Vocabulary, variant: Variant) -> None:
        from impls.fast.wordpiece import by_words  # noqa: PLC0415 - Numba takes a second to import

        super().__init__(vocabulary, variant)
        self.encode_inputs = by_words(self.lexicon) or self.encode_inputs


class FastImplementation(WordPieceImplementation):
    """WordPiece in one variant, with all that is there for its speed."""

    encoder_type = FastEncoder
    suffix = ".fast"


BERT = FastImplementation(BERT_VARIANT)
LLAMA_CPP = FastImplementation(LLAMA_CPP_VARIANT)
