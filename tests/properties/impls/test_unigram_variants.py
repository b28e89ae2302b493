"""Each variant against its engine, against brute force, and its tables against each other."""

import math
import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import regex

from corpora.generators.material import is_text
from corpora.vocabularies.model import Normalizer, Piece, PieceType, VocabularyError
from corpora.vocabularies.sources import resolve
from impls.adapters.sentencepiece import IMPLEMENTATION as SENTENCEPIECE
from impls.adapters.tokenizers import IMPLEMENTATION as TOKENIZERS
from impls.interface import Mode, Unsupported
from impls.pretokenize.unicode_version import all_code_points_as_of_unicode_16
from impls.spm.encoder import SENTENCEPIECE as SPM
from impls.unigram import encoder as unigrams
from impls.unigram import variants
from impls.unigram.charsmap import load_charsmap
from impls.unigram.graphemes import cluster_ends
from impls.unigram.lexicon import parsed
from impls.unigram.viterbi import best_paths
from tests.data import data_path
from tests.doubles.installed import installed
from tests.properties.impls.spm_definition import spm
from tests.properties.impls.test_unigram_normalizer import charsmap_of
from tests.properties.impls.unigram_vocabularies import (
    random_inputs,
    random_vocabulary,
    unigram,
)

TEXT = Mode()
EVERY = {
    one.variant.name: one
    for one in (
        unigrams.SENTENCEPIECE,
        unigrams.LLAMA_CPP,
        unigrams.HUGGING_FACE,
        unigrams.SENTENCEPIECE_0_2_1,
        unigrams.LLAMA_CPP_FLOAT,
    )
}


def batch(encoder, inputs):
    ends = np.cumsum([len(data) for data in inputs])
    ids, id_ends = encoder.encode_batch(b"".join(inputs), ends, TEXT)
    return [part.tolist() for part in np.split(ids, id_ends[:-1])]


def engines(vocabulary, gguf):
    """Our implementation, the engine, and whether it takes text only."""
    yield unigrams.SENTENCEPIECE, SENTENCEPIECE, False
    yield unigrams.HUGGING_FACE, TOKENIZERS, True
    if gguf:
        yield unigrams.LLAMA_CPP, installed("impls.adapters.llama_cpp:AS_BYTES"), False


def assert_as_engines(seed, vocabularies, cases):
    compared = 0
    for number in range(vocabularies):
        rng = random.Random(f"{seed}/{number}")
        gguf = number % 2 == 0
        vocabulary = random_vocabulary(rng, gguf=gguf)
        inputs = random_inputs(vocabulary, rng, cases)
        for ours, engine, text_only in engines(vocabulary, gguf):
            if ours.supports(vocabulary, TEXT) is not None:
                continue
            taken = [data for data in inputs if is_text(data)] if text_only else inputs
            reference, encoder = engine.load(vocabulary), ours.load(vocabulary)
            for data, ids in zip(taken, batch(encoder, taken), strict=True):
                wanted = list(reference.encode(data, TEXT))
                assert ids == wanted, (ours.variant.name, number, data, vocabulary.normalizer)
                drawn = rng.choices(range(len(vocabulary)), k=rng.randrange(6))
                for chosen in (ids, drawn):
                    assert encoder.decode(chosen) == reference.decode(chosen), chosen
                compared += 1
            for data in [data for data in taken if is_text(data) and len(data) < 200][:15]:
                steps = {step.name: step.value for step in ours.steps(vocabulary, data, TEXT)}
                assert steps["ids"] == " ".join(map(str, encoder.encode(data, TEXT))), data
    return compared


def test_random_vocabularies_as_their_engines():
    assert assert_as_engines("few", 16, 60) > 2000


def test_a_symbol_of_one_byte_hides_no_longer_one():
    symbols = [Piece(text, 0.0, PieceType.USER_DEFINED) for text in ("aﬁ", "a")]
    charsmap = resolve("unigram_nfkc").normalizer.charsmap
    vocabulary = unigram([*symbols, Piece("x", -1.0, PieceType.NORMAL)], Normalizer(charsmap))
    data = "xaﬁ".encode()
    ids = unigrams.SENTENCEPIECE.load(vocabulary).encode(data, TEXT)
    assert list(ids) == list(SENTENCEPIECE.load(vocabulary).encode(data, TEXT)) == [3, 1]


