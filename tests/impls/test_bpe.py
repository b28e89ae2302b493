import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.vocabularies.merges import merges_from_ranks
from corpora.vocabularies.model import (
    AddedToken,
    Algorithm,
    Alphabet,
    Merges,
    Normalizer,
    RankOrder,
    Vocabulary,
)
from corpora.vocabularies.sources import resolve
from impls.bpe.algorithms import heap, naive
from impls.bpe.definition.heap_kernel import improper_tokens
from impls.interface import Mode, Rejected, Unsupported
from impls.pretokenize.unicode_version import as_of_unicode_16

TEXT = Mode()
RAW = Mode(pretokenize=False)
SPECIAL = Mode(special="all")
BOTH = pytest.mark.parametrize("implementation", [naive.IMPLEMENTATION, heap.IMPLEMENTATION])


def vocabulary(tokens, merges=None, **fields):
    tokens = tuple(tokens)
    if merges is None:
        merges = merges_from_ranks(tokens)
    fields = {"rank_order": RankOrder.IDS} | fields
    return Vocabulary("test", Algorithm.BPE, "test", tokens, merges, **fields)


def spelled(implementation, vocabulary, text, mode=RAW):
    ids = implementation.load(vocabulary).encode(text.encode(), mode)
    return [vocabulary.tokens[i].decode() for i in ids]


def oracle(vocabulary, data):
    """The definition over a dict and a list: independent of tables, hashing and compilation."""
    ranks = {}
    merges = vocabulary.merges
    for rank, (left, right, merged) in enumerate(
        zip(merges.left.tolist(), merges.right.tolist(), merges.merged.tolist(), strict=True)
    ):
        ranks.setdefault((left, right), (rank, merged))
    symbols = [vocabulary.ids[bytes([byte])] for byte in data]
    while True:
        found = [(*ranks[pair], i) for i, pair in enumerate(pairwise(symbols)) if pair in ranks]
        if not found:
            return symbols
        _, merged, at = min(found, key=lambda item: (item[0], item[2]))
        symbols[at : at + 2] = [merged]


@BOTH
@pytest.mark.parametrize(
    ("text", "expected"), [("abacbb", ["ab", "acbb"]), ("abacb", ["ab", "ac", "b"]), ("", [])]
)
def test_worked_examples(implementation, text, expected):
    dictionary = vocabulary([b"a", b"b", b"c", b"ac", b"bb", b"ab", b"acbb"])

    assert spelled(implementation, dictionary, text) == expected


@BOTH
def test_of_equal_ranks_the_leftmost_merges(implementation):
    assert spelled(implementation, vocabulary([b"a", b"aa"]), "aaaaa") == ["aa", "aa", "a"]


@BOTH
def test_a_stale_pair_is_not_merged(implementation):
    # In abab, ab merges twice; the queued ba between them is then gone.
    dictionary = vocabulary([b"a", b"b", b"ab", b"ba", b"abab"])

    assert spelled(implementation, dictionary, "babab") == ["b", "abab"]


@BOTH
def test_ranks_by_id_merge_neighbours_that_a_later_token_built(implementation):
    # No lower token helps to abc; ab, a later one, does.
    dictionary = vocabulary([b"a", b"b", b"c", b"abc", b"ab"])

    assert spelled(implementation, dictionary, "abcabcab") == ["abc", "abc", "ab"]
    assert improper_tokens(dictionary) == []


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
def test_a_byte_without_a_token_is_rejected(implementation):
    encoder = implementation.load(vocabulary([b"a", b"b", b"ab"]))

    with pytest.raises(Rejected, match="0x7a"):
        encoder.encode(b"abz", RAW)


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
def test_a_batch_is_its_inputs_one_by_one(implementation):
    encoder = implementation.load(resolve("toy_bytes"))
    inputs = [b"", b"ab", b"\xff\x00", b"", "né".encode(), b""]
    ids, ends = encoder.encode_batch(b"".join(inputs), np.cumsum([len(i) for i in inputs]), RAW)
    parts = np.split(ids, ends[:-1])

    assert ids.dtype == np.int32
    assert [part.tolist() for part in parts] == [encoder.encode(i, RAW) for i in inputs]


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


@st.composite
def vocabularies(draw):
    """Merges of tokens that are there already, some with several or with overlaps; any ids."""
    letters = "abcde"[: draw(st.integers(2, 5))]
    spelled = [letter.encode() for letter in letters]
    merges = []
    for _ in range(draw(st.integers(0, 12))):
        left = draw(st.integers(0, len(spelled) - 1))
        right = draw(st.integers(0, len(spelled) - 1))
        text = spelled[left] + spelled[right]
        if len(text) > 12:
            continue
        if text not in spelled:
            spelled.append(text)
        merges.append((left, right, spelled.index(text)))
    order = draw(st.permutations(range(len(spelled))))
    tokens = [b""] * len(spelled)
    for old, new in enumerate(order):
        tokens[new] = spelled[old]
    renamed = Merges.of([(order[x], order[y], order[z]) for x, y, z in merges])
    return letters, vocabulary(tokens, renamed, rank_order=RankOrder.MERGES)


@st.composite
def encodings(draw):
    letters, drawn = draw(vocabularies())
    texts = st.text(letters, max_size=40) | st.text(letters[:2], max_size=40)
    return drawn, draw(st.lists(texts, min_size=1, max_size=5))


@given(encodings())
def test_all_encoders_agree(encoding):
    drawn, texts = encoding
    encoders = [heap.IMPLEMENTATION.load(drawn), naive.IMPLEMENTATION.load(drawn)]
    for text in texts:
        data = text.encode()
        expected = oracle(drawn, data)

        assert [encoder.encode(data, RAW) for encoder in encoders] == [expected, expected]


def test_long_input_of_one_letter():
    dictionary = vocabulary([b"a", b"aa", b"aaaa"])

    ids = heap.IMPLEMENTATION.load(dictionary).encode(b"a" * 100_003, RAW)

    assert ids == [2] * 25_000 + [1, 0]


def test_heap_against_naive_on_a_real_vocabulary():
    tekken = resolve("tekken_240911")
    rng = random.Random(5)
    tokens = [token for token in tekken.tokens if token]
    encoders = [
        implementation.load(tekken)
        for implementation in (heap.IMPLEMENTATION, naive.IMPLEMENTATION)
    ]
    for _ in range(400):
        alphabet = [*rng.sample(tokens, 2), bytes([rng.randrange(256)])]
        data = b"".join(rng.choices(alphabet, k=rng.randrange(20)))
        ids = encoders[0].encode(data, RAW)

        assert ids == encoders[1].encode(data, RAW)
        assert encoders[0].decode(ids) == data
