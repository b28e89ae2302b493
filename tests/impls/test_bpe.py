import pytest

from corpora.vocabularies.model import (
    AddedToken,
    Alphabet,
    Merges,
    Normalizer,
    RankOrder,
)
from corpora.vocabularies.sources import resolve
from impls.bpe import heap, naive
from impls.bpe.tokens import improper_tokens
from impls.interface import Mode, Unsupported
from impls.pretokenize.unicode_version import as_of_unicode_16
from tests.impls.bpe_vocabularies import vocabulary

TEXT = Mode()
RAW = Mode(pretokenize=False)
SPECIAL = Mode(special="all")
BOTH = pytest.mark.parametrize("implementation", [naive.IMPLEMENTATION, heap.IMPLEMENTATION])


def spelled(implementation, vocabulary, text, mode=RAW):
    ids = implementation.load(vocabulary).encode(text.encode(), mode)
    return [vocabulary.tokens[i].decode() for i in ids]


@BOTH
def test_a_piece_that_is_a_token_is_emitted_whole(implementation):
    tokens = [b"a", b"b", b"c", b"ab", b"bc", b"abcb"]
    whole = vocabulary(tokens, Merges.of([(0, 1, 3)]), ignore_merges=True)
    not_whole = vocabulary(tokens, Merges.of([(0, 1, 3)]), rank_order=RankOrder.MERGES)

    assert spelled(implementation, whole, "abcb") == ["abcb"]
    assert spelled(implementation, whole, "abcba") == ["ab", "c", "b", "a"]
    assert spelled(implementation, not_whole, "abcb") == ["ab", "c", "b"]


def test_improper_tokens_are_those_that_merging_does_not_reach():
    tokens = [b"a", b"b", b"c", b"ab", b"bc", b"abcb", b"xa"]
    merges = Merges.of([(0, 1, 3), (1, 2, 4)])

    assert improper_tokens(vocabulary(tokens, merges, rank_order=RankOrder.MERGES)) == [5, 6]


@BOTH
def test_splits_apply_one_after_another_and_gaps_are_pieces(implementation):
    tokens = [bytes([b]) for b in range(256)] + [b"a1", b"12", b"b-", b"-b"]
    dictionary = vocabulary(tokens, splits=(r"[0-9]+", r"b"))

    # a | 12 | then "-b-" of the gap around b: nothing merges across these boundaries.
    assert spelled(implementation, dictionary, "a12-b-", TEXT) == ["a", "12", "-", "b", "-"]
    assert spelled(implementation, dictionary, "a12-b-", RAW) == ["a1", "2", "-", "b-"]


@BOTH
def test_special_tokens_are_cut_out_longest_first(implementation):
    tokens = [bytes([b]) for b in range(256)] + [b"<s"]
    dictionary = vocabulary(tokens, splits=(r"\w+",), special_tokens={"<s>": 300, "<s><s>": 301})
    encoder = implementation.load(dictionary)

    assert encoder.encode(b"a<s><s><s><s", SPECIAL) == [97, 301, 300, 60, 115]
    assert 300 not in encoder.encode(b"a<s>", TEXT)
    assert encoder.encode_with_offsets(b"a<s>b", SPECIAL)[1] == [(0, 1), (1, 4), (4, 5)]


@BOTH
def test_invalid_utf8_is_for_raw_mode_only(implementation):
    encoder = implementation.load(resolve("tekken_240911"))

    assert encoder.decode(encoder.encode(b"a\xff", RAW)) == b"a\xff"
    with pytest.raises(Unsupported):
        encoder.encode(b"a\xff", TEXT)


@BOTH
def test_a_normal_form_comes_first(implementation):
    tokens = [bytes([b]) for b in range(256)] + ["é".encode()]
    encoder = implementation.load(vocabulary(tokens, normalizer=Normalizer(form="NFC")))

    assert encoder.encode("e\u0301".encode(), RAW) == [256]
    with pytest.raises(Unsupported):
        encoder.encode_with_offsets("e\u0301".encode(), RAW)


@BOTH
def test_supports(implementation):
    plain = vocabulary([b"a"])

    assert implementation.supports(plain, TEXT) is None
    assert implementation.supports(resolve("unigram_nfkc"), TEXT)
    assert implementation.supports(resolve("toy_characters"), TEXT)
    assert implementation.supports(
        vocabulary([b"a"], added_tokens=(AddedToken("x", 1, lstrip=True),)), TEXT
    )
    assert implementation.supports(vocabulary([b"a"], alphabet=Alphabet.CHARACTERS), RAW)


@pytest.mark.parametrize("character", ["\u0558", "\u0b53", "\U00018cd6", "\U0001f6d8"])
def test_characters_newer_than_unicode_16_count_as_unassigned(character):
    dated = as_of_unicode_16(f"é{character}z")

    assert len(dated) == 3
    assert dated[::2] == "éz"
    assert dated[1] in "\uffff\u2fe0"


def test_older_characters_stay():
    text = "né 日本 😀 \u0250\u0378"

    assert as_of_unicode_16(text) is text
