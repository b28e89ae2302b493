"""Random vocabularies of a given size, to see what it costs to load one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from corpora.vocabularies.drawn.byte_level import BASE_TOKENS, LONGEST
from corpora.vocabularies.drawn.pieces import RESERVED
from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import (
    Algorithm,
    Normalizer,
    Piece,
    PieceType,
    Vocabulary,
    WordPieceRules,
)
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.sentencepiece_model import from_pieces
from corpora.vocabularies.wordpiece_file import make

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORT = 700
"""Tokens, the first of all, of which the others are made."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def of_size(algorithm: Algorithm, size: int) -> Vocabulary | None:
    """A random vocabulary of ``size`` tokens, 500 at the least; None for no such algorithm."""
    rng = random.Random(f"{algorithm} {size} 0")
    if algorithm is Algorithm.BPE:
        return _byte_level(rng, size)
    if algorithm is Algorithm.UNIGRAM:
        return _unigram(rng, size)
    if algorithm is Algorithm.WORDPIECE:
        return _wordpiece(rng, size)
    return None


def _byte_level(rng: random.Random, size: int) -> Vocabulary:
    """Each token is two before it: the merges follow from the ranks."""
    tokens, known = list(BASE_TOKENS), set(BASE_TOKENS)
    while len(tokens) < size:
        # Of two from among all, most would be too long.
        left, right = (int(rng.random() * min(len(tokens), SHORT)) for _ in range(2))
        one = tokens[left] + tokens[right]
        if len(one) <= LONGEST and one not in known:
            known.add(one)
            tokens.append(one)
    return Vocabulary(
        f"random of {size} tokens",
        Algorithm.BPE,
        "drawn",
        tuple(tokens),
        merges_from_ranks(tokens),
        splits=PATTERNS["cl100k_base"],
    )


def _words(rng: random.Random) -> Iterator[str]:
    """Words of letters, none twice."""
    known: set[str] = set()
    while True:
        word = "".join(rng.choices(LETTERS, k=rng.randint(2, 9)))
        if word not in known:
            known.add(word)
            yield word


def _unigram(rng: random.Random, size: int) -> Vocabulary:
    words = _words(rng)
    texts = [*LETTERS, "\u2581"]
    texts += [next(words) for _ in range(size - len(RESERVED) - len(texts))]
    pieces = [Piece(text, -rng.uniform(3, 12), PieceType.NORMAL) for text in texts]
    return from_pieces(
        f"random of {size} tokens",
        [*RESERVED, *pieces],
        algorithm=Algorithm.UNIGRAM,
        normalizer=Normalizer(),
        file_format="drawn",
    )


def _wordpiece(rng: random.Random, size: int) -> Vocabulary:
    words, reserved = _words(rng), ["[PAD]", "[UNK]", "[CLS]"]
    texts = [*reserved, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    while len(texts) < size:
        texts.append(("##" if rng.random() < 0.3 else "") + next(words))
    return make(
        f"random of {size} tokens",
        texts,
        {text: texts.index(text) for text in reserved},
        WordPieceRules(True, True, True, True, "##", 100),
        unk_id=1,
        file_format="drawn",
    )
