"""Deriving merges from ranks and scores, against the definition and against hand-worked cases."""

import itertools
import math
import random

import pytest

from corpora.vocabularies.merges import merges_from_ranks, merges_from_scores
from corpora.vocabularies.model import Piece, PieceType
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tiktoken_file import parse
from tests.data import data_path


def triples(merges):
    columns = (merges.left.tolist(), merges.right.tolist(), merges.merged.tolist())
    return list(zip(*columns, strict=True))


def by_definition(tokens):
    """Slow and literal: merge neighbours that spell a lower-ranked token, lowest first."""
    ids = {}
    for token_id, token in enumerate(tokens):
        if token:
            ids.setdefault(token, token_id)
    found = []
    for token_id, token in enumerate(tokens):
        if token is None or len(token) < 2:
            continue
        parts = [token[k : k + 1] for k in range(len(token))]
        while True:
            pairs = [
                (ids[a + b], k)
                for k, (a, b) in enumerate(itertools.pairwise(parts))
                if a + b in ids and ids[a + b] < token_id
            ]
            if not pairs:
                break
            k = min(pairs)[1]
            parts[k : k + 2] = [parts[k] + parts[k + 1]]
        if len(parts) == 2 and all(part in ids for part in parts):
            found.append((ids[parts[0]], ids[parts[1]], token_id))
    return found


def test_the_founding_dictionary():
    # a b c ac bb ab acbb: ac = a c, bb = b b, ab = a b, acbb = ac bb
    assert triples(resolve("toy_acbb").merges) == [(0, 2, 3), (1, 1, 4), (0, 1, 5), (3, 4, 6)]


@pytest.mark.parametrize("seed", range(12))
def test_random_vocabularies_follow_the_definition(seed):
    rng = random.Random(seed)
    alphabet = b"ab" if seed % 2 else b"a\x00\xff"
    tokens = [bytes([byte]) for byte in alphabet]
    while len(tokens) < 40:
        token = bytes(rng.choices(alphabet, k=rng.randint(2, 7)))
        if token not in tokens:
            tokens.append(rng.choice((token, token, token, None)))
    if seed % 3 == 0:
        rng.shuffle(tokens)
    assert triples(merges_from_ranks(tokens)) == by_definition(tokens)


def test_scores_order_merges_and_longer_left_parts_go_first():
    def piece(text, score, kind=PieceType.NORMAL):
        return Piece(text, score, kind)

    pieces = [
        piece("a", -9.0),  # 0
        piece("b", -9.0),  # 1
        piece("ab", -2.0),  # 2
        piece("bb", -1.0),  # 3
        piece("abb", -3.0),  # 4: ab b, then a bb
        piece("aa", -3.0),  # 5: a a, after those of the same score with longer left parts
        piece("ba", math.nan),  # 6: last
        piece("aab", 5.0, PieceType.CONTROL),  # 7: never built
    ]
    expected = [(1, 1, 3), (0, 1, 2), (2, 1, 4), (0, 3, 4), (0, 0, 5), (1, 0, 6)]
    assert triples(merges_from_scores(pieces)) == expected


def test_control_pieces_are_not_parts():
    pieces = [
        Piece("<", -1.0, PieceType.NORMAL),
        Piece("s>", -1.0, PieceType.NORMAL),
        Piece("<s>", 0.0, PieceType.CONTROL),
        Piece("<s>s>", -3.0, PieceType.NORMAL),
        Piece("<s", -3.0, PieceType.UNUSED),
        Piece("s", -3.0, PieceType.USER_DEFINED),
    ]
    assert triples(merges_from_scores(pieces)) == [(0, 5, 4)]


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "tokens"), [("o200k_base", 199998), ("cl100k_base", 100256), ("voyage3_base", 151643)]
)
def test_proper_vocabularies_have_a_merge_for_every_longer_token(name, tokens):
    import gzip

    path = data_path(f"vocabs/{name}.tiktoken.gz")
    spelled = [*parse(gzip.decompress(path.read_bytes()), name).values()]
    assert len(spelled) == tokens
    assert len(merges_from_ranks(spelled)) == tokens - 256
