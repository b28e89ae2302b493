"""The preflight: each impropriety is found, counted and spelled; proper vocabularies are clean."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import pytest

from corpora.vocabularies.model import Merges, Piece, PieceType, RankOrder, Vocabulary
from corpora.vocabularies.preflight import preflight
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tiktoken_file import from_ranks
from harness.core.messages import packed
from tests.breadth import thorough_from
from tests.data import data_path


def found(vocabulary):
    problems = preflight(vocabulary)
    assert all("\n" not in problem.message for problem in problems)
    kinds = {problem.kind: problem for problem in problems}
    assert len(kinds) == len(problems)
    return kinds


def counts(vocabulary):
    return {kind: p.count for kind, p in found(vocabulary).items() if kind != "missing-bytes"}


@pytest.mark.parametrize(
    "name",
    [
        *("tekken_240718", "tekken_240911", "mistral_v1", "mistral_v3", "unigram_nfkc"),
        *("unigram_bytes", "toy_bytes", "toy_unigram", "toy_characters"),
    ],
)
def test_proper_vocabularies_have_no_problem(name):
    assert preflight(resolve(name)) == []


@pytest.mark.parametrize("name", ["toy_acbb", "toy_runs", "toy_ties"])
def test_small_alphabets_only_lack_bytes(name):
    vocabulary = resolve(name)
    letters = sum(len(token) == 1 for token in vocabulary.tokens if token)
    assert {k: p.count for k, p in found(vocabulary).items()} == {"missing-bytes": 256 - letters}


@pytest.mark.data
def test_llama3_has_707_tokens_that_do_not_encode_to_themselves():
    path = data_path("vocabs/llama3.tiktoken.gz")
    problems = found(resolve(f"{path}#pattern=llama3"))
    assert problems["not-self-encoding"].count == 707
    assert problems["no-valid-split"].count == 540
    # By tiktoken's rule, which needs no valid split, fewer are lost.
    assert problems["not-self-encoding-by-rank"].count == 588
    assert "707 tokens" in problems["not-self-encoding"].message


@pytest.mark.data
@pytest.mark.parametrize("name", thorough_from(1, ["o200k_base", "cl100k_base", "voyage3_base"]))
def test_these_are_proper(name):
    path = data_path(f"vocabs/{name}.tiktoken.gz")
    assert preflight(resolve(f"{path}#pattern={name}")) == []


def ranked(tokens):
    return from_ranks("x", tokens, splits=(), special_tokens={}, source_path=None)


def test_an_unreachable_token_is_named():
    problems = found(resolve("toy_improper"))
    assert problems["not-self-encoding"].examples == ("'abcd'",)
    assert problems["no-valid-split"].count == 1
    assert problems["not-self-encoding-by-rank"].count == 1


def test_missing_bytes():
    problem = found(ranked([bytes([b]) for b in range(256) if b not in (0, 255)]))["missing-bytes"]
    assert (problem.count, problem.examples) == (2, ("0x00", "0xFF"))


def test_duplicate_tokens():
    problem = found(ranked([b"a", b"b", b"\xff", b"a", b"\xff"]))["duplicate-tokens"]
    assert (problem.count, problem.examples) == (2, ("'a'", "b'\\xff'"))


def merged(tokens, merges):
    return replace(ranked(tokens), merges=Merges.of(merges), rank_order=RankOrder.MERGES)


def test_ids_that_are_not_merge_order():
    tokens = [b"a", b"b", b"ab", b"ba", b"aa"]
    assert counts(merged(tokens, [(0, 1, 2), (1, 0, 3), (0, 0, 4)])) == {}
    assert counts(merged(tokens, [(0, 0, 4), (0, 1, 2), (1, 0, 3)])) == {"ids-not-merge-order": 2}


def test_merges_that_stand_twice_and_tokens_of_several():
    tokens = [b"a", b"aa", b"aaa"]
    vocabulary = merged(tokens, [(0, 0, 1), (0, 1, 2), (1, 0, 2), (0, 0, 1)])
    assert counts(vocabulary) == {
        "duplicate-merges": 1,
        "several-merges": 2,
        "ids-not-merge-order": 1,
    }


def test_a_merge_that_an_earlier_one_prevents():
    tokens = [b"a", b"b", b"c", b"ab", b"bc", b"abc"]
    assert counts(merged(tokens, [(0, 1, 3), (1, 2, 4), (0, 4, 5)])) == {"not-self-encoding": 1}
    assert counts(merged(tokens, [(0, 1, 3), (1, 2, 4), (3, 2, 5)])) == {}
    # A token without any merge is not reached either.
    assert counts(merged(tokens, [(0, 1, 3), (1, 2, 4)])) == {"not-self-encoding": 1}


def pieces_of(*changed, name="toy_characters"):
    vocabulary = resolve(name)
    return replace(vocabulary, pieces=(*vocabulary.pieces, *changed))


def test_odd_scores():
    vocabulary = resolve("toy_unigram")
    odd = (
        Piece("x", math.nan, PieceType.NORMAL),
        Piece("y", -math.inf, PieceType.NORMAL),
    )
    problem = found(replace(vocabulary, pieces=(*vocabulary.pieces, *odd)))["odd-scores"]
    assert (problem.count, problem.examples) == (2, ("'x' nan", "'y' -inf"))


def test_byte_pieces_missing_under_byte_fallback():
    vocabulary = replace(resolve("toy_unigram"), byte_fallback=True)
    problem = found(vocabulary)["missing-byte-pieces"]
    assert (problem.count, problem.examples[0]) == (256, "<0x00>")


def test_duplicate_pieces_but_not_bytes_that_spell_a_character():
    vocabulary = resolve("toy_unigram")
    again = replace(
        vocabulary,
        pieces=(*vocabulary.pieces, Piece("ab", -9.0, PieceType.NORMAL)),
        tokens=(*vocabulary.tokens, b"ab"),
    )
    assert counts(again) == {"duplicate-tokens": 1}


def test_a_piece_that_better_scored_ones_prevent():
    from corpora.vocabularies.sentencepiece_model import from_pieces

    toy = resolve("toy_characters")
    lost = Piece("bab日本", -0.5, PieceType.NORMAL)  # its best split needs 'b' 'ab日本'
    vocabulary = from_pieces(
        "x",
        [*toy.pieces, lost],
        algorithm=toy.algorithm,
        normalizer=toy.normalizer,
        byte_fallback=True,
        file_format="toy",
        source_path=None,
    )
    # ab first, then b cannot join ab日本: bab comes from b ab, and bab日本 from bab 日本.
    assert counts(vocabulary) == {}
    unreachable = Piece("aba", -9.0, PieceType.NORMAL)  # ab a: reached
    orphan = Piece("cé日", -0.1, PieceType.NORMAL)  # no split into pieces
    vocabulary = from_pieces(
        "x",
        [*toy.pieces, unreachable, orphan],
        algorithm=toy.algorithm,
        normalizer=toy.normalizer,
        byte_fallback=True,
        file_format="toy",
        source_path=None,
    )
    assert counts(vocabulary) == {"not-self-encoding": 1}


def test_a_vocabulary_survives_being_packed():
    for name in ("mistral_v3", "unigram_nfkc", "tekken_240911"):
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


def test_what_was_asked_of_a_vocabulary_does_not_change_what_a_process_gets():
    # Atheris found other inputs in a campaign's second run than in its first.
    vocabulary = replace(resolve("toy_bytes"))
    before = packed(vocabulary)
    assert vocabulary.ids and vocabulary.byte_ids
    assert packed(vocabulary) == before


def test_a_vocabulary_can_be_packed_while_another_thread_works_with_it():
    # A run broke off so: its judges work while the workers of forced tokens are given the task.
    text = Meanwhile("meanwhile")
    vocabulary = replace(resolve("toy_bytes"), source_path=text)
    text.vocabulary = vocabulary
    assert pickle.loads(pickle.dumps(vocabulary)).source_path == "meanwhile"
