"""A unigram vocabulary as tables for the compiled code, in one variant.

What an engine refuses to load is a VocabularyError here, where it would change ids: for
SentencePiece an empty piece, a duplicate, and byte pieces that are not all there or not asked for;
for llama.cpp a duplicate. A score that is no number is refused in every variant, and an infinite
one by SentencePiece 0.2.3 and tokenizers: the other engines take NaN, and then give what the order
of comparisons happens to leave. SentencePiece also refuses what concerns no ids, such as a piece of
8,000 bytes; that is not repeated here.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.model import PieceType, VocabularyError
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.sentencepiece_model import byte_of
from impls.kernels.table_cache import arrays_of
from impls.unigram.normalizer import Rules, make_rules
from impls.unigram.trie import NOWHERE, double_array
from impls.unigram.variants import Decoding, Fallback, Reading, SymbolScore, Variant

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.kernels.layout import Ints, Longs

UNKNOWN_PENALTY = 10.0

FLOAT = "float32"

MEND = "train or export the model again"

_RESERVED = frozenset({PieceType.UNKNOWN, PieceType.CONTROL, PieceType.BYTE})
"""SentencePiece keeps these apart: one of them may share its text with another piece."""

ROOMS = ("impls/unigram", "impls/kernels")
"""The folders of all modules that have a part in the making of the tables."""


class Lexicon(NamedTuple):
    """The pieces of a vocabulary, and how a variant weighs them.

    trie: double array of the pieces that text can become. ids: of each of them. scores: what each
    adds to a sum. unknown_score: what the unknown piece adds. float_sums: the best sums are rounded
    to float32 when they are kept. float_pieces, float_unknown: sums with a piece's score, or with
    the unknown one, are rounded to float32 before they are compared. unknown_id: of the unknown
    piece. byte_ids: the piece of each byte, NOWHERE for none; no entries without byte fallback.
    fallback: a :class:`impls.unigram.variants.Fallback`. rebase_above, unreached: as in
    :class:`impls.unigram.variants.Variant`. unreached_start: NOWHERE if the first candidate is
    accepted whatever it is, else 0. normalization: a
    :class:`impls.unigram.variants.Normalization`.
    """

    trie: Ints
    ids: Longs
    scores: NDArray[np.float64]
    unknown_score: float
    float_sums: bool
    float_pieces: bool
    float_unknown: bool
    unknown_id: int
    byte_ids: Longs
    fallback: int
    rebase_above: float
    unreached: float
    unreached_start: int
    normalization: int
    rules: Rules


def make_lexicon(vocabulary: Vocabulary, variant: Variant) -> Lexicon:
    """The tables of a unigram vocabulary. Raises VocabularyError, as the module says.

    Those of a large one are kept on disk.
    """
    trie, ids, scores, byte_ids = arrays_of(
        (Pieces.of(vocabulary.pieces), variant, vocabulary.byte_fallback),
        "unigram",
        lambda: _tables(vocabulary, variant),
        *ROOMS,
    )
    unreached = -math.inf if variant.unreached is None else variant.unreached
    float_sums = variant.sums == FLOAT
    return Lexicon(
        trie,
        ids,
        scores,
        unknown_score(vocabulary, variant),
        float_sums,
        float_sums and variant.scores == FLOAT,
        float_sums and variant.unknown == FLOAT,
        NOWHERE if vocabulary.unk_id is None else vocabulary.unk_id,
        byte_ids,
        int(variant.fallback),
        variant.rebase_above,
        unreached,
        NOWHERE if variant.unreached is None else 0,
        int(variant.normalization),
        make_rules(vocabulary, symbols_stay=variant.symbols_stay),
    )


def _tables(vocabulary: Vocabulary, variant: Variant) -> tuple[NDArray[np.generic], ...]:
    """Of the lexicon: the trie, the ids, their scores, and byte_ids."""
    check(vocabulary, variant)
    trie, ids = double_array(segmented(vocabulary, variant))
    scores = np.array(piece_scores(vocabulary, variant), dtype=variant.scores)
    return trie, ids, scores[ids].astype(np.float64), _byte_ids(vocabulary, variant)


def texts(vocabulary: Vocabulary, variant: Variant) -> list[str]:
    """The text of each piece to the engine: llama.cpp gives empty ones a name."""
    if variant.decoding is not Decoding.LLAMA_CPP:
        return [piece.text for piece in vocabulary.pieces]
    return [piece.text or f"[EMPTY_{i}]" for i, piece in enumerate(vocabulary.pieces)]


def segmented(vocabulary: Vocabulary, variant: Variant) -> dict[bytes, int]:
    """The pieces that text can become, with their ids; of two with one text the last."""
    return {
        text.encode(): piece_id
        for piece_id, (text, piece) in enumerate(
            zip(texts(vocabulary, variant), vocabulary.pieces, strict=True)
        )
        if piece.type in variant.segmented
    }


def piece_scores(vocabulary: Vocabulary, variant: Variant) -> list[float]:
    """What each piece adds to a sum, by id."""
    normal = [piece.score for piece in vocabulary.pieces if piece.type is PieceType.NORMAL]
    # Where SentencePiece 0.2.1 looks for the greatest it begins with FLT_MIN, which is positive.
    greatest = max([float(np.finfo(np.float32).tiny), *normal])
    scores = []
    for piece in vocabulary.pieces:
        score, size = _read(piece.score, variant), len(piece.text.encode())
        if piece.type is PieceType.USER_DEFINED:
            if variant.symbol_score is SymbolScore.ZERO:
                score = 0.0
            elif variant.symbol_score is SymbolScore.LENGTH:
                score = 0.1 * (size - 1)
            elif variant.symbol_score is SymbolScore.GREATEST:
                score = float(np.float32(size) * np.float32(greatest)) - 0.1
        scores.append(score)
    return scores


def _read(score: float, variant: Variant) -> float:
    return parsed(repr(score)) if variant.reading is Reading.SERDE_JSON else score


def parsed(number: str) -> float:
    """What serde_json makes of a JSON number of at most 19 digits without ``float_roundtrip``."""
    mantissa, _, exponent = number.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    power = int(exponent or 0) - len(fraction)
    value = float(int(whole + fraction))
    while power < -308 and value:
        value /= 1e308
        power += 308
    value = value * float(f"1e{power}") if power >= 0 else value / float(f"1e{-power}")
    return -value if number.startswith("-") else value


def unknown_score(vocabulary: Vocabulary, variant: Variant) -> float:
    """The score of the unknown piece, as the variant's type has it."""
    kind = np.dtype(variant.unknown).type
    known = [
        _read(piece.score, variant)
        for piece in vocabulary.pieces
        if piece.type in variant.minimum_over
    ]
    return float(kind(min(known, default=variant.no_minimum)) - kind(UNKNOWN_PENALTY))


