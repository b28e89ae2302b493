"""Formats written from the plain model: the libraries encode with them as with the originals."""

import base64
import gzip
import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import sentencepiece
import tiktoken
from tokenizers import Tokenizer

from corpora.vocabularies import caches
from corpora.vocabularies.bundle import wire_vocabulary, write_bundle
from corpora.vocabularies.embedded import embedded
from corpora.vocabularies.model import (
    Algorithm,
    Alphabet,
    Merges,
    Normalizer,
    Piece,
    PieceType,
    VocabularyError,
)
from corpora.vocabularies.sentencepiece_model import from_bytes, to_model_proto
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json import from_document
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from impls.adapters.tokenizers import written_json
from impls.interface import Mode
from tests.breadth import thorough_from
from tests.data import data_path

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

SENTENCEPIECE = [
    *("mistral_v1", "mistral_v2", "mistral_v3", "mistral_v7", "mistral_v7m1"),
    *("unigram_nfkc", "unigram_bytes"),
]


def ids_of(tokenizer, text):
    found = tokenizer.encode(text, add_special_tokens=False).ids
    return found


def original_bytes(vocabulary):
    assert vocabulary.source_path
    content = Path(vocabulary.source_path).read_bytes()
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


@pytest.mark.parametrize("name", thorough_from(2, SENTENCEPIECE))
def test_a_rebuilt_proto_encodes_as_the_original(name):
    vocabulary = resolve(name)
    original = sentencepiece.SentencePieceProcessor(model_proto=original_bytes(vocabulary))
    content = to_model_proto(vocabulary)
    rebuilt = sentencepiece.SentencePieceProcessor(model_proto=content)
    for text in TEXTS:
        assert rebuilt.encode(text) == original.encode(text), text
    assert from_bytes(content, "again", "x").fingerprint == vocabulary.fingerprint


def test_suffix_mode_survives_being_rebuilt():
    vocabulary = resolve("unigram_bytes")
    normalizer = replace(vocabulary.normalizer, treat_whitespace_as_suffix=True)
    suffixed = replace(vocabulary, normalizer=normalizer)
    again = from_bytes(to_model_proto(suffixed), "again", "x")
    assert again.normalizer == normalizer
    with pytest.raises(VocabularyError, match="treat_whitespace_as_suffix"):
        to_tokenizer_json(suffixed, True)


def test_what_a_sentencepiece_model_cannot_say():
    with pytest.raises(VocabularyError, match="no SentencePiece pieces"):
        to_model_proto(resolve("toy_acbb"))
    merges_only = from_document(
        json.loads(to_tokenizer_json(resolve("toy_characters"), True)), "x", None
    )
    with pytest.raises(VocabularyError, match="no scores"):
        to_model_proto(merges_only)
    with pytest.raises(VocabularyError, match="NFC"):
        to_model_proto(replace(resolve("toy_unigram"), normalizer=Normalizer(form="NFC")))


def tiktoken_of(vocabulary):
    return tiktoken.Encoding(
        vocabulary.id,
        pat_str=vocabulary.pattern or r"[\s\S]+",
        mergeable_ranks={t: i for i, t in enumerate(vocabulary.tokens) if t is not None},
        special_tokens=dict(vocabulary.special_tokens),
    )


def agree_on_bytes(vocabulary, texts):
    """tokenizers and tiktoken, with pre-tokenization, without, and with special tokens."""
    encoding = tiktoken_of(vocabulary)
    whole = Tokenizer.from_str(to_tokenizer_json(vocabulary, False))
    split = Tokenizer.from_str(to_tokenizer_json(vocabulary, True))
    whole.encode_special_tokens = True
    for text in texts:
        special = encoding.encode(text, allowed_special="all")
        assert ids_of(split, text) == special, text
        one_piece = encoding._core_bpe.encode_single_piece(text.encode()) if text else []
        assert ids_of(whole, text) == one_piece, text
    split.encode_special_tokens = True
    for text in texts:
        assert ids_of(split, text) == encoding.encode_ordinary(text), text
        assert split.decode(encoding.encode_ordinary(text)) == text
    for text, token_id in vocabulary.special_tokens.items():
        assert split.token_to_id(text) == token_id


