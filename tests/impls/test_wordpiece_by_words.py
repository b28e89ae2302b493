"""WordPiece by words: the ids of the plain encoder, whatever it remembers, and what it refuses."""

import random

import numpy as np
import pytest

from corpora.texts import benchmarks
from corpora.vocabularies.model import WordPieceRules
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.wordpiece_file import make
from impls.fast import wordpiece
from impls.fast.wordpiece_encoder import FastEncoder
from impls.interface import Mode, Rejected, Unsupported
from impls.wordpiece.encoder import WordPieceEncoder
from impls.wordpiece.variants import BERT, LLAMA_CPP
from tests.breadth import thorough_from
from tests.data import data_path

VARIANTS = (BERT, LLAMA_CPP)
ATOMS = [
    *"abcAé日한ΐ.,-_ \t\n\x00\u0301\u0327\ufdfa",
    "  ",
    "word",
    "B\u0301",
    "....",
    "longword" * 5,
]
BROKEN = [b"\xff", b"a\xe2\x96", b".\xc3.", b"\xed\xa0\x80 ", b"\xf4\x90\x80\x80"]


def drawn(seed):
    rng = random.Random(f"wordpiece {seed}")
    letters = ["a", "b", "c", "é", "e", "日", "한", "ᄒ", ".", "-", "\u0301", "wo", "rd"]
    texts = {"".join(rng.choices(letters, k=rng.randint(1, 3))) for _ in range(30)}
    pieces = [text if rng.random() < 0.5 else f"##{text}" for text in sorted(texts)]
    flags = [rng.random() < 0.6 for _ in range(4)]
    rules = WordPieceRules(
        clean_text=flags[0],
        handle_chinese_chars=flags[1],
        strip_accents=flags[2],
        lowercase=flags[3],
        max_word=rng.choice([3, 100]),
    )
    every = ["[UNK]", *dict.fromkeys(pieces)]
    return make(
        "test", every, {"[UNK]": 0}, rules, unk_id=0, added=(), file_format="test", source_path=None
    )


def result(encoder, inputs):
    """The ids and where those of each input end, or how the batch was refused."""
    ends = np.cumsum([len(one) for one in inputs], dtype=np.int64)
    try:
        ids, id_ends = encoder.encode_batch(b"".join(inputs), ends, Mode())
    except (Rejected, Unsupported) as error:
        return str(error)
    return ids.tolist(), id_ends.tolist()


def assert_alike(vocabulary, variant, inputs):
    plain = WordPieceEncoder(vocabulary, variant)
    fast = FastEncoder(vocabulary, variant)
    for _ in range(2):  # the second time much is remembered
        assert result(fast, inputs) == result(plain, inputs)
    for one in inputs:
        assert result(fast, [one]) == result(plain, [one]), one


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
@pytest.mark.parametrize("part", thorough_from(1, range(3)))
def test_drawn_vocabularies(part, variant):
    for seed in range(10 * part, 10 * part + 10):
        rng = random.Random(seed)
        texts = ["".join(rng.choices(ATOMS, k=rng.choice([1, 4, 30, 900]))) for _ in range(30)]
        inputs = [b"", *(text.encode() for text in texts), b"", b" "]
        assert_alike(drawn(seed), variant, inputs)
        if seed % 3 == 0:
            broken = [rng.choice(BROKEN) for _ in inputs]
            assert_alike(drawn(seed), variant, [a + b for a, b in zip(inputs, broken, strict=True)])


@pytest.mark.data
@pytest.mark.thorough  # a large vocabulary
@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
def test_a_real_vocabulary_on_real_texts(variant):
    vocabulary = resolve(str(data_path("gguf/ggml-vocab-bert-bge.gguf")))
    kinds = [kind for kind in benchmarks.TEXTS if not benchmarks.trouble(kind)]
    texts = [benchmarks.TEXTS[kind].of(vocabulary, 1_000_000, 3) for kind in kinds]
    assert_alike(vocabulary, variant, texts)


def test_as_many_ids_as_bytes():
    """A syllable of three bytes becomes three ids: there is room for no more of them to wait."""
    rules = WordPieceRules(strip_accents=True, lowercase=False)
    every = ["[UNK]", "a", "ᄒ", "##ᅡ", "##ᆫ", "##ᄒ"]
    vocabulary = make(
        "test", every, {"[UNK]": 0}, rules, unk_id=0, added=(), file_format="test", source_path=None
    )
    assert_alike(vocabulary, BERT, ["한한 a한.한".encode() * 500, b"a" * 40])


def words_end_anywhere(_lexicon):
    return np.ones(1 << 16, dtype=np.uint8)


def words_end_at_letters(_lexicon):
    cuts = np.zeros((256, 256), dtype=np.uint8)
    cuts[ord("a")] = 1
    return cuts.reshape(-1)


@pytest.mark.parametrize("planted", [words_end_anywhere, words_end_at_letters])
def test_a_planted_mistake_is_seen(planted, monkeypatch):
    monkeypatch.setattr(wordpiece, "make_cuts", planted)
    with pytest.raises(AssertionError):
        assert_alike(drawn(1), BERT, [b"ba ca bca word", "ab日 cab".encode()])
