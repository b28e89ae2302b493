"""Small random vocabularies for the byte-pair encoders, and the definition in plain Python."""

import random

from hypothesis import strategies as st

from corpora.vocabularies.drawn.byte_level import merges_over, permuted
from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import Algorithm, RankOrder, Vocabulary
from tests.doubles.merging import merged

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
    ranks, acted = {}, []
    for rank, (left, right, made) in enumerate(vocabulary.merges.triples()):
        ranks.setdefault((left, right), (rank, made))

    def join(left, right):
        rank, made = ranks[left, right]
        acted.append((rank, left, right, made))
        return made

    symbols = [vocabulary.ids[bytes([byte])] for byte in data]
    return merged(symbols, lambda *pair: ranks.get(pair), join), acted


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
    return [ids[part] for part in merged(parts, lambda a, b: ids.get(a + b), bytes.__add__)]


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