def test_the_first_byte_of_a_symbol_passes_wherever_it_stands():
    """A symbol begins with the first byte of 本, which is behind a character that passes."""
    vocabulary = resolve("unigram_nfkc")
    reference, ours = (
        installed("impls.adapters.llama_cpp:AS_BYTES").load(vocabulary),
        unigrams.LLAMA_CPP.load(vocabulary),
    )
    for text in ("a롸本", "a本", "a日本本", "本本 롸롸時本"):
        assert ours.encode(text.encode(), TEXT) == list(reference.encode(text.encode(), TEXT)), text


def sums(variant, scores, unknown):
    """The sum of one segmentation, in the variant's arithmetic."""
    kind = np.dtype(variant.sums).type
    total = kind(0)
    for score in scores:
        term = unknown if score is None else np.dtype(variant.scores).type(score)
        total = kind(total + term)
    return float(total)


def path_of(vocabulary, variant, data):
    """The scores along the best path of a text that is one segment, None for unknown characters."""
    encoder = unigrams.UnigramEncoder(vocabulary, variant)
    text, segments, _ = encoder.segments(data, np.array([len(data)]))
    assert len(segments) == 1
    starts, pieces = best_paths(encoder.lexicon, text)
    scores, end = [], len(text)
    while end > 0:
        scores.append(encoder.lexicon.scores[pieces[end]] if pieces[end] >= 0 else None)
        end = starts[end]
    return scores[::-1]


def segmentations(text, scores):
    """Every way to cut a text into pieces, and into characters where none is one."""
    if not text:
        yield []
    for end in range(1, len(text) + 1):
        part = text[:end]
        if part in scores:
            yield from ([scores[part], *rest] for rest in segmentations(text[end:], scores))
        elif end == 1:
            yield from ([None, *rest] for rest in segmentations(text[end:], scores))


@pytest.mark.parametrize("name", EVERY)
def test_the_sum_is_the_best_of_all_segmentations(name):
    variant = EVERY[name].variant
    for number in range(60):
        rng = random.Random(f"brute/{number}")
        # Quarters: every sum is exact in every arithmetic, so the best is one number.
        drawn = {"".join(rng.choices("abc", k=rng.randint(1, 4))) for _ in range(8)}
        pieces = [Piece(t, -rng.randrange(1, 40) / 4, PieceType.NORMAL) for t in sorted(drawn)]
        vocabulary = unigram([*pieces, Piece("zz", 0.0, PieceType.NORMAL)])
        if variant.normalization is variants.Normalization.LLAMA_CPP:
            vocabulary = replace(vocabulary, normalizer=Normalizer(escape_whitespaces=True))
        least = min(0.0, *(p.score for p in vocabulary.pieces)) - 10
        scores = {piece.text: piece.score for piece in pieces}
        text = "".join(rng.choices("abcd", k=rng.randint(1, 9)))
        unknown = np.dtype(variant.unknown).type(least)
        best = max(sums(variant, one, unknown) for one in segmentations(text, scores))
        found = path_of(vocabulary, variant, text.encode())
        assert sums(variant, found, unknown) == best


def normal(text, score):
    return Piece(text, score, PieceType.NORMAL)


def ids_of(name, vocabulary, data):
    return EVERY[name].load(vocabulary).encode(data, TEXT)


@pytest.mark.data
@pytest.mark.thorough  # many vocabularies
def test_ties_by_rounding_differ_between_versions():
    t5 = resolve(str(data_path("vocabs/t5_base.model")))
    runs = [letter * size for letter in (b"g", b"-", b".", b"a") for size in range(9, 120, 4)]
    made = {name: batch(one.load(t5), runs) for name, one in EVERY.items()}

    assert made["unigram.sentencepiece"] != made["unigram.sentencepiece-0.2.1"]
    assert made["unigram.llama-cpp"] != made["unigram.llama-cpp-float"]
    assert made["unigram.llama-cpp"] != made["unigram.huggingface"]


@pytest.mark.data
@pytest.mark.thorough  # a large vocabulary
def test_the_founding_example_of_t5():
    t5 = resolve(str(data_path("vocabs/t5_base.model")))
    for implementation in EVERY.values():
        assert implementation.load(t5).encode(b"What is LoRA?", TEXT) == [363, 19, 1815, 4763, 58]


