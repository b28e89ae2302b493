"""Merges that are derived, and the preflight, against the definitions on drawn vocabularies."""

import gzip
import itertools
import math
import pickle
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.vocabularies import drawn
from corpora.vocabularies.merges import merges_from_ranks, merges_from_scores
from corpora.vocabularies.model import Merges, Piece, PieceType, RankOrder, Vocabulary
from corpora.vocabularies.preflight import preflight
from corpora.vocabularies.sentencepiece_model import from_pieces
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tiktoken_file import from_ranks, parse
from harness.core.messages import packed
from tests.breadth import thorough
from tests.data import data_path
from tests.doubles.merging import merged
from tests.properties.corpora.files import BYTES


def first_ids(tokens):
    ids = {}
    for token_id, token in enumerate(tokens):
        if token:
            ids.setdefault(token, token_id)
    return ids


def by_rank(token, ids, limit=math.inf):
    """What tiktoken leaves of a token with the ranks below a limit."""

    def rank_of(a, b):
        rank = ids.get(a + b)
        return rank if rank is not None and rank < limit else None

    return merged([token[k : k + 1] for k in range(len(token))], rank_of, bytes.__add__)


def long(tokens):
    return [(i, token) for i, token in enumerate(tokens) if token is not None and len(token) > 1]


def derived(tokens):
    """The merges of ranks."""
    ids = first_ids(tokens)
    halves = ((i, by_rank(token, ids, i)) for i, token in long(tokens))
    pairs = ((i, [ids.get(half) for half in two]) for i, two in halves if len(two) == 2)
    return [(*two, i) for i, two in pairs if None not in two]


RANKS = st.lists(st.one_of(st.none(), st.text("ab\0", max_size=6).map(str.encode)), max_size=40)


@given(RANKS)
def test_merges_of_ranks_follow_the_definition(tokens):
    assert merges_from_ranks(tokens).triples() == derived(tokens)


@pytest.mark.data
@pytest.mark.thorough  # large vocabularies
@pytest.mark.parametrize(
    ("name", "tokens"),
    [("cl100k_base", 100256), ("o200k_base", 199998), ("voyage3_base", 151643)],
)
def test_proper_vocabularies_have_a_merge_for_every_longer_token(name, tokens):
    content = gzip.decompress(data_path(f"vocabs/{name}.tiktoken.gz").read_bytes())
    spelled = [*parse(content, name).values()]
    assert len(merges_from_ranks(spelled)) == tokens - 256
    assert preflight(resolve(f"{data_path(f'vocabs/{name}.tiktoken.gz')}#pattern={name}")) == []


PIECES = st.builds(
    Piece,
    st.text("ab▁é", min_size=1, max_size=5),
    st.sampled_from([-1.0, -2.0, 0.0, 3.5, math.nan]),
    st.sampled_from([*[PieceType.NORMAL] * 4, *PieceType]),
)


@given(st.lists(PIECES, max_size=30))
def test_merges_of_scores_are_all_splits_best_score_first(pieces):
    """As ``generate_merges`` of transformers; control pieces are no part and never built."""
    builds = {PieceType.NORMAL, PieceType.USER_DEFINED, PieceType.UNUSED}
    ids = first_ids([piece.text if piece.type in builds else None for piece in pieces])
    ways = [
        (ids.get(text[:cut]), ids.get(text[cut:]), i)
        for text, i in ids.items()
        for cut in range(1, len(text))
    ]

    def order(way):
        left, right, made = way
        score = pieces[made].score
        sizes = -len(pieces[left].text), -len(pieces[right].text)
        return (math.inf if math.isnan(score) else -score, *sizes, made)

    expected = sorted((way for way in ways if None not in way[:2]), key=order)
    assert merges_from_scores(pieces).triples() == expected


# The preflight: what it counts, counted by the definitions


def found(vocabulary):
    problems = preflight(vocabulary)
    assert all(problem.message.isprintable() for problem in problems)
    assert len({problem.kind for problem in problems}) == len(problems)
    return {problem.kind: problem for problem in problems}


