"""Vocabularies drawn at random: small, and with what real ones have once in a thousand tokens.

``random:KIND:SEED`` is one of :data:`KINDS`; the kind and the seed decide all of it.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.vocabularies.drawn.byte_level import byte_level, ranked
from corpora.vocabularies.drawn.mutations import mutated
from corpora.vocabularies.drawn.pieces import characters, unigram
from corpora.vocabularies.drawn.pipelines import pipeline, wordpiece
from corpora.vocabularies.embedded import RANDOM
from corpora.vocabularies.model import VocabularyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from corpora.vocabularies.model import Vocabulary

KINDS: dict[str, tuple[str, Callable[[random.Random], Vocabulary]]] = {
    "bpe": (
        "byte-level merges in any order: permuted ids, several merges to one token, unreachable "
        "tokens, chains",
        byte_level,
    ),
    "ranks": ("byte-level, ranks are ids, as tiktoken's: proper or not", ranked),
    "pipeline": (
        "a tokenizer.json: byte-level, a normalization form, a pre-tokenizer, added tokens with "
        "every flag",
        pipeline,
    ),
    "characters": (
        "SentencePiece BPE: tied scores, UNUSED and user-defined pieces, all, some or no bytes",
        characters,
    ),
    "unigram": (
        "tied and extreme scores, UNUSED and user-defined pieces, a charsmap or none",
        unigram,
    ),
    "wordpiece": ("words and continuations of few letters, every rule on and off", wordpiece),
    "mutated": ("an embedded toy with one thing changed: ids, merges, scores, types", mutated),
}
"""Name to (what is drawn, how)."""


def draw(kind: str, seed: int) -> Vocabulary:
    """The vocabulary ``random:KIND:SEED``. KeyError for no kind."""
    made = KINDS[kind][1](random.Random(f"{kind} {seed}"))
    return replace(made, id=f"{RANDOM}{kind}:{seed}")


def named(source: str) -> Vocabulary:
    """The vocabulary of a name that begins with ``random:``. Raises VocabularyError."""
    kind, _, seed = source.removeprefix(RANDOM).partition(":")
    if kind not in KINDS or not seed.isdecimal():
        mend = f"give random:KIND:SEED, with KIND one of {', '.join(KINDS)}"
        raise VocabularyError(source, "no such random vocabulary", mend)
    return draw(kind, int(seed))


def sources(count: int, seed: int) -> list[str]:
    """Names of ``count`` vocabularies, all kinds in turn; another seed gives others.

    Seeds of vocabularies are apart by a million, so that no two runs of fewer share one.
    """
    kinds = [*KINDS]
    return [
        f"{RANDOM}{kinds[place % len(kinds)]}:{seed * 1_000_000 + place // len(kinds)}"
        for place in range(count)
    ]