CHARSMAP = resolve("unigram_nfkc").normalizer.charsmap


@pytest.mark.parametrize("size", [1, 4, 5, 100, 1024, 5000])
def test_a_charsmap_cut_short_is_refused(size):
    with pytest.raises(VocabularyError, match="charsmap"):
        load_charsmap("test", CHARSMAP[:size])


@pytest.mark.parametrize("seed", range(60))
def test_a_corrupt_charsmap_is_refused_or_read_within_bounds(seed):
    rng = random.Random(seed)
    size = int.from_bytes(CHARSMAP[:4], "little")
    blob = bytearray(CHARSMAP)
    for _ in range(rng.choice((1, 5, 200))):
        blob[rng.randrange(4, 4 + size)] = rng.randrange(256)
    if seed % 3 == 0:
        blob = blob[: 4 + size + rng.randrange(1, 300)]
    try:
        charsmap = load_charsmap("test", bytes(blob))
    except VocabularyError as error:
        assert "charsmap" in str(error)
        return
    # Interpreted, a read outside an array is an error.
    from impls.unigram.charsmap import rule

    walk = getattr(rule, "py_func", rule)
    for _ in range(30):
        data = np.frombuffer(rng.randbytes(8), dtype=np.uint8)
        taken, value = walk(charsmap.units, data, 0, len(data), 32)
        assert taken == 0 or 0 <= value < len(charsmap.replacements)


@pytest.mark.parametrize(
    ("pieces", "fallback", "refusing", "fault"),
    [
        ([normal("a", -1.0), normal("a", -2.0)], False, {"sentencepiece", "llama.cpp"}, "both 'a'"),
        ([normal("a", math.nan)], False, {"sentencepiece", "llama.cpp", "tokenizers"}, "nan"),
        ([normal("a", math.inf)], False, {"sentencepiece", "tokenizers"}, "inf"),
        ([normal("", -1.0)], False, {"sentencepiece"}, "empty"),
        ([Piece("<0x41>", 0.0, PieceType.BYTE)], False, {"sentencepiece"}, "byte_fallback"),
    ],
)
def test_what_engines_refuse_is_one_line(pieces, fallback, refusing, fault):
    vocabulary = unigram(pieces, Normalizer(escape_whitespaces=True), fallback)
    for implementation in EVERY.values():
        old = implementation is unigrams.SENTENCEPIECE_0_2_1 and fault == "inf"
        if implementation.variant.decoding in refusing and not old:
            with pytest.raises(VocabularyError, match=fault):
                implementation.load(vocabulary)
        else:
            implementation.load(vocabulary)


@pytest.mark.parametrize(
    "make, ours", [(unigram, unigrams.SENTENCEPIECE), (spm, SPM)], ids=["unigram", "bpe"]
)
def test_what_sentencepiece_has_limits_for_and_passes_over(make, ours):
    """More symbols at one place than it has room for, more rules, and places of removed pieces."""
    holes = [Piece("\0", score, PieceType.UNUSED) for score in (0.0, -1.0)]
    nested = [Piece("A" * i, 0.0, PieceType.USER_DEFINED) for i in range(1, 65)]
    nested.append(Piece("A" * 64 + "½", 0.0, PieceType.USER_DEFINED))
    pieces = [normal(text, -1.0) for text in ("1", "2", "a", "x", "xx", "\u2044")]
    rules = charsmap_of([b"a" * i for i in range(1, 41)])
    for charsmap, size in ((CHARSMAP, 64), (CHARSMAP, 70), (CHARSMAP, 130), (rules, 40)):
        vocabulary = make([*holes, *nested, *pieces], Normalizer(charsmap=charsmap))
        engine, encoder = SENTENCEPIECE.load(vocabulary), ours.load(vocabulary)
        for text in ("A" * size + "½", "a" * (size - 8), "a" * size, "a\0\0x"):
            wanted = list(engine.encode(text.encode(), TEXT))
            assert encoder.encode(text.encode(), TEXT) == wanted, (size, text)


