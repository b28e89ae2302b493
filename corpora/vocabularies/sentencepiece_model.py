"""SentencePiece's own files (``.model``), read from the protocol buffer and written as one.

Unigram and BPE are in the plain model. So are models of characters, which are BPE without a merge.
Models of words, and of characters with longer pieces, are run by those alone who read the file.
"""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from corpora.vocabularies.limits import COPY, MAX_IDS, MAX_PROTO_BYTES, check_count, check_tokens
from corpora.vocabularies.merges import merges_from_scores
from corpora.vocabularies.model import (
    Algorithm,
    Alphabet,
    Merges,
    NativeFile,
    Normalizer,
    PieceType,
    RankOrder,
    Vocabulary,
    VocabularyError,
)
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.reading import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Piece

_MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


def from_bytes(content: bytes, vocabulary_id: str, source: str) -> Vocabulary:
    """The vocabulary of a serialized ``ModelProto``; ``source`` names it in errors."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415 (slow to import)
    from sentencepiece import sentencepiece_model_pb2  # noqa: PLC0415 (likewise)

    check_count(len(content), MAX_PROTO_BYTES, "bytes", source)
    proto = sentencepiece_model_pb2.ModelProto()
    try:
        proto.ParseFromString(content)
    except DecodeError:
        raise VocabularyError(source, "is not a SentencePiece model (corrupt)", COPY) from None
    if not proto.pieces:
        raise VocabularyError(source, "is not a SentencePiece model (no pieces)", COPY)
    if not proto.HasField("trainer_spec"):
        # Pieces come first in the file, so one cut between two of them still parses.
        raise VocabularyError(source, "trainer_spec is missing (cut short?)", COPY)
    check_count(len(proto.pieces), MAX_IDS, "pieces", source)
    kind = _MODEL_TYPES[proto.trainer_spec.model_type]  # protobuf reads no other number
    pieces, normalizer = _pieces(proto, source), _normalizer(proto)
    byte_fallback = bool(proto.trainer_spec.byte_fallback)
    algorithm, unexpressed = _algorithm(kind, pieces)
    if proto.denormalizer_spec.precompiled_charsmap:  # which decoding applies
        unexpressed += ("denormalizer_spec.precompiled_charsmap",)
    del proto  # as large again as the pieces
    vocabulary = from_pieces(
        vocabulary_id,
        pieces,
        algorithm=algorithm,
        normalizer=normalizer,
        byte_fallback=byte_fallback,
        file_format="sentencepiece",
        source_path=source,
    )
    return replace(vocabulary, native=NativeFile(content, unexpressed=unexpressed))


def _algorithm(kind: str, pieces: Pieces) -> tuple[Algorithm, tuple[str, ...]]:
    """How the plain model encodes with a model of this type, and what of it it cannot express."""
    if kind == "word":
        return Algorithm.WORDLEVEL, ("trainer_spec.model_type word",)
    if kind != "char":
        return Algorithm(kind), ()
    # SentencePiece's BPE would merge characters to a longer piece, of which one of characters is
    # unaware; both cut user-defined symbols out first.
    longer = (pieces[i].text for i in pieces.of_types(PieceType.NORMAL, PieceType.UNUSED))
    first = next((text for text in longer if len(text) > 1), None)
    if first is None:
        return Algorithm.BPE, ()
    return Algorithm.BPE, (f"the piece {shown(first)} of trainer_spec.model_type char",)


def _pieces(proto: Any, source: str) -> Pieces:
    texts: list[Any] = []
    scores, types = array("d"), bytearray()
    # No object stays that would be looked at whenever garbage is collected, and one loop is enough.
    for piece in proto.pieces:
        texts.append(piece.piece)
        scores.append(piece.score)
        types.append(piece.type)
    if "" in texts or set(map(type, texts)) != {str}:
        place = next(i for i, text in enumerate(texts) if not text or not isinstance(text, str))
        fault = "is not UTF-8" if texts[place] else "is empty"  # what is none comes as bytes
        raise VocabularyError(source, f"pieces[{place}].piece {fault}", COPY)
    return Pieces.of_columns(texts, scores, bytes(types))


def from_pieces(
    vocabulary_id: str,
    pieces: Sequence[Piece],
    *,
    algorithm: Algorithm,
    normalizer: Normalizer,
    byte_fallback: bool = False,
    file_format: str,
    source_path: str | None = None,
    unk_id: int | None = None,
) -> Vocabulary:
    """A vocabulary from its pieces; also for GGUF, which has the same pieces in arrays.

    ``unk_id`` is the piece of type UNKNOWN unless given. Control pieces are special tokens.
    """
    columns = Pieces.of(pieces)
    if unk_id is None:
        unk_id = next(iter(columns.of_types(PieceType.UNKNOWN)), None)
    specials: dict[str, int] = {}
    for piece_id in columns.of_types(PieceType.CONTROL):
        specials.setdefault(columns[piece_id].text, piece_id)
    specials.pop("", None)
    tokens = tuple(spellings(columns))
    where = source_path or vocabulary_id
    check_tokens(tokens, where)
    merges = Merges.none()
    if algorithm is Algorithm.BPE:
        merges = merges_from_scores(columns, where)
    return Vocabulary(
        id=vocabulary_id,
        algorithm=algorithm,
        format=file_format,
        tokens=tokens,
        merges=merges,
        pieces=columns,
        alphabet=Alphabet.CHARACTERS,
        rank_order=RankOrder.SCORES,
        normalizer=normalizer,
        special_tokens=specials,
        unk_id=unk_id,
        byte_fallback=byte_fallback,
        source_path=source_path,
    )


def byte_of(text: str) -> int | None:
    """The byte that a piece called ``<0x41>`` stands for, or None for another text."""
    if len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
        try:
            return int(text[3:5], 16)
        except ValueError:
            return None
    return None


def spellings(pieces: Pieces) -> list[bytes | None]:
    """The bytes of each piece that text becomes; None for the others."""
    found: list[bytes | None] = list(pieces.spelled)
    for piece_id in pieces.of_types(PieceType.BYTE):
        byte = byte_of(pieces[piece_id].text)
        found[piece_id] = None if byte is None else bytes([byte])
    for piece_id in pieces.of_types(PieceType.UNKNOWN, PieceType.CONTROL):
        found[piece_id] = None
    return [token or None for token in found]  # GGUF files have empty texts for holes


_FLAGS = ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces")
"""Flags that the normalizer of a file has under the names of the plain model's."""


