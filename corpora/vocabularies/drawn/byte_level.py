"""Random byte-level vocabularies: merges over a few bytes, or over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import Algorithm, Merges, RankOrder, Vocabulary
from corpora.vocabularies.patterns import PATTERNS

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

LETTERS = bytes([0, 1, 32, 97, 98, 99, 128, 255])
"""Few, so that merges meet: NUL and another control, the space, letters, halves of characters."""

LONGEST = 16
"""Bytes of a token: longer ones hardly occur in what is drawn from the same letters."""

BASE_TOKENS = tuple(bytes([byte]) for byte in range(256))


def merges_over(
    rng: random.Random, spelled: list[bytes], letters: Sequence[int], count: int
) -> list[tuple[int, int, int]]:
    """``count`` merges at most, of the tokens ``letters`` and what they make; extends ``spelled``.

    (left, right, merged) as places in ``spelled``. Halves come before wholes; now and then a
    second merge makes the same token.
    """
    merges: list[tuple[int, int, int]] = []
    usable = list(letters)
    for _ in range(count):
        # Often the newest tokens: that makes chains.
        left, right = (
            usable[rng.randrange(max(0, len(usable) - 3) if rng.random() < 0.4 else 0, len(usable))]
            for _ in range(2)
        )
        text = spelled[left] + spelled[right]
        if len(text) > LONGEST:
            continue
        if text not in spelled:
            usable.append(len(spelled))
            spelled.append(text)
        merges.append((left, right, spelled.index(text)))
    return merges


def permuted(
    rng: random.Random, spelled: Sequence[bytes], merges: Sequence[tuple[int, int, int]]
) -> tuple[tuple[bytes, ...], Merges]:
    """Tokens in another order, and the merges with their new ids."""
    order = list(range(len(spelled)))
    rng.shuffle(order)
    tokens = [b""] * len(spelled)
    for old, new in enumerate(order):
        tokens[new] = spelled[old]
    renamed = [(order[left], order[right], order[merged]) for left, right, merged in merges]
    return tuple(tokens), Merges.of(renamed)


def _letters(rng: random.Random) -> tuple[list[bytes], list[int]]:
    """The tokens of single bytes, and those of them that merge."""
    if rng.random() < 0.5:
        some = rng.sample(LETTERS, rng.randint(2, 5))
        return [bytes([letter]) for letter in some], list(range(len(some)))
    return list(BASE_TOKENS), rng.sample(LETTERS, rng.randint(2, 5))


def byte_level(rng: random.Random) -> Vocabulary:
    """Explicit merges, sometimes out of order, so that some tokens are never reached."""
    spelled, letters = _letters(rng)
    whole = len(spelled) == len(BASE_TOKENS)
    merges = merges_over(rng, spelled, letters, rng.choice([2, 6, 12, 40]))
    if rng.random() < 0.3:
        rng.shuffle(merges)
    if rng.random() < 0.3:
        # Tokens that no merge makes: they are reached whole, by ignore_merges, or never.
        texts = {bytes(rng.choices(LETTERS, k=rng.randint(2, 5))) for _ in range(3)}
        spelled += sorted(texts - set(spelled))
    tokens, renamed = (
        permuted(rng, spelled, merges)
        if rng.random() < 0.6
        else (tuple(spelled), Merges.of(merges))
    )
    return Vocabulary(
        "drawn",
        Algorithm.BPE,
        "drawn",
        tokens,
        renamed,
        rank_order=RankOrder.MERGES,
        splits=PATTERNS[rng.choice(SPLIT_BY)] if whole else (),
        ignore_merges=rng.random() < 0.3,
    )


def ranked(rng: random.Random) -> Vocabulary:
    """A rank file: what a token is made of follows from the ranks below its own."""
    spelled, letters = _letters(rng)
    whole = len(spelled) == len(BASE_TOKENS)
    merges_over(rng, spelled, letters, rng.choice([2, 6, 12, 40]))
    if rng.random() < 0.4:
        # What a token is made of may come after it, or not at all: improper.
        out_of_order = [
            bytes(rng.choices(spelled[:8], k=1)[0] * rng.randint(2, 4)) for _ in range(3)
        ]
        base_tokens = len(BASE_TOKENS) if whole else len(letters)
        made = list(dict.fromkeys([*spelled[base_tokens:], *out_of_order]))
        rng.shuffle(made)
        spelled = [
            *spelled[:base_tokens],
            *(text for text in made if text not in spelled[:base_tokens]),
        ]
    elif rng.random() < 0.5:
        base_tokens = len(BASE_TOKENS) if whole else len(letters)
        front = spelled[:base_tokens]
        rng.shuffle(front)
        spelled = [*front, *spelled[base_tokens:]]
    tokens: list[bytes | None] = [*spelled]
    if rng.random() < 0.2:
        tokens.insert(rng.randrange(len(tokens)), None)  # an id that nothing has
    specials = {"<|end|>": len(tokens), "<|end|>of": len(tokens) + 1} if rng.random() < 0.5 else {}
    return Vocabulary(
        "drawn",
        Algorithm.BPE,
        "drawn",
        tuple(tokens),
        merges_from_ranks(tokens),
        splits=PATTERNS[rng.choice(SPLIT_BY)] if whole else (),
        special_tokens=specials,
        ignore_merges=True,
    )


SPLIT_BY = ("none", "gpt2", "cl100k_base", "o200k_base", "qwen2", "tekken")
"""Pre-tokenizers to draw from: each of the compiled scanners, and none."""
