"""Fast unigram, SentencePiece BPE and WordPiece give the ids of the plain ones.

Each remembers words, or encodes over bytes, where the vocabulary admits it, and leaves the rest to
the plain encoder: so it is counted, too, how many of the drawn vocabularies do.
"""

import random
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from corpora.generators.characters import BROKEN_UTF8
from corpora.texts import benchmarks
from corpora.vocabularies import drawn
from corpora.vocabularies.model import Normalizer, Piece, PieceType, WordPieceRules
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.wordpiece_file import make
from impls.fast import spm_encoder, wordpiece_encoder
from impls.fast.spm import over_bytes
from impls.fast.unigram.encoder import IMPLEMENTATION as FAST_UNIGRAM
from impls.fast.unigram.remembering import by_words
from impls.interface import Mode, Rejected, Unsupported
from impls.spm import variants
from impls.spm.encoder import SpmEncoder
from impls.spm.lexicon import make_lexicon
from impls.spm.reading import read_pieces
from impls.unigram.encoder import SENTENCEPIECE as UNIGRAM
from impls.wordpiece.encoder import WordPieceEncoder
from impls.wordpiece.variants import BERT, LLAMA_CPP
from tests.breadth import thorough_from
from tests.data import data_path
from tests.properties.impls.spm_definition import spm
from tests.properties.impls.unigram_vocabularies import random_inputs, random_vocabulary, unigram

TEXT = Mode()
SPACED = Normalizer(escape_whitespaces=True, add_dummy_prefix=True)


def outcome(encoder, inputs, mode):
    """The ids and where those of each input end, or how the batch was refused."""
    ends = np.cumsum([len(one) for one in inputs], dtype=np.int64)
    try:
        ids, id_ends = encoder.encode_batch(b"".join(inputs), ends, mode)
    except (Rejected, Unsupported) as error:
        return str(error)
    return ids.tolist(), id_ends.tolist()


def assert_alike(fast, plain, inputs, mode=TEXT):
    """All in one batch, twice, so that the second time much is remembered; then each by itself."""
    expected = outcome(plain, inputs, mode)
    for _ in range(2):
        assert outcome(fast, inputs, mode) == expected
    for one in inputs:
        assert outcome(fast, [one], mode) == outcome(plain, [one], mode), one


def real_texts(vocabulary, size):
    kinds = [kind for kind in benchmarks.TEXTS if not benchmarks.trouble(kind)]
    return [benchmarks.TEXTS[kind].of(vocabulary, size, 3) for kind in kinds]


# Unigram


def worded(rng, *, byte_fallback):
    """A vocabulary whose pieces hold white space first, as those of training do."""
    whole = random_vocabulary(rng, gguf=True).pieces[3:]
    texts = {piece.text.replace("▁", ""): piece for piece in whole}
    pieces = [replace(piece, text=text) for text, piece in texts.items() if text]
    pieces += [replace(piece, text="▁" + piece.text) for piece in pieces if rng.random() < 0.5]
    apart = rng.choice(["▁▁", "a▁b", "ab▁▁"]) if rng.random() < 0.3 else "▁"
    pieces += [Piece(text, rng.choice(pieces).score, PieceType.NORMAL) for text in {"▁", apart}]
    return unigram(pieces, Normalizer(None, None, True, rng.random() < 0.7, True), byte_fallback)