def test_a_reserved_piece_may_share_its_text():
    reserved = [Piece("<s>", 0.0, PieceType.CONTROL), Piece("q", 0.0, PieceType.CONTROL)]
    pieces = [*reserved, normal("q", -1.0), normal("<0x41>", -0.5), normal("<s>", -2.0)]
    for fallback in (False, True):
        vocabulary = unigram(pieces, Normalizer(), fallback)
        engine, ours = SENTENCEPIECE.load(vocabulary), unigrams.SENTENCEPIECE.load(vocabulary)
        for text in (b"q", b"q<s>q", b"<0x41>AqA", b"A"):
            assert ours.encode(text, TEXT) == list(engine.encode(text, TEXT)), text
        with pytest.raises(VocabularyError, match="both 'q'"):
            unigrams.LLAMA_CPP.load(replace(vocabulary, byte_fallback=False))


def test_sums_that_overflow_as_sentencepiece():
    """A sum that is brought back is 0 then, though infinity less infinity is no number."""
    scores = [-3e38, 3e38, 2e38, -1.5e38, -5.0, -1.0]
    for number in range(30):
        rng = random.Random(f"overflow/{number}")
        drawn = sorted({"".join(rng.choices("abc", k=rng.randint(1, 4))) for _ in range(12)})
        pieces = [normal(text, float(np.float32(rng.choice(scores)))) for text in drawn]
        vocabulary = unigram(pieces, Normalizer())
        engine, ours = SENTENCEPIECE.load(vocabulary), unigrams.SENTENCEPIECE.load(vocabulary)
        inputs = ["".join(rng.choices("abcd", k=rng.randrange(13))).encode() for _ in range(60)]
        for data, ids in zip(inputs, batch(ours, inputs), strict=True):
            assert ids == list(engine.encode(data, TEXT)), (pieces, data)


def test_byte_fallback_without_byte_pieces_is_refused():
    vocabulary = replace(unigram([normal("a", -1.0)]), byte_fallback=True)

    with pytest.raises(VocabularyError, match="0 of 256"):
        unigrams.SENTENCEPIECE.load(vocabulary)
    assert ids_of("unigram.huggingface", vocabulary, b"b") == [0]


def clusters(text):
    data = text.encode()
    ends = cluster_ends(data, np.array([len(data)])).tolist()
    return [data[a:b].decode() for a, b in pairwise([0, *ends])]


def test_graphemes_are_those_of_the_regex_package():
    rng = random.Random(4)
    # ``regex`` joins a linker and a consonant without a consonant before them, which the annex
    # and tokenizers do not: linkers only after one.
    kinds = regex.compile(r"[^\p{GCB=Other}\p{InCB=Linker}]|[\p{InCB=Consonant}\p{ExtPict}]")
    marks = kinds.findall(all_code_points_as_of_unicode_16())
    marks = [mark for mark in marks if not "\ud800" <= mark <= "\udfff"]
    plain = ["a", "क्त", "क", "\u0301", "\u200d", "👩", "🇫", "\r", "\n", "한", "ᄒ"]
    for _ in range(3000):
        few = [rng.choice(marks), rng.choice(marks), rng.choice(plain)]
        text = "".join(rng.choices(few, k=rng.randint(1, 8)))
        assert clusters(text) == regex.findall(r"\X", text)


def test_graphemes_where_the_regex_package_differs():
    assert clusters("\u094dक") == ["\u094d", "क"]  # no consonant before the linker
    assert clusters("a\u1ae0") == ["a\u1ae0"] != clusters("a\u1adf")  # a mark of Unicode 17
    assert clusters("🇫" * 50_001) == ["🇫🇫"] * 25_000 + ["🇫"]
    assert clusters("ab\r\nc") == ["a", "b", "\r\n", "c"]


def test_scores_are_read_as_serde_json_reads_them():
    import json

    from tokenizers import Tokenizer

    from impls.adapters.tokenizers import tokenizer_json

    vocabulary = resolve("unigram_nfkc")
    there = json.loads(Tokenizer.from_str(tokenizer_json(vocabulary, TEXT)).to_str())
    read = [score for _, score in there["model"]["vocab"]]

    assert [parsed(repr(piece.score)) for piece in vocabulary.pieces] == read
    assert read != [piece.score for piece in vocabulary.pieces]


def test_text_only_variants_take_text_only():
    encoder = unigrams.HUGGING_FACE.load(resolve("toy_unigram"))
    with pytest.raises(Unsupported):
        encoder.encode(b"\xff", TEXT)
    with pytest.raises(Unsupported):
        encoder.encode_batch("é".encode(), np.array([1, 2]), TEXT)
