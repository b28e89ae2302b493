"""Small random vocabularies for the byte-pair encoders, and the definition in plain Python."""

import random
from itertools import pairwise

from hypothesis import strategies as st

from corpora.vocabularies.drawn.byte_level import merges_over, permuted
from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import Algorithm, RankOrder, Vocabulary

BYTES = bytes([0, 1, 32, 97, 98, 99, 128, 255])
EURO = "\u20aca".encode()
"""A character of three bytes, so that tokens and cuts may lie within one."""


def vocabulary(tokens, merges=None, **fields):
    tokens = tuple(tokens)
    if merges is None:
        merges = merges_from_ranks(tokens)
    fields = {"rank_order": RankOrder.IDS} | fields
    return Vocabulary("test", Algorithm.BPE, "test", tokens, merges, **fields)


def oracle(vocabulary, data):
    """The definition over a dict and a list: independent of tables, hashing and compilation.

    For explicit merges, and for proper ranks by id.
    """
    return _merged(vocabulary, data)[0]


def _merged(vocabulary, data):
    """Likewise, with the merges that acted: (rank, left, right, merged), one after another."""
    ranks = {}
    merges = vocabulary.merges
    for rank, (left, right, merged) in enumerate(
        zip(merges.left.tolist(), merges.right.tolist(), merges.merged.tolist(), strict=True)
    ):
        ranks.setdefault((left, right), (rank, merged))
    symbols = [vocabulary.ids[bytes([byte])] for byte in data]
    acted = []
    while True:
        found = [(*ranks[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in ranks]
        if not found:
            return symbols, acted
        rank, merged, at = min(found, key=lambda item: (item[0], item[2]))
        acted.append((rank, *symbols[at : at + 2], merged))
        symbols[at : at + 2] = [merged]


def is_proper(vocabulary):
    """Whether each token is younger than its halves, by the merges that build it.

    That the halves come before it in the list is not enough where several merges make one token:
    by the last of them it may come after a token that was made of it.
    """
    built = [_merged(vocabulary, token) for token in vocabulary.tokens]
    last = {ids[0]: acted[-1] for ids, acted in built if len(ids) == 1 and acted}
    ranks = {merged: rank for merged, (rank, *_) in last.items()}
    return all(
        rank > max(ranks.get(left, -1), ranks.get(right, -1))
        for rank, left, right, _ in last.values()
    )


def oracle_by_spelling(vocabulary, data):
    """tiktoken's definition: any two neighbours that spell a token merge, the lowest id first."""
    ids = vocabulary.ids
    parts = [bytes([byte]) for byte in data]
    while True:
        found = [(ids[a + b], i) for i, (a, b) in enumerate(pairwise(parts)) if a + b in ids]
        if not found:
            return [ids[part] for part in parts]
        _, at = min(found)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def random_vocabulary(rng, *, proper=True):
    """An alphabet of a few bytes and merges over it: chains, overlaps, several to one token.

    proper: see :func:`is_proper`; ids are permuted. Otherwise the merges are shuffled, too, or ids
    are the ranks, whatever they spell; a piece that is a token may count as whole.
    """
    letters = EURO if rng.random() < 0.2 else bytes(rng.sample(BYTES, rng.randint(2, 5)))
    spelled = [bytes([letter]) for letter in letters]
    merges = merges_over(rng, spelled, range(len(letters)), rng.choice([2, 6, 12, 40]))
    if not proper and rng.random() < 0.4:
        texts = list(dict.fromkeys(spelled + [bytes(rng.choices(letters, k=3)) for _ in "abc"]))
        rng.shuffle(texts)
        return letters, vocabulary(texts, ignore_merges=rng.random() < 0.3)
    if not proper:
        rng.shuffle(merges)
    tokens, renamed = permuted(rng, spelled, merges)
    drawn = vocabulary(tokens, renamed, rank_order=RankOrder.MERGES)
    return random_vocabulary(rng) if proper and not is_proper(drawn) else (letters, drawn)


def random_text(rng, letters, longest=60):
    """Text over some of the letters, or a repeat of a few of them."""
    some = letters if rng.random() < 0.5 else bytes(rng.sample(letters, 2))
    if rng.random() < 0.3:
        return bytes(rng.choices(some, k=rng.randint(1, 4))) * rng.randint(1, longest // 4)
    return bytes(rng.choices(some, k=rng.randrange(longest)))


@st.composite
def encodings(draw, *, proper=True, texts=5):
    """A random vocabulary and texts over its alphabet."""
    rng = random.Random(draw(st.integers(0, 2**32)))
    letters, drawn = random_vocabulary(rng, proper=proper)
    alphabet = st.lists(st.sampled_from(letters), max_size=30).map(bytes)
    given = draw(st.lists(alphabet, min_size=1, max_size=texts))
    return drawn, [*given, random_text(rng, letters)]
