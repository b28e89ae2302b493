"""SentencePiece's unigram against the library, on vocabularies of tokgate's and of others."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.vocabularies.sources import resolve
from impls.adapters.sentencepiece import IMPLEMENTATION as SENTENCEPIECE
from impls.interface import Mode
from impls.kernels.trie import child, token_at
from impls.unigram.encoder import SENTENCEPIECE as VITERBI
from impls.unigram.trie import NOWHERE, ROOT, double_array
from tests.data import data_path
from tests.properties.impls.unigram_vocabularies import random_inputs

TEXT = Mode()


@given(st.dictionaries(st.binary(min_size=1, max_size=5), st.integers(0, 99)), st.binary())
def test_a_double_array_is_a_map(strings, data):
    """It tells the strings that begin at a place, as the dictionary does."""
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


@pytest.mark.parametrize(
    "name",
    [
        *("unigram_nfkc", "unigram_bytes", "toy_unigram"),
        *(
            pytest.param(name, marks=pytest.mark.data)
            for name in ("t5_base", "albert_fixture", "sp_test_model", "sp_test_ja_model")
        ),
    ],
)
def test_models_as_sentencepiece(name):
    local = "unigram" in name
    vocabulary = resolve(name if local else str(data_path(f"vocabs/{name}.model")))
    rng = random.Random(11)
    reference, ours = SENTENCEPIECE.load(vocabulary), VITERBI.load(vocabulary)
    inputs = [*random_inputs(vocabulary, rng, 1500), *(rng.randbytes(n % 20) for n in range(500))]
    # Long enough for sums to be rebased.
    pieces = [piece.text.replace("▁", " ").encode() for piece in vocabulary.pieces]
    inputs.append(b"".join(rng.choices(pieces, k=30_000)))
    for data in inputs:
        assert ours.encode(data, TEXT) == reference.encode(data, TEXT), data