def check(vocabulary: Vocabulary, variant: Variant) -> None:
    """Raise the VocabularyError of what the engine refuses."""
    sentencepiece = variant.decoding is Decoding.SENTENCEPIECE
    holes = {*Pieces.of(vocabulary.pieces).holes} if sentencepiece else ()
    seen: dict[tuple[str, bool], int] = {}
    for piece_id, piece in enumerate(vocabulary.pieces):
        if math.isnan(piece.score) or (math.isinf(piece.score) and variant.finite_scores):
            fault = f"piece {piece_id} has the score {piece.score}"
            raise VocabularyError(vocabulary.id, fault, MEND)
        if not piece.text and sentencepiece:
            raise VocabularyError(vocabulary.id, f"piece {piece_id} is empty", MEND)
        if piece_id in holes:
            continue
        named = piece.text, sentencepiece and piece.type in _RESERVED
        if not variant.duplicates and seen.setdefault(named, piece_id) != piece_id:
            fault = f"pieces {seen[named]} and {piece_id} are both {piece.text!r}"
            raise VocabularyError(vocabulary.id, fault, MEND)
    if sentencepiece:
        _check_bytes(vocabulary)


def _check_bytes(vocabulary: Vocabulary) -> None:
    """SentencePiece wants all byte pieces with byte fallback, and none without."""
    found = [piece for piece in vocabulary.pieces if piece.type is PieceType.BYTE]
    odd = next((piece for piece in found if byte_of(piece.text) is None), None)
    if odd is not None:
        raise VocabularyError(vocabulary.id, f"byte piece {odd.text!r} names no byte", MEND)
    if found and not vocabulary.byte_fallback:
        raise VocabularyError(vocabulary.id, "has byte pieces but byte_fallback is not set", MEND)
    if vocabulary.byte_fallback and len({piece.text for piece in found}) < 256:
        fault = f"byte_fallback is set, but only {len(found)} of 256 byte pieces are there"
        raise VocabularyError(vocabulary.id, fault, MEND)


def _byte_ids(vocabulary: Vocabulary, variant: Variant) -> Longs:
    if not vocabulary.byte_fallback or variant.fallback is Fallback.UNKNOWN:
        return np.empty(0, dtype=np.int64)
    named = {
        piece.text: piece_id
        for piece_id, piece in enumerate(vocabulary.pieces)
        if variant.duplicates or piece.type is PieceType.BYTE
    }
    return np.array([named.get(f"<0x{byte:02X}>", NOWHERE) for byte in range(256)], dtype=np.int64)