def texts_for(vocabulary, rng):
    inputs = random_inputs(vocabulary, rng, 25)
    words = [p.text.replace("▁", " ") for p in vocabulary.pieces if p.type is PieceType.NORMAL]
    for size in (30, 400, 3000):
        made = "".join(rng.choice([" ", ""]) + rng.choice([*words, "ü", "7"]) for _ in range(size))
        inputs.append(made.encode())
    # Longer than what is kept at once of a word.
    inputs.append("".join(rng.choices([*"abc", *words], k=9000)).replace(" ", "").encode())
    # Characters that no piece has, between others, and a run that is longer than a window.
    for size in (3, 30, 300):
        atoms = [*words, " ", "日本", "テキスト", "ü", "ж", "한국", "𝄞😀", "a。", "(", "\n"]
        inputs.append("".join(rng.choices(atoms, k=size)).encode())
    inputs.append(("a" + "ü" * 4000 + "テ" * 3000 + "b").encode())
    for size in (1, 10, 60):
        runs = ("".join(rng.choices("日テ。한ü𝄞", k=rng.randint(1, size))) for _ in range(40))
        inputs.append("".join(rng.choice(["a", "▁", " ", "b "]) + run for run in runs).encode())
    return [*inputs, b"", ("ab" * 2000).encode(), (" " + "é" * 90).encode() * 3, b"\xe2\x96"]


def assert_unigram(vocabulary, inputs):
    """Returns whether the vocabulary has words that are remembered."""
    fast = FAST_UNIGRAM.load(vocabulary)
    assert_alike(fast, UNIGRAM.load(vocabulary), inputs)
    return by_words(vocabulary, fast.lexicon) is not None


@pytest.mark.parametrize("part", thorough_from(1, range(4)))
def test_unigram_by_words(part):
    taken = 0
    for number in range(10 * part, 10 * part + 10):
        rng = random.Random(f"by words {number}")
        if number % 3:
            vocabulary = worded(rng, byte_fallback=number % 5 == 0)
        else:
            vocabulary = random_vocabulary(rng, gguf=True)
        taken += assert_unigram(vocabulary, texts_for(vocabulary, rng))
    assert taken >= 4


def with_scores(**scores):
    texts = {text.replace("_", "▁"): score for text, score in scores.items()}
    pieces = [Piece(text, float(np.float32(x)), PieceType.NORMAL) for text, x in texts.items()]
    return replace(unigram(pieces), normalizer=Normalizer(None, None, True, True, True))


@pytest.mark.parametrize("ab", [-0.2, -0.3])
def test_a_word_is_certain_only_where_rounding_cannot_turn_it(ab):
    """``a b`` and ``ab`` are alike before that: which of them wins depends on the sum so far."""
    rng = random.Random(5)
    text = " ".join("ab" * rng.randint(1, 3) for _ in range(4000)).encode()
    assert assert_unigram(with_scores(a=-0.1, b=-0.1 if ab > -0.3 else -0.2, ab=ab, _=-0.7), [text])


def test_runs_of_characters_that_no_piece_has():
    """Of all lengths around a window, with what is no such character at each place of some."""
    texts = ["日" * size for size in range(70)] + ["a" + "日本" * size for size in range(40)]
    texts += ["日" * place + odd + "本" * (45 - place) for place in range(46) for odd in "é𝄞βa▁."]
    texts += [" " + one for one in texts]
    broken = (b"\xe6\x97", b"\xe6", b"\x97\xe6\x97\xa5", b"\xff\xe6\x97\xa5")
    inputs = [one.encode() for one in texts]
    inputs += [b"\xe6\x97\xa5" * size + end for size in (3, 20, 21) for end in broken]
    assert assert_unigram(with_scores(**{"_": -1.0, "a": -2.0, "é": -3.0, ".": -4.0}), inputs)


# SentencePiece BPE

VARIANTS = (variants.SENTENCEPIECE, variants.LLAMA_CPP)
LETTERS = "ab▁éß日本😀."


def usable(vocabulary, variant=variants.SENTENCEPIECE):
    """Whether bytes can stand for it."""
    lexicon = make_lexicon(vocabulary, variant)
    reading = partial(read_pieces, vocabulary, variant)
    return over_bytes(vocabulary, variant, lexicon, reading) is not None


