"""A SentencePiece model from the plain model, for engines that read only that format."""

from __future__ import annotations

from corpora.vocabularies.model import Algorithm, PieceType, RankOrder, Vocabulary, VocabularyError

_UNIGRAM, _BPE = 1, 2


def trouble(vocabulary: Vocabulary) -> str | None:
    """Why no ``.model`` can be made of a vocabulary, in one line; None if one can."""
    if not vocabulary.pieces:
        return "has no SentencePiece pieces"
    if vocabulary.algorithm is Algorithm.BPE and vocabulary.rank_order is not RankOrder.SCORES:
        return "its merges have no scores, which a .model needs"
    if vocabulary.normalizer.form is not None:
        return f"normalizes to {vocabulary.normalizer.form}, which a .model cannot say"
    return unknown_trouble(vocabulary)


def unknown_trouble(vocabulary: Vocabulary) -> str | None:
    """Why SentencePiece loads no ``.model`` with these pieces: it asks for one unknown piece.

    Holes of a GGUF file are unknown tokens for who converted it, so that it may have hundreds.
    """
    unknown = sum(piece.type is PieceType.UNKNOWN for piece in vocabulary.pieces)
    if unknown == 1:
        return None
    return f"has {unknown} unknown pieces, and SentencePiece takes a model with exactly one"


def to_model_proto(vocabulary: Vocabulary) -> bytes:
    """A serialized ``ModelProto`` with which SentencePiece encodes as with the original.

    VocabularyError for a vocabulary without pieces, for merges whose order is not that of the
    scores, and for a Unicode normalization form (a ``.model`` has only its charsmap).
    """
    from sentencepiece import sentencepiece_model_pb2  # noqa: PLC0415 (slow to import)

    fault = trouble(vocabulary)
    if fault is not None:
        raise VocabularyError(vocabulary.id, fault, "give the .model that it was made from")
    proto = sentencepiece_model_pb2.ModelProto()
    for piece in vocabulary.pieces:
        proto.pieces.add(piece=piece.text, score=piece.score, type=int(piece.type))
    trainer = proto.trainer_spec
    trainer.model_type = _UNIGRAM if vocabulary.algorithm is Algorithm.UNIGRAM else _BPE
    trainer.vocab_size = len(vocabulary.pieces)
    trainer.byte_fallback = vocabulary.byte_fallback
    trainer.treat_whitespace_as_suffix = vocabulary.normalizer.treat_whitespace_as_suffix
    if vocabulary.unk_id is not None:
        trainer.unk_id = vocabulary.unk_id
        trainer.unk_piece = vocabulary.pieces[vocabulary.unk_id].text
    trainer.user_defined_symbols.extend(
        piece.text for piece in vocabulary.pieces if piece.type is PieceType.USER_DEFINED
    )
    spec = proto.normalizer_spec
    spec.name = "user_defined" if vocabulary.normalizer.charsmap else "identity"
    spec.precompiled_charsmap = vocabulary.normalizer.charsmap or b""
    spec.add_dummy_prefix = vocabulary.normalizer.add_dummy_prefix
    spec.remove_extra_whitespaces = vocabulary.normalizer.remove_extra_whitespaces
    spec.escape_whitespaces = vocabulary.normalizer.escape_whitespaces
    content: bytes = proto.SerializeToString()
    return content
