import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.vocabularies.model import (
    Normalizer,
    Piece,
    PieceType,
    VocabularyError,
)
from corpora.vocabularies.sources import resolve
from impls.adapters.sentencepiece import IMPLEMENTATION as SENTENCEPIECE
from impls.interface import Mode
from impls.kernels.trie import child, token_at
from impls.unigram.encoder import SENTENCEPIECE as VITERBI
from impls.unigram.trie import NOWHERE, ROOT, double_array
from tests.data import data_path
from tests.impls.unigram_vocabularies import unigram

TEXT = Mode()


def normal(text, score):
    return Piece(text, score, PieceType.NORMAL)


def test_a_charsmap_cut_short_is_one_line():
    with pytest.raises(VocabularyError, match="charsmap"):
        VITERBI.load(unigram([normal("a", -1.0)], Normalizer(charsmap=b"\xff\0\0\0x")))


@given(st.dictionaries(st.binary(min_size=1, max_size=5), st.integers(0, 99)), st.binary())
def test_a_double_array_is_a_map(strings, data):
    """Both kinds of tries tell the strings that begin at a place: a dictionary, and the array."""
    array, ids = double_array(strings)
    slot, found = (ROOT if strings else NOWHERE), {}
    for end, byte in enumerate(data, 1):
        slot = child(array, slot, byte) if slot != NOWHERE else NOWHERE
        if slot != NOWHERE and token_at(array, slot) != NOWHERE:
            found[data[:end]] = ids[token_at(array, slot)]
    prefixes = (data[:end] for end in range(1, len(data) + 1))
    assert found == {text: strings[text] for text in prefixes if text in strings}


def test_supports():
    assert VITERBI.supports(resolve("unigram_nfkc"), TEXT) is None
    assert VITERBI.supports(resolve("unigram_nfkc"), Mode(pretokenize=False))
    assert VITERBI.supports(resolve("unigram_nfkc"), Mode(special="all"))
    assert VITERBI.supports(resolve("toy_characters"), TEXT)


def assert_as_sentencepiece(vocabulary, cases):
    rng = random.Random(11)
    reference, ours = SENTENCEPIECE.load(vocabulary), VITERBI.load(vocabulary)
    pieces = [piece.text.replace("▁", " ").encode() for piece in vocabulary.pieces]
    odd = "  |\u3000|½|ﬁ|\u0301|e\u0301|한|ᄒ|\ufdfa|㌀|▁|\n|\0|\u200b|😀|\ufffd".encode().split(
        b"|"
    )
    odd += [b"\xff", b"\xc3", b"\xe2\x96", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80"]
    for case in range(cases):
        few = [rng.choice(rng.choice((pieces, odd))) for _ in range(rng.randint(1, 8))]
        data = b"".join(rng.choices(few, k=rng.randrange(12)))
        if case % 3 == 0:
            data = rng.randbytes(rng.randrange(20))

        assert ours.encode(data, TEXT) == reference.encode(data, TEXT), data
    # Long enough for sums to be rebased.
    data = b"".join(rng.choice(pieces) for _ in range(30_000))
    assert ours.encode(data, TEXT) == reference.encode(data, TEXT)


@pytest.mark.parametrize("name", ["unigram_nfkc", "unigram_bytes", "toy_unigram"])
def test_embedded_models_as_sentencepiece(name):
    assert_as_sentencepiece(resolve(name), 2000)


@pytest.mark.data
@pytest.mark.parametrize("name", ["t5_base", "albert_fixture", "sp_test_model", "sp_test_ja_model"])
def test_real_models_as_sentencepiece(name):
    assert_as_sentencepiece(resolve(str(data_path(f"vocabs/{name}.model"))), 2000)
