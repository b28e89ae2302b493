"""From ids back to text, as each engine does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.sentencepiece_model import byte_of
from impls.piece_decoding import SYMBOL, PieceTexts, llama_cpp, sentencepiece
from impls.unigram.variants import Decoding, Variant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.piece_decoding import Decode


def decoder(vocabulary: Vocabulary, variant: Variant) -> Decode:
    """The decoder of a vocabulary in one variant, with no state but what pieces become."""
    made = {
        Decoding.SENTENCEPIECE: sentencepiece,
        Decoding.LLAMA_CPP: llama_cpp,
        Decoding.HUGGING_FACE: hugging_face,
    }
    return made[variant.decoding](vocabulary)


def hugging_face(vocabulary: Vocabulary) -> Decode:
    """The decoder of the tokenizer.json that is written from the vocabulary.

    ByteFallback and Metaspace, where Metaspace parts the words (the first token loses every
    U+2581); else Replace, ByteFallback, Fuse and Strip.
    """
    texts = PieceTexts(vocabulary, lambda piece, _: piece.text)
    normalizer, byte_fallback = vocabulary.normalizer, vocabulary.byte_fallback

    def decode(ids: Sequence[int]) -> bytes:
        tokens = [texts[token_id] for token_id in ids]
        if normalizer.escape_whitespaces and normalizer.remove_extra_whitespaces:
            if byte_fallback:
                tokens = _byte_fallback(tokens)
            if tokens and normalizer.add_dummy_prefix:
                tokens[0] = tokens[0].replace(SYMBOL, "")
            return "".join(tokens).replace(SYMBOL, " ").encode()
        text = "".join(_byte_fallback([token.replace(SYMBOL, " ") for token in tokens]))
        return (text.removeprefix(" ") if normalizer.add_dummy_prefix else text).encode()

    return decode


def _byte_fallback(tokens: list[str]) -> list[str]:
    """Runs of ``<0xNN>`` as the text of their bytes; U+FFFD for each where that is not UTF-8."""
    made: list[str] = []
    run = bytearray()
    for token in [*tokens, None]:
        byte = None if token is None else byte_of(token)
        if byte is not None:
            run.append(byte)
            continue
        if run:
            try:
                made.append(run.decode())
            except UnicodeDecodeError:
                made.extend(["\ufffd"] * len(run))
            run.clear()
        if token is not None:
            made.append(token)
    return made