def encoded(parts, merges):
    """Ids, merged by a list of merges, of which the first of a pair counts."""
    table = {}
    for rank, (left, right, made) in enumerate(merges.triples()):
        table.setdefault((left, right), (rank, made))
    return merged(parts, lambda a, b: table.get((a, b), [None])[0], lambda a, b: table[a, b][1])


def valid_splits(tokens):
    """A merge a token, and the tokens that have none.

    Its halves are earlier tokens that encoding what they are made of leaves as they are; of several
    pairs that with the longest left half is taken.
    """
    ids, merges, without = first_ids(tokens), {}, []

    def letters(token_id):
        halves = merges.get(token_id)
        return [token_id] if halves is None else [*letters(halves[0]), *letters(halves[1])]

    for i, token in long(tokens):
        for cut in range(len(token) - 1, 0, -1):
            two = [ids.get(half, i) for half in (token[:cut], token[cut:])]
            table = Merges.of([(*merges[one], one) for one in sorted(merges)])
            if max(two) < i and encoded([*letters(two[0]), *letters(two[1])], table) == two:
                merges[i] = two
                break
        else:
            without.append(i)
    return Merges.of([(*merges[one], one) for one in sorted(merges)]), without


def problems_of_bytes(vocabulary):
    """What a byte-level vocabulary's problems are, by definition: how many of each kind."""
    tokens, merges = vocabulary.tokens, vocabulary.merges.triples()
    ids = first_ids(tokens)

    def letters(token):
        return [ids.get(token[k : k + 1], -1 - k) for k in range(len(token))]

    times = Counter(token for token in tokens if token is not None)
    counts = {
        "duplicate-tokens": sum(many > 1 for many in times.values()),
        "missing-bytes": sum(byte not in ids for byte in BYTES),
        "duplicate-merges": sum(n > 1 for n in Counter((a, b) for a, b, _ in merges).values()),
        "several-merges": sum(n > 1 for n in Counter(made for *_, made in merges).values()),
    }
    if vocabulary.rank_order is RankOrder.IDS:
        table, without = valid_splits(tokens)
        counts["no-valid-split"] = len(without)
        parted = [len(by_rank(token, ids)) > 1 for _, token in long(tokens)]
        counts["not-self-encoding-by-rank"] = sum(parted)
    else:
        table = vocabulary.merges
        highest = itertools.accumulate((made for *_, made in merges), max)
        counts["ids-not-merge-order"] = sum(
            made < top for (*_, made), top in zip(merges, highest, strict=True)
        )
    counts["not-self-encoding"] = sum(
        encoded(letters(token), table) != [i] for i, token in long(tokens) if ids[token] == i
    )
    return {kind: count for kind, count in counts.items() if count}


@pytest.mark.parametrize("kind", ["bpe", "ranks"])
def test_problems_of_bytes_are_counted_as_defined(kind):
    for seed in range(120):
        vocabulary = drawn.draw(kind, seed)
        counts = {name: problem.count for name, problem in found(vocabulary).items()}
        assert counts == problems_of_bytes(vocabulary), vocabulary.id


def ranked(tokens):
    return from_ranks("x", tokens, splits=(), special_tokens={}, source_path=None)


def test_problems_are_spelled():
    doubled = ranked([b"a", b"b", b"\xff", b"a", b"\xff"])
    assert found(doubled)["duplicate-tokens"].examples == ("'a'", "b'\\xff'")
    assert found(ranked(BYTES[1:255]))["missing-bytes"].examples == ("0x00", "0xFF")
    assert found(resolve("toy_improper"))["not-self-encoding"].examples == ("'abcd'",)
    twice = replace(
        ranked([b"a", b"b", b"ba"]), merges=Merges.of([(1, 0, 2)] * 2), rank_order=RankOrder.MERGES
    )
    assert found(twice)["duplicate-merges"].examples == ("'b' 'a'",)


