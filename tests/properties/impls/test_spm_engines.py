"""SentencePiece BPE against the engines themselves."""

import io
import random
from pathlib import Path

import pytest
import sentencepiece
from hypothesis import given

from corpora.vocabularies import sentencepiece_model
from corpora.vocabularies.model import Piece, PieceType
from corpora.vocabularies.sources import load_path
from impls.adapters.sentencepiece import IMPLEMENTATION as ENGINE
from impls.interface import Mode
from impls.spm.encoder import SENTENCEPIECE
from tests.data import data_path
from tests.properties.impls.spm_definition import spm, vocabularies
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
def test_random_models_as_sentencepiece(drawn):
    vocabulary, inputs = drawn
    engine, ours = ENGINE.load(vocabulary), SENTENCEPIECE.load(vocabulary)
    rng = random.Random(1)
    letters = sorted({c for piece in vocabulary.pieces[-3:] for c in piece.text})
    long = ["".join(rng.choices(letters, k=size)).encode() for size in (16, 48, 512)]

    assert_alike(vocabulary, engine, ours, [*inputs, *long], rng)


def trained(rng):
    """A model that SentencePiece trains on words made at random, and texts of the same kind."""
    letters = rng.choice(["abcd", "abcdefgh", "日本語かな", "abé😀", "01<>/"])
    words = ["".join(rng.choices(letters, k=rng.randint(1, 8))) for _ in range(200)]
    lines = [" ".join(rng.choices(words, k=rng.randint(1, 12))) for _ in range(300)]
    model = io.BytesIO()
    fallback = rng.random() < 0.5
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        model_type="bpe",
        vocab_size=rng.randint(30, 120) + 256 * fallback,
        hard_vocab_limit=False,
        byte_fallback=fallback,
        character_coverage=rng.choice([0.98, 1.0]),
        user_defined_symbols=rng.choice([[], ["ab"], ["a", "ba", "  "]]),
        add_dummy_prefix=rng.random() < 0.5,
        remove_extra_whitespaces=rng.random() < 0.5,
        treat_whitespace_as_suffix=rng.random() < 0.3,
        split_by_whitespace=rng.random() < 0.5,
        normalization_rule_name=rng.choice(["identity", "nmt_nfkc", "nfkc_cf"]),
        minloglevel=2,
    )
    vocabulary = sentencepiece_model.from_bytes(model.getvalue(), "trained", "trained")
    return vocabulary, [rng.choice(lines).encode() for _ in range(20)]


def mutated(vocabulary, rng):
    """Some pieces UNUSED, some scores alike, some pieces user-defined."""
    kinds = [PieceType.UNUSED, PieceType.NORMAL, PieceType.NORMAL, PieceType.USER_DEFINED]
    pieces = [
        Piece(piece.text, rng.choice([piece.score, -1.0]), rng.choice(kinds))
        if piece.type is PieceType.NORMAL and rng.random() < 0.3
        else piece
        for piece in vocabulary.pieces
        if piece.type in (PieceType.NORMAL, PieceType.USER_DEFINED)
    ]
    return spm(pieces, vocabulary.normalizer, vocabulary.byte_fallback)


def assert_trained(seed, inputs):
    rng = random.Random(seed)
    vocabulary, texts = trained(rng)
    for candidate in (vocabulary, mutated(vocabulary, rng)):
        engine, ours = ENGINE.load(candidate), SENTENCEPIECE.load(candidate)
        drawn = [*texts, *random_inputs(candidate, rng, inputs)]
        drawn += [rng.randbytes(rng.randrange(20)) for _ in range(inputs // 5)]
        assert_alike(candidate, engine, ours, drawn, rng)


@pytest.mark.parametrize("seed", range(3))
def test_trained_models_as_sentencepiece(seed):
    assert_trained(seed, 100)


def real_models():
    return [
        "tokenizer.model.v1",
        "mistral_instruct_tokenizer_240216.model.v2",
        "mistral_instruct_tokenizer_240323.model.v3",
        "mistral_instruct_tokenizer_241114.model.v7",
        "mistral_instruct_tokenizer_241114.model.v7m1",
    ]


def assert_real(path, inputs):
    vocabulary = load_path(path)
    rng = random.Random(17)
    engine, ours = ENGINE.load(vocabulary), SENTENCEPIECE.load(vocabulary)
    assert_alike(vocabulary, engine, ours, random_inputs(vocabulary, rng, inputs), rng)
    # Long segments, and a long text.
    data = [b"a" * 5000, b" " * 5000, b"he" * 3000, "é".encode() * 3000]
    data.append(b"".join(random_inputs(vocabulary, rng, 2000)))
    assert_alike(vocabulary, engine, ours, data, rng)


@pytest.mark.data
def test_llama_2_as_sentencepiece():
    assert_real(data_path("vocabs/keras_llama2_full.model"), 2000)


@pytest.mark.parametrize("name", real_models()[2:3])
def test_a_model_of_mistral_as_sentencepiece(name):
    assert_real(mistral(name), 2000)


def mistral(name):
    package = pytest.importorskip("mistral_common")
    return Path(package.__file__).parent / "data" / name