def _normalizer(proto: Any) -> Normalizer:
    spec = proto.normalizer_spec
    return Normalizer(
        charsmap=bytes(spec.precompiled_charsmap) or None,
        treat_whitespace_as_suffix=proto.trainer_spec.treat_whitespace_as_suffix,
        **{flag: getattr(spec, flag) for flag in _FLAGS},
    )


# --- writing --------------------------------------------------------------------------------------


def trouble(vocabulary: Vocabulary) -> str | None:
    """Why no ``.model`` can be made of a vocabulary, in one line; None if one can."""
    if not vocabulary.pieces:
        return "has no SentencePiece pieces"
    if vocabulary.algorithm is Algorithm.BPE and vocabulary.rank_order is not RankOrder.SCORES:
        return "its merges have no scores, which a .model needs"
    if vocabulary.normalizer.form is not None:
        return f"normalizes to {vocabulary.normalizer.form}, which a .model cannot express"
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
        raise VocabularyError(vocabulary.id, fault, "it cannot be written as a .model file")
    proto = sentencepiece_model_pb2.ModelProto()
    for piece in vocabulary.pieces:
        proto.pieces.add(piece=piece.text, score=piece.score, type=int(piece.type))
    trainer = proto.trainer_spec
    trainer.model_type = 1 if vocabulary.algorithm is Algorithm.UNIGRAM else 2
    trainer.vocab_size = len(vocabulary.pieces)
    trainer.byte_fallback = vocabulary.byte_fallback
    trainer.treat_whitespace_as_suffix = vocabulary.normalizer.treat_whitespace_as_suffix
    if vocabulary.unk_id is not None:
        trainer.unk_id = vocabulary.unk_id
        trainer.unk_piece = vocabulary.pieces[vocabulary.unk_id].text
    trainer.user_defined_symbols.extend(
        piece.text for piece in vocabulary.pieces if piece.type is PieceType.USER_DEFINED
    )
    spec, normalizer = proto.normalizer_spec, vocabulary.normalizer
    spec.name = "user_defined" if normalizer.charsmap else "identity"
    spec.precompiled_charsmap = normalizer.charsmap or b""
    for flag in _FLAGS:
        setattr(spec, flag, getattr(normalizer, flag))
    content: bytes = proto.SerializeToString()
    return content
