"""A vocabulary that is known, with one thing about it changed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm, Merges, PieceType, RankOrder, WordPieceRules
from corpora.vocabularies.sentencepiece_model import from_pieces
from corpora.vocabularies.toys import TOYS

if TYPE_CHECKING:
    import random

    from corpora.vocabularies.model import Piece, Vocabulary


def mutated(rng: random.Random) -> Vocabulary:
    """One of the toys, with its merges, its scores, its types of pieces or its ids changed."""
    vocabulary = TOYS[rng.choice([*TOYS])][1]()
    if vocabulary.pieces:
        return _pieces(rng, vocabulary)
    if vocabulary.algorithm is Algorithm.BPE:
        return _merges(rng, vocabulary)
    rules = vocabulary.wordpiece
    assert rules is not None
    flags = [rules.clean_text, rules.handle_chinese_chars, rules.strip_accents, rules.lowercase]
    other = rng.randrange(len(flags))
    clean, chinese, accents, lower = (flag != (i == other) for i, flag in enumerate(flags))
    longest = rng.randint(1, 12)
    changed = WordPieceRules(clean, chinese, accents, lower, rules.prefix, longest)
    return replace(vocabulary, wordpiece=changed)


def _merges(rng: random.Random, vocabulary: Vocabulary) -> Vocabulary:
    """Explicit merges, of which two change places, one goes, or one is there twice."""
    merges = vocabulary.merges.triples()
    place, other = rng.randrange(len(merges)), rng.randrange(len(merges))
    change = rng.choice(["swap", "drop", "again", "ids"])
    if change == "swap":
        merges[place], merges[other] = merges[other], merges[place]
    elif change == "drop":
        del merges[place]
    elif change == "again":
        merges.insert(other, merges[place])
    tokens = list(vocabulary.tokens)
    if change == "ids":
        order = list(range(len(tokens)))
        rng.shuffle(order)
        tokens = [vocabulary.tokens[order.index(new)] for new in range(len(order))]
        merges = [(order[left], order[right], order[merged]) for left, right, merged in merges]
    return replace(
        vocabulary,
        tokens=tuple(tokens),
        merges=Merges.of(merges),
        rank_order=RankOrder.MERGES,
    )


def _pieces(rng: random.Random, vocabulary: Vocabulary) -> Vocabulary:
    """Pieces of which one has another's score or another type, or two change places."""
    pieces = list(vocabulary.pieces)
    ordinary = [i for i, piece in enumerate(pieces) if piece.type is PieceType.NORMAL]
    place, other = rng.choice(ordinary), rng.choice(ordinary)
    change = rng.choice(["score", "type", "swap", "extreme"])
    if change == "score":
        pieces[place] = replace(pieces[place], score=pieces[other].score)
    elif change == "extreme":
        pieces[place] = replace(pieces[place], score=rng.choice([-1e30, 1e30, -1e-30, 0.0]))
    elif change == "type":
        pieces[place] = replace(pieces[place], type=_another(rng, pieces[place]))
    else:
        pieces[place], pieces[other] = pieces[other], pieces[place]
    return from_pieces(
        vocabulary.id,
        pieces,
        algorithm=vocabulary.algorithm,
        normalizer=vocabulary.normalizer,
        byte_fallback=vocabulary.byte_fallback,
        file_format=vocabulary.format,
    )


def _another(rng: random.Random, piece: Piece) -> PieceType:
    kinds = {PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED} - {piece.type}
    return rng.choice(sorted(kinds))