def trained(seed, *, byte_fallback):
    """A vocabulary as training makes it: each piece of two before it, worse than these."""
    rng = random.Random(f"trained {seed}")
    texts = list(dict.fromkeys([*rng.sample(LETTERS, k=rng.randint(3, len(LETTERS))), "▁"]))
    alike = rng.choice([0.0, 0.0, 0.05])
    pieces = [Piece(one, -100.0 - i, PieceType.NORMAL) for i, one in enumerate(texts)]
    score = 0.0
    for _ in range(rng.randint(1, 120)):
        made = rng.choice(texts) + rng.choice(texts)
        if made not in texts and not set(made) <= {"▁"}:
            score -= rng.random() >= alike  # now and then it has the score of the one before
            texts.append(made)
            kind = PieceType.USER_DEFINED if rng.random() < 0.02 else PieceType.NORMAL
            pieces.append(Piece(made, score, kind))
    if rng.random() < 0.5:
        lengths = rng.sample(range(2, 20), k=rng.randint(2, 12))
        pieces += [Piece("▁" * n, -1e9, PieceType.NORMAL) for n in lengths]
    # A symbol with a space, of which the normalizer makes U+2581 as everywhere.
    if rng.random() < 0.2:
        pieces.append(Piece(f"{texts[0]} ", 0.0, PieceType.USER_DEFINED))
    # A character that only pieces have.
    if rng.random() < 0.3:
        pieces = [one for one in pieces if one.text != texts[0]]
    rng.shuffle(pieces)
    return spm(pieces, SPACED, byte_fallback=byte_fallback)


def spm_inputs(seed):
    """Texts of the letters, of runs, and of what is unknown."""
    rng = random.Random(f"inputs {seed}")
    spaced = LETTERS.replace("▁", " ")
    found = [b""]
    for _ in range(40):
        parts = [rng.choice([spaced, spaced[:3], "ü語😁\n\t"])[: rng.randint(1, 9)] for _ in "abc"]
        letters = "".join(parts)
        text = "".join(rng.choices(letters, k=rng.choice([1, 3, 12, 60])))
        if rng.random() < 0.4:
            text = text[:5] + rng.choice(letters) * rng.randint(1, 70) + text[5:]
        found.append(text.encode())
    return [*found, b"\xe2\x96", b"a\xffb ", b"  \xe2\x96\x81\xe2 a"]


@pytest.mark.parametrize("part", thorough_from(2, range(6)))
def test_spm_over_bytes(part):
    taken = Counter[str]()
    for seed in range(20 * part, 20 * part + 20):
        vocabulary = trained(seed, byte_fallback=bool(seed % 2))
        for variant in VARIANTS if seed % 2 else VARIANTS[:1]:
            plain = SpmEncoder(vocabulary, variant)
            fast = spm_encoder.FastEncoder(vocabulary, variant)
            taken[variant.name] += usable(vocabulary, variant)
            for mode in (TEXT, Mode(special="all"))[: 1 + (variant is variants.LLAMA_CPP)]:
                assert_alike(fast, plain, spm_inputs(seed), mode)
    # The rest has scores that are alike and may get in each other's way.
    assert min(taken.values()) >= 4, taken


@pytest.mark.parametrize(
    ("pieces", "fits"),
    [
        ({"ab": -1, "bc": -2}, True),
        # Both want the b, and the leftmost gets it.
        ({"bc": -1, "ab": -1}, False),
        # Of one score, but they never meet.
        ({"ab": -1, "cc": -1}, True),
        # One is a part of the other.
        ({"ab": -1, "abc": -1}, False),
        # Better than its part.
        ({"ab": -2, "abc": -1}, False),
        # Runs of spaces of the worst score.
        ({"▁▁": -9, "▁▁▁": -9, "▁a": -1}, True),
        # What takes a space is worse than the runs, or takes a run.
        ({"▁▁": -9, "▁▁▁": -9, "▁a": -10}, False),
        ({"▁▁": -9, "▁▁▁": -9, "▁▁a": -8}, False),
    ],
)
def test_for_which_vocabularies_bytes_can_stand(pieces, fits):
    every = dict.fromkeys("abc▁", -100.0) | pieces
    vocabulary = spm(
        [Piece(text, score, PieceType.NORMAL) for text, score in every.items()], SPACED
    )
    assert usable(vocabulary) is fits
    plain = SpmEncoder(vocabulary, variants.SENTENCEPIECE)
    fast = spm_encoder.FastEncoder(vocabulary, variants.SENTENCEPIECE)
    assert_alike(fast, plain, [b"abc", b"a   abcc  ab   ", b"abab"])


