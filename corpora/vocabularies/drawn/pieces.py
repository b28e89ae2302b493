"""Random SentencePiece vocabularies, BPE and unigram, with what separates engines."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies import embedded
from corpora.vocabularies.model import Algorithm, Normalizer, Piece, PieceType
from corpora.vocabularies.sentencepiece_model import from_pieces

if TYPE_CHECKING:
    import random

    from corpora.vocabularies.model import Vocabulary

LETTERS = ("ab▁", "aé😀▁", "abc▁ﬁ½", "ｶﾞカガ▁", "a\u0301e\u0301▁", "日本語▁。")
"""Few letters a vocabulary: sums tie, and normalizers find something to do."""

BYTES = tuple(Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in range(256))
RESERVED = (
    Piece("<unk>", 0.0, PieceType.UNKNOWN),
    Piece("<s>", 0.0, PieceType.CONTROL),
    Piece("</s>", 0.0, PieceType.CONTROL),
)

SCORES = (
    (-0.1, -1.0, -1.1, -2.2, -3.3, 0.5),
    (-1e4, -3.3e4, -1.0, -7.7e4),
    (-1e30, -1.0, 2.0),
    (12.0, 30.0, 7.5),
    (0.0,),
)
"""Scores to draw from: ties, far apart, extreme, positive, all alike."""


@cache
def charsmap() -> bytes | None:
    """A real one, nmt_nfkc, of the model that is trained here."""
    return embedded.load("unigram_nfkc").normalizer.charsmap


def _texts(rng: random.Random) -> list[str]:
    letters = rng.choice(LETTERS)
    drawn = {"".join(rng.choices(letters, k=rng.randint(1, 5))) for _ in range(rng.randint(1, 25))}
    return sorted(drawn)


def _kind(rng: random.Random, ordinary: int) -> PieceType:
    kinds = [PieceType.NORMAL] * ordinary + [PieceType.USER_DEFINED, PieceType.UNUSED]
    return rng.choice(kinds)


def _scores(rng: random.Random) -> tuple[float, ...]:
    if rng.random() < 0.3:
        return tuple(-rng.random() * 12 for _ in range(6))
    return rng.choice(SCORES)


def _normalizer(rng: random.Random) -> Normalizer:
    return Normalizer(
        charsmap() if rng.random() < 0.5 else None,
        add_dummy_prefix=rng.random() < 0.7,
        remove_extra_whitespaces=rng.random() < 0.6,
        escape_whitespaces=rng.random() < 0.8,
        treat_whitespace_as_suffix=rng.random() < 0.15,
    )


def _drawn(rng: random.Random, algorithm: Algorithm, texts: list[str]) -> Vocabulary:
    scores, ordinary = _scores(rng), rng.choice((4, 30))
    pieces = [
        Piece(text, float(np.float32(rng.choice(scores))), _kind(rng, ordinary)) for text in texts
    ]
    fallback = rng.random() < 0.4
    # Some of the bytes only: SentencePiece refuses it, others take it.
    spelled = BYTES if rng.random() < 0.7 else tuple(rng.sample(BYTES, 200))
    return from_pieces(
        "drawn",
        [*RESERVED, *(spelled if fallback else ()), *pieces],
        algorithm=algorithm,
        normalizer=_normalizer(rng),
        byte_fallback=fallback,
        file_format="drawn",
    )


def unigram(rng: random.Random) -> Vocabulary:
    """Few letters and few scores, so that sums tie all the time; sometimes extreme scores."""
    return _drawn(rng, Algorithm.UNIGRAM, _texts(rng))


def characters(rng: random.Random) -> Vocabulary:
    """SentencePiece BPE: pieces that merges of others make, and pieces that none make."""
    texts = _texts(rng)
    letters = sorted({letter for text in texts for letter in text})
    # Mostly all the letters are pieces; a letter that is none ends up unknown or as bytes.
    kept = [letter for letter in letters if rng.random() < 0.95]
    halves = {text[:cut] for text in texts for cut in range(2, len(text)) if rng.random() < 0.7}
    return _drawn(rng, Algorithm.BPE, sorted({*texts, *kept, *halves}))