@pytest.mark.thorough  # a large vocabulary
def test_tekken_through_tokenizers_and_tiktoken():
    agree_on_bytes(resolve("tekken_240911"), [*TEXTS, "<s>", "[INST] x<s></s>", "<SPECIAL_20>"])


@pytest.mark.parametrize("name", ["toy_bytes", "toy_improper"])
def test_byte_level_toys_through_tokenizers_and_tiktoken(name):
    texts = TEXTS if name == "toy_bytes" else ["abcd", "abcd abcda", "bcd abcdabcd ", "ab cd"]
    agree_on_bytes(resolve(name), texts)


@pytest.mark.data
@pytest.mark.thorough  # a large vocabulary
def test_llama3_is_encoded_alike_though_improper():
    path = data_path("vocabs/llama3.tiktoken.gz")
    vocabulary = resolve(f"{path}#pattern=llama3")
    lost = [" việc", " hợp", " nhiều", ".:.:", "x việc của nhiều người"]
    agree_on_bytes(vocabulary, [*TEXTS, *lost, "<|eot_id|>"])


@pytest.mark.parametrize("name", ["mistral_v1", "mistral_v3", "unigram_bytes", "toy_characters"])
def test_sentencepiece_vocabularies_through_tokenizers(name):
    vocabulary = resolve(name)
    processor = sentencepiece.SentencePieceProcessor(model_proto=to_model_proto(vocabulary))
    tokenizer = Tokenizer.from_str(to_tokenizer_json(vocabulary, True))
    for text in TEXTS:
        assert ids_of(tokenizer, text) == processor.encode(text), text
    for text, token_id in vocabulary.special_tokens.items():
        assert ids_of(tokenizer, text) == [token_id]


def test_a_normalizing_unigram_through_tokenizers():
    vocabulary = resolve("unigram_nfkc")
    processor = sentencepiece.SentencePieceProcessor(model_proto=to_model_proto(vocabulary))
    tokenizer = Tokenizer.from_str(to_tokenizer_json(vocabulary, True))
    for text in ["", "lone word", "  a  b ", "Ａ １２ ﬁ", "дом 12,5"]:
        assert ids_of(tokenizer, text) == processor.encode(text), text
    assert tokenizer.token_to_id("<mask>") == vocabulary.special_tokens["<mask>"]


@pytest.mark.parametrize(
    # One of each kind: the other tekken and Mistral files differ in special tokens only.
    "name",
    thorough_from(
        2,
        sorted(set(embedded()) - {"tekken_240718", "mistral_v2", "mistral_v7", "mistral_v7m1"}),
    ),
)
def test_tokenizer_json_out_and_in_again(name):
    before = resolve(name)
    after = from_document(json.loads(to_tokenizer_json(before, True)), name, None)
    for field in (
        *("algorithm", "alphabet", "tokens", "splits", "normalizer", "special_tokens"),
        *("unk_id", "byte_fallback", "ignore_merges"),
    ):
        if before.algorithm is Algorithm.UNIGRAM or field != "alphabet" or before.pieces:
            assert getattr(after, field) == getattr(before, field), field
    assert [piece.type for piece in after.pieces] == [piece.type for piece in before.pieces]
    if before.algorithm is Algorithm.UNIGRAM:
        assert after.pieces == before.pieces
    if name != "toy_improper":  # all splits of its tokens are written, see below
        for side in ("left", "right", "merged"):
            pair = (getattr(after.merges, side), getattr(before.merges, side))
            assert pair[0].tolist() == pair[1].tolist()
    characters = bool(before.pieces) or before.algorithm is Algorithm.WORDPIECE
    assert after.alphabet is (Alphabet.CHARACTERS if characters else Alphabet.BYTES)
    assert after.wordpiece == before.wordpiece


def test_an_improper_vocabulary_is_written_with_all_splits():
    after = from_document(json.loads(to_tokenizer_json(resolve("toy_improper"), True)), "x", None)
    assert after.tokens[8] == b"abcd"
    assert after.merges.merged.tolist().count(8) == 1  # ab cd
    assert len(after.merges) == 5


