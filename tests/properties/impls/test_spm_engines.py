"""SentencePiece BPE against the engines themselves."""

import random

import pytest
from hypothesis import given

from corpora.vocabularies import drawn
from corpora.vocabularies.model import PieceType, VocabularyError
from corpora.vocabularies.sources import load_path, resolve
from impls.adapters.sentencepiece import IMPLEMENTATION as ENGINE
from impls.interface import Mode
from impls.spm.encoder import SENTENCEPIECE
from tests.data import data_path
from tests.properties.impls.spm_definition import vocabularies
from tests.properties.impls.unigram_vocabularies import random_inputs

TEXT = Mode()


def assert_alike(vocabulary, engine, ours, inputs, rng, mode=TEXT):
    """The same ids, and the same text of them and of ids at random."""
    size = len(vocabulary.pieces)
    for data in inputs:
        ids = ours.encode(data, mode)
        assert ids == engine.encode(data, mode), data
        drawn = [rng.randrange(size) for _ in range(rng.randrange(6))]
        for chosen in (ids, drawn, rng.sample(ids, len(ids)) + drawn):
            assert ours.decode(chosen) == engine.decode(chosen), chosen


@given(vocabularies())
def test_random_models_as_sentencepiece(case):
    vocabulary, inputs = case
    engine, ours = ENGINE.load(vocabulary), SENTENCEPIECE.load(vocabulary)
    rng = random.Random(1)
    letters = sorted({c for piece in vocabulary.pieces[-3:] for c in piece.text})
    long = ["".join(rng.choices(letters, k=size)).encode() for size in (16, 48, 512)]

    assert_alike(vocabulary, engine, ours, [*inputs, *long], rng)


@pytest.mark.parametrize("seed", range(40))
def test_drawn_vocabularies_as_sentencepiece(seed):
    """With a charsmap, symbols that are normalized, and characters that are no pieces."""
    vocabulary, rng = drawn.draw("characters", seed), random.Random(seed)
    if sum(piece.type is PieceType.BYTE for piece in vocabulary.pieces) == 200:
        for one in (ENGINE, SENTENCEPIECE):
            with pytest.raises((VocabularyError, RuntimeError)):
                one.load(vocabulary)
        return
    inputs = [*random_inputs(vocabulary, rng, 60), *(rng.randbytes(n) for n in range(20))]
    assert_alike(vocabulary, ENGINE.load(vocabulary), SENTENCEPIECE.load(vocabulary), inputs, rng)


def assert_real(vocabulary, inputs):
    rng = random.Random(17)
    engine, ours = ENGINE.load(vocabulary), SENTENCEPIECE.load(vocabulary)
    assert_alike(vocabulary, engine, ours, random_inputs(vocabulary, rng, inputs), rng)
    # Long segments, and a long text.
    data = [b"a" * 5000, b" " * 5000, b"he" * 3000, "é".encode() * 3000]
    data.append(b"".join(random_inputs(vocabulary, rng, 2000)))
    assert_alike(vocabulary, engine, ours, data, rng)


@pytest.mark.data
def test_llama_2_as_sentencepiece():
    assert_real(load_path(data_path("vocabs/keras_llama2_full.model")), 2000)


def test_a_model_of_mistral_as_sentencepiece():
    assert_real(resolve("mistral_v3"), 2000)
