"""Formats written from the plain model: they come back, and libraries encode as with the originals.

Vocabularies are drawn (``random:KIND:SEED``), toys, and one real one of each kind.
"""

import base64
import json
import math
from dataclasses import replace

import pytest
import sentencepiece
from tokenizers import Tokenizer

from corpora.vocabularies import caches, drawn, gguf_metadata
from corpora.vocabularies.bundle import wire_vocabulary, write_bundle
from corpora.vocabularies.gguf_file import pre_name, to_gguf, trouble, written
from corpora.vocabularies.model import (
    AddedToken,
    Merges,
    Normalizer,
    Piece,
    PieceType,
    RankOrder,
    VocabularyError,
    WordPieceRules,
)
from corpora.vocabularies.patterns import GGUF_IGNORE_MERGES, GGUF_PRE, PATTERNS
from corpora.vocabularies.sentencepiece_model import from_bytes, to_model_proto
from corpora.vocabularies.sources import load_path, resolve
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from impls.adapters.tokenizers import written_json
from impls.interface import Mode
from tests.breadth import thorough
from tests.data import data_path
from tests.properties.corpora.files import by_the_package, read

TEXTS = [
    "",
    " ",
    "Hello world",
    "  two  spaces   and\ttabs\n\n",
    "abacbb abab cab",
    "日本語のテキスト、ｶﾞ ﬁ Ａ① e\u0301",
    "1234567 3.14 100%",
    "<sep>barno 123 <|user|>🙂👩‍💻",
    "'LL don't ſ",
    "\u0000\u00ad\u200b\ufeff�",
]


def in_json(vocabulary):
    return read(json.loads(to_tokenizer_json(vocabulary, True)))


def in_model(vocabulary):
    return from_bytes(to_model_proto(vocabulary), "again", "x")


def in_gguf(vocabulary, folder):
    path = folder / "written.gguf"
    path.write_bytes(to_gguf(vocabulary))
    return load_path(path)


def ids_of(tokenizer, text):
    return tokenizer.encode(text, add_special_tokens=False).ids


# What is written comes back


@pytest.mark.parametrize("kind", drawn.KINDS)
def test_drawn_vocabularies_come_back(kind, tmp_path):
    """Through each format that can say them; the second time nothing changes any more."""
    came_back = 0
    for seed in range(40):
        vocabulary = drawn.draw(kind, seed)
        for write in (in_json, in_model, lambda one: in_gguf(one, tmp_path)):
            try:
                once = write(vocabulary)
            except VocabularyError as error:
                assert str(error).startswith(vocabulary.id)
                continue
            if once.unexpressed:
                continue
            came_back += 1
            # llama.cpp's WordPiece has one prefix; a .model has single precision.
            other_prefix = once.format == "gguf" and once.wordpiece != vocabulary.wordpiece
            assert other_prefix or once.tokens[: len(vocabulary)] == vocabulary.tokens
            assert {**once.special_tokens, **vocabulary.special_tokens} == once.special_tokens
            same = () if other_prefix else ("wordpiece",)
            for field in (*same, "algorithm", "alphabet", "unk_id"):
                assert getattr(once, field) == getattr(vocabulary, field), field
            for flag in ("lowercase", "strip_accents"):
                there, back = (getattr(one.wordpiece, flag, None) for one in (vocabulary, once))
                assert there == back, flag
            assert (once.splits, once.normalizer) == (vocabulary.splits, vocabulary.normalizer)
            if vocabulary.rank_order is not RankOrder.IDS:  # of these all splits may be written
                back, there = (dict.fromkeys(v.merges.triples()) for v in (once, vocabulary))
                assert [*back] == [*there]
            assert write(replace(once, native=None)).fingerprint == once.fingerprint
            if once.format != "tokenizer.json" and kind != "mutated":
                assert once.pieces == vocabulary.pieces
    assert came_back > 20


@pytest.mark.data
@pytest.mark.parametrize("name", [thorough("deepseek-coder"), "llama-spm", "bert-bge"])  # large
def test_llama_cpps_own_come_back(name, tmp_path):
    vocabulary = load_path(data_path(f"gguf/ggml-vocab-{name}.gguf"))
    assert in_gguf(vocabulary, tmp_path).fingerprint == vocabulary.fingerprint


