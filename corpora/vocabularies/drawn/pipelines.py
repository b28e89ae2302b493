"""Random pipelines of a tokenizer.json: byte-level BPE with all its steps, and WordPiece."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.drawn.byte_level import BASE_TOKENS, SPLIT_BY, merges_over, permuted
from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Normalizer,
    RankOrder,
    Vocabulary,
    WordPieceRules,
)
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.wordpiece_file import make

if TYPE_CHECKING:
    import random

ADDED = ("ab", "a b", "<x>", "<x>y", "ő", "o\u030b", " ", "\n", "b")
"""Texts of added tokens: prefixes of one another, white space, what a normalizer makes alike.

Of these, one that is the name of a token in the byte alphabet (b always, é would be) is left out:
in a tokenizer.json a name has one id.
"""

FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def pipeline(rng: random.Random) -> Vocabulary:
    """Byte-level merges over letters, spaces and an accent, added tokens with every flag."""
    spelled = list(BASE_TOKENS)
    letters = [*b"ab ", *"é".encode(), 0x81]
    merges = merges_over(rng, spelled, letters, rng.choice([4, 12, 40]))
    tokens, renamed = permuted(rng, spelled, merges)
    names = {spell(token) for token in tokens}
    texts = [text for text in rng.sample(ADDED, rng.randrange(5)) if text not in names]
    flags = ("special", "single_word", "lstrip", "rstrip", "normalized")
    added = tuple(
        AddedToken(text, len(tokens) + place, **{flag: rng.random() < 0.4 for flag in flags})
        for place, text in enumerate(texts)
    )
    return Vocabulary(
        "drawn",
        Algorithm.BPE,
        "drawn",
        tokens,
        renamed,
        rank_order=RankOrder.MERGES,
        splits=PATTERNS[rng.choice(SPLIT_BY)],
        normalizer=Normalizer(form=rng.choice(FORMS) if rng.random() < 0.5 else None),
        special_tokens={one.text: one.id for one in added if one.special},
        added_tokens=added,
        ignore_merges=rng.random() < 0.3,
    )


def wordpiece(rng: random.Random) -> Vocabulary:
    """Words and continuations of a few letters; the unknown word is near."""
    letters = rng.choice(("ab", "aé", "abσς", "aİi", "日本a", "a,!"))
    words = {"".join(rng.choices(letters, k=rng.randint(1, 4))) for _ in range(rng.randint(2, 20))}
    prefix = "##" if rng.random() < 0.9 else "+"
    # In order: that of a set of strings is another one in each process.
    later = {prefix + word for word in sorted(words) if rng.random() < 0.6}
    reserved = ["[PAD]", "[UNK]", "[CLS]"]
    texts = [*reserved, *sorted(words), *sorted(later - words)]
    clean, chinese, accents, lower = (rng.random() < 0.7 for _ in range(4))
    rules = WordPieceRules(clean, chinese, accents, lower, prefix, rng.choice((4, 12, 100)))
    return make(
        "drawn",
        texts,
        {text: texts.index(text) for text in reserved},
        rules,
        unk_id=1,
        file_format="drawn",
    )