@pytest.mark.parametrize(
    ("changes", "kind", "count", "first"),
    [
        ({"pieces": [("x", math.nan), ("y", -math.inf)]}, "odd-scores", 2, "'x' nan"),
        ({"byte_fallback": True}, "missing-byte-pieces", 256, "<0x00>"),
        ({"unk_id": None}, "no-unknown", 1, None),
        ({"pieces": [("ab", -9.0)]}, "duplicate-tokens", 1, "'ab'"),
    ],
)
def test_problems_of_pieces(changes, kind, count, first):
    toy = resolve("toy_unigram")
    assert preflight(toy) == []
    new = [Piece(*piece, PieceType.NORMAL) for piece in changes.get("pieces", ())]
    tokens = (*toy.tokens, *(piece.text.encode() for piece in new))
    problem = found(replace(toy, **{**changes, "pieces": (*toy.pieces, *new)}, tokens=tokens))[kind]
    assert (problem.count, next(iter(problem.examples), None)) == (count, first)


@pytest.mark.parametrize(
    ("text", "score", "lost"),
    [
        ("bab日本", -0.5, 0),  # ab first, then bab of b ab, and bab日本 of bab 日本
        ("aba", -9.0, 0),
        ("cé日", -0.1, 1),  # no split into pieces
    ],
)
def test_a_piece_that_better_scored_ones_prevent(text, score, lost):
    toy = resolve("toy_characters")
    vocabulary = from_pieces(
        "x",
        [*toy.pieces, Piece(text, score, PieceType.NORMAL)],
        algorithm=toy.algorithm,
        normalizer=toy.normalizer,
        byte_fallback=True,
        file_format="toy",
    )
    counts = {name: problem.count for name, problem in found(vocabulary).items()}
    assert counts == ({"not-self-encoding": lost} if lost else {})


@pytest.mark.parametrize(
    "name",
    [
        *(thorough("tekken_240911"), thorough("mistral_v1"), "mistral_v3", "unigram_nfkc"),
        *("unigram_bytes", "toy_bytes", "toy_characters", "toy_wordpiece"),
    ],
)
def test_proper_vocabularies_have_no_problem(name):
    assert preflight(resolve(name)) == []


@pytest.mark.data
def test_llama3_has_707_tokens_that_do_not_encode_to_themselves():
    problems = found(resolve(f"{data_path('vocabs/llama3.tiktoken.gz')}#pattern=llama3"))
    assert problems["not-self-encoding"].count == 707
    assert problems["no-valid-split"].count == 540
    # By tiktoken's rule, which needs no valid split, fewer are lost.
    assert problems["not-self-encoding-by-rank"].count == 588


# A vocabulary as it goes to other processes


@pytest.mark.parametrize("name", ["mistral_v3", "unigram_nfkc", "tekken_240911"])
def test_a_vocabulary_survives_being_packed(name):
    vocabulary = resolve(name)
    again = pickle.loads(packed(vocabulary))
    assert packed(again) == packed(vocabulary)
    assert list(map(repr, again.pieces)) == list(map(repr, vocabulary.pieces))
    assert replace(again).fingerprint == vocabulary.fingerprint  # computed anew


class Meanwhile(str):
    """A text of a vocabulary: while it is pickled, somebody else asks for the vocabulary's ids."""

    vocabulary: Vocabulary

    def __reduce__(self):
        assert self.vocabulary.byte_ids
        return str, ("meanwhile",)


def test_a_vocabulary_can_be_packed_while_another_thread_works_with_it():
    # A run broke off so: its judges work while the workers of forced tokens are given the task.
    text = Meanwhile("meanwhile")
    vocabulary = replace(resolve("toy_bytes"), source_path=text)
    text.vocabulary = vocabulary
    assert pickle.loads(pickle.dumps(vocabulary)).source_path == "meanwhile"
    # Atheris found other inputs in a campaign's second run than in its first.
    asked = replace(resolve("toy_bytes"))
    before = packed(asked)
    assert asked.ids and asked.byte_ids
    assert packed(asked) == before