def test_an_improper_vocabulary_is_written_with_all_splits(tmp_path):
    """tiktoken joins any neighbours that form a token, those of abcd among them."""
    improper = resolve("toy_improper")
    splits = replace(improper, splits=PATTERNS["llama3"])
    for after in (in_json(improper), in_gguf(splits, tmp_path)):
        made = [(after.tokens[a], after.tokens[b]) for a, b, _ in after.merges.triples()]
        pairs = [(b"b", b"c"), (b"a", b"b"), (b"c", b"d"), (b"ab", b"cd"), (b" ", b"a")]
        assert made == pairs
        assert after.ignore_merges


# Libraries encode with it as with the original


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        *((name, TEXTS) for name in ("unigram_bytes", "toy_characters")),
        *(thorough((name, TEXTS)) for name in ("mistral_v1", "mistral_v3")),
        ("unigram_nfkc", ["", "lone word", "  a  b ", "Ａ １２ ﬁ", "дом 12,5"]),
    ],
)
def test_sentencepiece_vocabularies_through_tokenizers(name, texts):
    vocabulary = resolve(name)
    processor = sentencepiece.SentencePieceProcessor(model_proto=to_model_proto(vocabulary))
    tokenizer = Tokenizer.from_str(to_tokenizer_json(vocabulary, True))
    for text in texts:
        assert ids_of(tokenizer, text) == processor.encode(text), text
    for text, token_id in vocabulary.special_tokens.items():
        assert ids_of(tokenizer, text) == [token_id]


# What a format cannot say


def test_what_a_format_cannot_say():
    suffix = replace(
        resolve("unigram_bytes"), normalizer=Normalizer(treat_whitespace_as_suffix=True)
    )
    assert in_model(suffix).normalizer == suffix.normalizer
    toy = resolve("toy_unigram")
    odd = [replace(piece, score=math.nan) if piece.text == "ab" else piece for piece in toy.pieces]
    for write, vocabulary, fault in (
        (in_json, suffix, "treat_whitespace_as_suffix"),
        (in_json, replace(toy, pieces=tuple(odd)), "score nan"),
        (in_model, resolve("toy_acbb"), "no SentencePiece pieces"),
        (in_model, in_json(resolve("toy_characters")), "no scores"),
        (in_model, replace(toy, normalizer=Normalizer(form="NFC")), "NFC"),
    ):
        with pytest.raises(VocabularyError, match=fault):
            write(vocabulary)


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("toy_bytes", {"splits": (r"\w",)}, "no name for its pre-tokenizer"),
        ("toy_bytes", {"merges": Merges.none()}, "needs merges"),
        ("toy_bytes", {"tokens": [b"a", b"a"]}, "two tokens have one text"),
        ("toy_bytes", {"special_tokens": {"<s>": 0, "</s>": 0}}, "share an id"),
        ("toy_unigram", {"unk_id": None}, "unknown piece"),
        ("toy_unigram", {"pieces": [Piece("a", 0.0, PieceType.NORMAL)] * 2}, "two pieces have"),
        ("toy_characters", {"rank_order": RankOrder.MERGES}, "no scores"),
        ("toy_wordpiece", {"unk_id": None}, "needs an unknown token"),
        ("toy_wordpiece", {"wordpiece": WordPieceRules(clean_text=False)}, "always cleans"),
        ("toy_wordpiece", {"wordpiece": WordPieceRules(handle_chinese_chars=False)}, "always"),
        ("toy_wordpiece", {"added_tokens": (AddedToken("x", 1),)}, "that are not special"),
        ("toy_wordpiece", {"tokens": [None] * 3 + [b"b", b"##\xe2\x96\x81b"]}, "one text"),
    ],
)
def test_what_gguf_cannot_say(name, change, fault):
    """Besides what drawn vocabularies have, which come back or are refused."""
    vocabulary = resolve(name)
    assert trouble(vocabulary) is None
    with pytest.raises(VocabularyError, match=fault):
        to_gguf(replace(vocabulary, **change))


# GGUF by the byte