# WordPiece

ATOMS = [
    *"abcAé日한ΐ.,-_ \t\n\x00\u0301\u0327\ufdfa",
    "  ",
    "word",
    "B\u0301",
    "....",
    "longword" * 5,
]
BOTH = pytest.mark.parametrize("variant", (BERT, LLAMA_CPP), ids=lambda variant: variant.name)


def wordpiece(texts, rules):
    every = ["[UNK]", *texts]
    return make("test", every, {"[UNK]": 0}, rules, unk_id=0, file_format="test", source_path=None)


def assert_wordpiece(vocabulary, variant, inputs):
    fast = wordpiece_encoder.FastEncoder(vocabulary, variant)
    assert_alike(fast, WordPieceEncoder(vocabulary, variant), inputs)


@BOTH
@pytest.mark.parametrize("part", thorough_from(1, range(3)))
def test_wordpiece_by_words(part, variant):
    for seed in range(10 * part, 10 * part + 10):
        vocabulary, rng = drawn.draw("wordpiece", seed), random.Random(f"wordpiece {seed}")
        atoms = [*ATOMS, *(token.decode() for token in vocabulary.tokens if token)]
        made = ["".join(rng.choices(atoms, k=rng.choice([1, 4, 30, 900]))) for _ in range(30)]
        inputs = [b"", *(text.encode() for text in made), b"", b" "]
        assert_wordpiece(vocabulary, variant, inputs)
        if seed % 3 == 0:
            assert_wordpiece(vocabulary, variant, [one + rng.choice(BROKEN_UTF8) for one in inputs])


def test_a_word_of_as_many_ids_as_bytes():
    """A syllable of three bytes becomes three ids: there is room for no more of them to wait."""
    rules = WordPieceRules(strip_accents=True, lowercase=False)
    vocabulary = wordpiece(["a", "ᄒ", "##ᅡ", "##ᆫ", "##ᄒ"], rules)
    assert_wordpiece(vocabulary, BERT, ["한한 a한.한".encode() * 500, b"a" * 40])


# Real vocabularies

ENGINES = {
    "unigram": [(FAST_UNIGRAM.load, UNIGRAM.load)],
    "spm": [
        (partial(spm_encoder.FastEncoder, variant=one), partial(SpmEncoder, variant=one))
        for one in VARIANTS
    ],
    "wordpiece": [
        (
            partial(wordpiece_encoder.FastEncoder, variant=one),
            partial(WordPieceEncoder, variant=one),
        )
        for one in (BERT, LLAMA_CPP)
    ],
}
"""The fast one, and the plain one."""

REAL = {
    **{f"vocabs/{n}.model": "unigram" for n in ("t5_base", "albert_fixture", "sp_test_ja_model")},
    **dict.fromkeys(("mistral_v1", "mistral_v3"), "spm"),
    "gguf/ggml-vocab-bert-bge.gguf": "wordpiece",
}


@pytest.mark.data
@pytest.mark.thorough  # large vocabularies
@pytest.mark.parametrize("source", REAL)
def test_real_vocabularies_on_real_texts(source):
    vocabulary = resolve(str(data_path(source)) if "/" in source else source)
    inputs = [b"a" + b" " * n + b"b" for n in range(60)]
    inputs += [b"[INST]a[/INST] b</s>", "\u2581\u2581[INST]\u2581\n\n\n".encode()]
    for fast, plain in ENGINES[REAL[source]]:
        assert_alike(
            fast(vocabulary), plain(vocabulary), [*real_texts(vocabulary, 300_000), *inputs]
        )
    if REAL[source] == "spm":
        assert all(usable(vocabulary, variant) for variant in VARIANTS)