def test_scores_that_json_cannot_say():
    vocabulary = resolve("toy_unigram")
    odd = tuple(
        replace(piece, score=math.nan) if piece.text == "ab" else piece
        for piece in vocabulary.pieces
    )
    with pytest.raises(VocabularyError, match="score nan"):
        to_tokenizer_json(replace(vocabulary, pieces=odd), True)


# The bundle


def test_the_bundle_of_a_bpe_vocabulary(tmp_path):
    path = tmp_path / "bundle.json"
    write_bundle(resolve("toy_acbb"), path)
    tokens = [
        base64.b64encode(t).decode() for t in (b"a", b"b", b"c", b"ac", b"bb", b"ab", b"acbb")
    ]
    assert json.loads(path.read_text()) == {
        "tokens": tokens,
        "merges": [[0, 2, 3], [1, 1, 4], [0, 1, 5], [3, 4, 6]],
        "pattern": None,
        "special_tokens": {},
        "byte_fallback": False,
        "ignore_merges": False,
    }


def test_the_bundle_of_a_unigram_vocabulary(tmp_path):
    path = tmp_path / "bundle.json"
    vocabulary = resolve("unigram_nfkc")
    write_bundle(vocabulary, path)
    bundle = json.loads(path.read_text())
    assert set(bundle) == {
        *("pieces", "unk_id", "charsmap", "add_dummy_prefix", "remove_extra_whitespaces"),
        *("escape_whitespaces", "treat_whitespace_as_suffix", "byte_fallback"),
    }
    assert base64.b64decode(bundle["charsmap"]) == vocabulary.normalizer.charsmap
    assert bundle["pieces"][0] == ["<unk>", 0.0, 2]
    assert bundle["unk_id"] == 0
    assert bundle["add_dummy_prefix"] is True


def test_the_vocabulary_of_a_load_request(tmp_path):
    assert wire_vocabulary(resolve("toy_acbb"), tmp_path / "b") == {
        "id": "toy_acbb",
        "algorithm": "bpe",
        "format": "toy",
        "path": None,
        "bundle": str(tmp_path / "b"),
    }
    wire = wire_vocabulary(resolve("tekken_240911"), "b")
    assert wire["format"] == "tekken"
    assert wire["path"].endswith("tekken_240911.json")


def test_what_is_kept_is_what_would_be_written(tmp_path, monkeypatch):
    monkeypatch.setenv(caches.TABLES, str(tmp_path))
    vocabulary = resolve("mistral_v3")
    for mode in (Mode(), Mode(pretokenize=False), Mode()):
        written = to_tokenizer_json(vocabulary, pretokenize=mode.pretokenize)
        assert written_json(vocabulary, mode) == written
    other = replace(vocabulary, byte_fallback=not vocabulary.byte_fallback, native=None)
    assert written_json(other, Mode()) == to_tokenizer_json(other, pretokenize=True) != written
    assert len(list(tmp_path.glob("*-tokenizer-json-*"))) == 3


@pytest.mark.parametrize(
    ("second", "written"),
    [(b"b", "a b"), (b" b", ["a", " b"]), (b"b c", ["a", "b c"])],
)
def test_merges_are_lines_where_no_token_has_a_space(second, written):
    """Releases of tokenizers before 0.20 read lines alone: no token with a space."""
    pieces = [
        Piece("<unk>", 0.0, PieceType.UNKNOWN),
        Piece("a", -1.0, PieceType.NORMAL),
        Piece(second.decode(), -2.0, PieceType.NORMAL),
        Piece("a" + second.decode(), -3.0, PieceType.NORMAL),
    ]
    vocabulary = replace(
        resolve("toy_characters"),
        tokens=tuple(None if p.type is PieceType.UNKNOWN else p.text.encode() for p in pieces),
        pieces=tuple(pieces),
        merges=Merges.of([(1, 2, 3)]),
        special_tokens={},
        unk_id=0,
        byte_fallback=False,
        native=None,
    )
    document = json.loads(to_tokenizer_json(vocabulary, True))
    assert document["model"]["merges"] == [written]
