"""SentencePiece's own files (``.model``): unigram and BPE, read from the protocol buffer."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError

from corpora.vocabularies.limits import COPY, MAX_IDS, MAX_PROTO_BYTES, check_count, check_tokens
from corpora.vocabularies.model import (
    Algorithm,
    Alphabet,
    Merges,
    NativeFile,
    Normalizer,
    Piece,
    PieceType,
    RankOrder,
    Vocabulary,
    VocabularyError,
)
from corpora.vocabularies.reading import read_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_MODEL_TYPES = {1: "unigram", 2: "bpe", 3: "word", 4: "char"}


def load(path: Path, *, vocabulary_id: str | None = None) -> Vocabulary:
    """The vocabulary of a ``.model``. Scores may be NaN: the preflight reports them."""
    return from_bytes(read_bytes(path, MAX_PROTO_BYTES), vocabulary_id or path.name, str(path))


def from_bytes(content: bytes, vocabulary_id: str, source: str) -> Vocabulary:
    """The vocabulary of a serialized ``ModelProto``; ``source`` names it in errors."""
    from sentencepiece import sentencepiece_model_pb2  # noqa: PLC0415 (slow to import)

    check_count(len(content), MAX_PROTO_BYTES, "bytes", source)
    proto = sentencepiece_model_pb2.ModelProto()
    try:
        proto.ParseFromString(content)
    except DecodeError:
        raise VocabularyError(source, "is no SentencePiece model (corrupt)", COPY) from None
    if not proto.pieces:
        raise VocabularyError(source, "is no SentencePiece model (no pieces)", COPY)
    if not proto.HasField("trainer_spec"):
        # Pieces come first in the file, so one cut between two of them still parses.
        raise VocabularyError(source, "trainer_spec is missing (cut short?)", COPY)
    check_count(len(proto.pieces), MAX_IDS, "pieces", source)
    kind = _MODEL_TYPES.get(proto.trainer_spec.model_type, "?")
    if kind not in ("unigram", "bpe"):
        raise VocabularyError(
            source, f"trainer_spec.model_type is {kind}", "give a unigram or bpe model"
        )
    pieces, normalizer = _pieces(proto, source), _normalizer(proto)
    byte_fallback = bool(proto.trainer_spec.byte_fallback)
    del proto  # as large again as the pieces
    vocabulary = from_pieces(
        vocabulary_id,
        pieces,
        algorithm=Algorithm(kind),
        normalizer=normalizer,
        byte_fallback=byte_fallback,
        file_format="sentencepiece",
        source_path=source,
    )
    return replace(vocabulary, native=NativeFile(content))


def _pieces(proto: Any, source: str) -> tuple[Piece, ...]:
    found: list[Piece] = []
    for place, piece in enumerate(proto.pieces):
        text = piece.piece
        if not text or not isinstance(text, str):  # what is no UTF-8 comes as bytes
            fault = "is not UTF-8" if text else "is empty"
            raise VocabularyError(source, f"pieces[{place}].piece {fault}", COPY)
        found.append(Piece(text, piece.score, PieceType(piece.type)))
    return tuple(found)


def from_pieces(
    vocabulary_id: str,
    pieces: Sequence[Piece],
    *,
    algorithm: Algorithm,
    normalizer: Normalizer,
    byte_fallback: bool,
    file_format: str,
    source_path: str | None,
    unk_id: int | None = None,
) -> Vocabulary:
    """A vocabulary from its pieces; also for GGUF, which has the same pieces in arrays.

    ``unk_id`` is the piece of type UNKNOWN unless given. Control pieces are special tokens.
    """
    if unk_id is None:
        unk_id = next((i for i, p in enumerate(pieces) if p.type is PieceType.UNKNOWN), None)
    specials: dict[str, int] = {}
    for piece_id, piece in enumerate(pieces):
        if piece.type is PieceType.CONTROL and piece.text:
            specials.setdefault(piece.text, piece_id)
    tokens = tuple(_spelling(piece) for piece in pieces)
    where = source_path or vocabulary_id
    check_tokens(tokens, where)
    merges = Merges.none()
    if algorithm is Algorithm.BPE:
        from corpora.vocabularies.merges import merges_from_scores  # noqa: PLC0415 (Numba takes a second)

        merges = merges_from_scores(pieces, where)
    return Vocabulary(
        id=vocabulary_id,
        algorithm=algorithm,
        format=file_format,
        tokens=tokens,
        merges=merges,
        pieces=tuple(pieces),
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


def is_odd(score: float) -> bool:
    """Whether a score cannot take part in sums and comparisons."""
    return math.isnan(score) or math.isinf(score)


def _spelling(piece: Piece) -> bytes | None:
    if piece.type is PieceType.BYTE:
        byte = byte_of(piece.text)
        return None if byte is None else bytes([byte])
    if piece.type in (PieceType.UNKNOWN, PieceType.CONTROL) or not piece.text:
        return None  # GGUF files have empty texts where a model has no token
    return piece.text.encode()


def _normalizer(proto: Any) -> Normalizer:
    spec = proto.normalizer_spec
    return Normalizer(
        charsmap=bytes(spec.precompiled_charsmap) or None,
        add_dummy_prefix=spec.add_dummy_prefix,
        remove_extra_whitespaces=spec.remove_extra_whitespaces,
        escape_whitespaces=spec.escape_whitespaces,
        treat_whitespace_as_suffix=proto.trainer_spec.treat_whitespace_as_suffix,
    )