@pytest.mark.parametrize("name", ["toy_bytes", "toy_unigram", "toy_characters", "toy_wordpiece"])
def test_the_bytes_are_those_of_the_package(name, tmp_path):
    vocabulary = resolve(name)
    package = by_the_package(tmp_path / "v.gguf", *written(vocabulary))
    assert to_gguf(vocabulary) == package.read_bytes()


def test_fields_of_each_kind_are_written_as_by_the_package(tmp_path):
    fields = {
        "yes": True, "no": False, "count": 2**32 - 1, "text": "Ġé\0", "bytes": b"\0\xff",
        "none": [], "nothing": b"", "texts": ["", "a", "日本"], "numbers": [0, -1, 2**31 - 1],
        "scores": [-1.5, 0.1, float("inf"), 1e-45],
    }  # fmt: skip
    package = by_the_package(tmp_path / "v.gguf", "gpt2", fields)
    assert gguf_metadata.write("gpt2", fields) == package.read_bytes()


@pytest.mark.parametrize("name", GGUF_PRE)
def test_pre_tokenizers_keep_their_meaning(name):
    whole, splits = name in GGUF_IGNORE_MERGES, PATTERNS[GGUF_PRE[name]]
    chosen = pre_name(replace(resolve("toy_bytes"), splits=splits, ignore_merges=whole))
    assert PATTERNS[GGUF_PRE[chosen]] == splits
    assert (chosen in GGUF_IGNORE_MERGES) == whole


# The bundle of the stdio protocol


def test_bundles(tmp_path):
    path = tmp_path / "bundle.json"
    write_bundle(resolve("toy_acbb"), path)
    tokens = (b"a", b"b", b"c", b"ac", b"bb", b"ab", b"acbb")
    assert json.loads(path.read_text()) == {
        "tokens": [base64.b64encode(token).decode() for token in tokens],
        "merges": [[0, 2, 3], [1, 1, 4], [0, 1, 5], [3, 4, 6]],
        "pattern": None,
        "special_tokens": {},
        "byte_fallback": False,
        "ignore_merges": False,
    }
    write_bundle(resolve("unigram_nfkc"), path)
    bundle = json.loads(path.read_text())
    assert base64.b64decode(bundle["charsmap"]) == resolve("unigram_nfkc").normalizer.charsmap
    assert bundle["pieces"][bundle["unk_id"]] == ["<unk>", 0.0, 2]
    assert bundle["remove_extra_whitespaces"] and not bundle["treat_whitespace_as_suffix"]
    wire = wire_vocabulary(resolve("toy_acbb"), path)
    assert wire == {
        **{"id": "toy_acbb", "algorithm": "bpe", "format": "toy"},
        **{"path": None, "bundle": str(path)},
    }


# Details of a tokenizer.json


def test_what_is_kept_is_what_would_be_written(tmp_path, monkeypatch):
    monkeypatch.setenv(caches.TABLES, str(tmp_path))
    vocabulary = resolve("mistral_v3")
    for mode in (Mode(), Mode(pretokenize=False), Mode()):
        made = to_tokenizer_json(vocabulary, pretokenize=mode.pretokenize)
        assert written_json(vocabulary, mode) == made
    other = replace(vocabulary, byte_fallback=not vocabulary.byte_fallback, native=None)
    assert written_json(other, Mode()) == to_tokenizer_json(other, pretokenize=True) != made
    assert len(list(tmp_path.glob("*-tokenizer-json-*"))) == 3


@pytest.mark.parametrize(
    ("second", "line"), [("b", "a b"), (" b", ["a", " b"]), ("b c", ["a", "b c"])]
)
def test_merges_are_lines_where_no_token_has_a_space(second, line):
    """Releases of tokenizers before 0.20 read lines alone: no token with a space."""
    texts = ["<unk>", "a", second, "a" + second]
    pieces = [Piece(text, -1.0, PieceType.NORMAL) for text in texts]
    vocabulary = replace(
        resolve("toy_characters"),
        tokens=tuple(text.encode() for text in texts),
        pieces=tuple(pieces),
        merges=Merges.of([(1, 2, 3)]),
        special_tokens={},
        byte_fallback=False,
    )
    assert json.loads(to_tokenizer_json(vocabulary, True))["model"]["merges"] == [line]
