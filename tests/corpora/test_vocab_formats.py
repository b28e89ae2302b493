"""Loaders: what a file says arrives in the plain model; what it cannot say is one line."""

import base64
import gzip
import json
import math
from typing import Any

import pytest

from corpora.vocabularies import tokenizer_json
from corpora.vocabularies.byte_alphabet import CHARACTERS, spell, unspell
from corpora.vocabularies.model import (
    Algorithm,
    Alphabet,
    Normalizer,
    PieceType,
    RankOrder,
    VocabularyError,
)
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.sources import load_path

Json = dict[str, Any]


def rank_file(*tokens):
    return b"".join(b"%s %d\n" % (base64.b64encode(t), i) for i, t in enumerate(tokens))


def refusal(call, *args, **options):
    """The one line of the VocabularyError that a call must raise."""
    with pytest.raises(VocabularyError) as caught:
        call(*args, **options)
    line = str(caught.value)
    assert "\n" not in line
    assert caught.value.mend
    return line


# tiktoken


def test_a_rank_file_with_gaps(tmp_path):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(b"YQ== 0\nYg== 2\nYWI= 5\n\n")
    vocabulary = load_path(path, pattern="gpt2")
    assert vocabulary.tokens == (b"a", None, b"b", None, None, b"ab")
    assert vocabulary.merges.merged.tolist() == [5]
    assert vocabulary.splits == PATTERNS["gpt2"]
    assert vocabulary.ignore_merges
    assert vocabulary.rank_order is RankOrder.IDS
    assert not vocabulary.special_tokens
    assert vocabulary.id == "x.tiktoken"
    assert vocabulary.source_path == str(path)


def test_a_gzipped_rank_file_of_any_name(tmp_path):
    path = tmp_path / "ranks.txt"
    path.write_bytes(gzip.compress(rank_file(b"a", b"aa")))
    assert load_path(path).tokens == (b"a", b"aa")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"YQ== 0\nYWI 1\n", "line 2: the token 'YWI' is not base64"),
        (b"YQ== 0\nYg==", "line 2: 1 fields"),
        (b"YQ== zero\n", "is not an integer"),
        (b"YQ== -1\n", "is not an integer"),
        (b"YQ== 1.5\n", "is not an integer"),
        (b"YQ== 99999999999999999999999\n", "out of range"),
        (b"YQ== 0\nYQ== 1\n", "line 2: the token stands in line 1 already"),
        (b"YQ== 0\nYg== 0\n", "line 2: the rank 0 stands twice"),
        (b"\n\n", "no tokens"),
        (b"", "empty"),
        (gzip.compress(rank_file(b"a", b"b", b"ab"), mtime=0)[:-12], "gzip"),
        (b"\x1f\x8bnonsense", "gzip"),
    ],
)
def test_damaged_rank_files(tmp_path, content, fault):
    path = tmp_path / "x.tiktoken"
    path.write_bytes(content)
    line = refusal(load_path, path)
    assert str(path) in line
    assert fault in line


def test_a_file_that_says_gz_and_is_not(tmp_path):
    path = tmp_path / "x.tiktoken.gz"
    path.write_bytes(b"YQ== 0\n")
    assert "not gzip" in refusal(load_path, path)


# tekken


def tekken_document(**changes):
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b"abab", b"unused"]
    entries = [
        {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(tokens)
    ]
    config = {
        "pattern": ".+",
        "num_vocab_tokens": len(tokens),
        "default_vocab_size": 10 + 258,
        "default_num_special_tokens": 10,
        "version": "v3",
    }
    return {"config": config, "vocab": entries} | changes


def write(path, document):
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_tekken_puts_special_tokens_first(tmp_path):
    vocabulary = load_path(write(tmp_path / "tekken.json", tekken_document()))
    assert len(vocabulary) == 268
    assert vocabulary.tokens[:10] == (None,) * 10
    assert vocabulary.tokens[10] == b"\x00"
    assert vocabulary.tokens[-2:] == (b"ab", b"abab")
    assert vocabulary.special_tokens["<unk>"] == 0
    assert vocabulary.special_tokens["[TOOL_CALLS]"] == 9
    assert len(vocabulary.special_tokens) == 10
    assert vocabulary.splits == (".+",)


def test_tekken_fills_up_its_own_special_tokens(tmp_path):
    named = [{"rank": i, "token_str": text, "is_control": True} for i, text in enumerate("xyz")]
    document = tekken_document(special_tokens=named)
    vocabulary = load_path(write(tmp_path / "any.json", document))
    assert list(vocabulary.special_tokens.items())[:5] == [
        ("x", 0),
        ("y", 1),
        ("z", 2),
        ("<SPECIAL_3>", 3),
        ("<SPECIAL_4>", 4),
    ]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"config": None}, "no config"),
        ({"config": {"default_vocab_size": 10**6, "default_num_special_tokens": 1}}, "pattern"),
        ({"vocab": [{"rank": 1, "token_bytes": "AA=="}] * 300}, "vocab[0]"),
        ({"vocab": [{"rank": 0, "token_bytes": "A"}] * 300}, "vocab[0]"),
        ({"special_tokens": [{"rank": 99, "token_str": "x"}]}, "special_tokens"),
        ({"special_tokens": [{}]}, "special_tokens"),
    ],
)
def test_damaged_tekken(tmp_path, change, fault):
    path = write(tmp_path / "tekken.json", tekken_document(**change))
    assert fault in refusal(load_path, path)


# SentencePiece


def proto(model_type=1, **spec):
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.trainer_spec.model_type = model_type
    for text, score, kind in [
        ("<unk>", 0.0, 2),
        ("<s>", 0.0, 3),
        ("a", -1.0, 1),
        ("b", -2.0, 1),
        ("ab", -0.5, 1),
        ("<0x41>", 0.0, 6),
    ]:
        model.pieces.add(piece=text, score=score, type=kind)
    for name, value in spec.items():
        setattr(model.normalizer_spec, name, value)
    return model


def test_a_sentencepiece_model(tmp_path):
    path = tmp_path / "x.model.v3"
    path.write_bytes(proto(2, add_dummy_prefix=False, escape_whitespaces=True).SerializeToString())
    vocabulary = load_path(path)
    assert vocabulary.algorithm is Algorithm.BPE
    assert vocabulary.alphabet is Alphabet.CHARACTERS
    assert vocabulary.rank_order is RankOrder.SCORES
    assert vocabulary.tokens == (None, None, b"a", b"b", b"ab", b"A")
    assert [vocabulary.unk_id, dict(vocabulary.special_tokens)] == [0, {"<s>": 1}]
    assert vocabulary.merges.merged.tolist() == [4]
    assert vocabulary.normalizer == Normalizer(
        remove_extra_whitespaces=True, escape_whitespaces=True
    )


def test_a_score_that_is_not_a_number_loads(tmp_path):
    model = proto()
    model.pieces[3].score = math.nan
    path = tmp_path / "x.model"
    path.write_bytes(model.SerializeToString())
    assert math.isnan(load_path(path).pieces[3].score)


def test_a_model_of_words_is_for_its_readers(tmp_path):
    path = tmp_path / "x.model"
    path.write_bytes(proto(3).SerializeToString())
    vocabulary = load_path(path)
    assert vocabulary.algorithm is Algorithm.WORDLEVEL
    assert vocabulary.unexpressed == ("trainer_spec.model_type word",)


def test_a_rule_for_decoding_is_for_its_readers(tmp_path):
    model = proto()
    model.denormalizer_spec.precompiled_charsmap = b"some"
    path = tmp_path / "x.model"
    path.write_bytes(model.SerializeToString())
    assert load_path(path).unexpressed == ("denormalizer_spec.precompiled_charsmap",)


@pytest.mark.parametrize("longer", [True, False])
def test_a_model_of_characters_is_bpe_unless_it_has_longer_pieces(tmp_path, longer):
    model = proto(4)
    if not longer:
        model.pieces[4].type = 4  # user-defined: cut out before, as in BPE
    path = tmp_path / "x.model"
    path.write_bytes(model.SerializeToString())
    vocabulary = load_path(path)
    assert vocabulary.algorithm is Algorithm.BPE
    assert bool(vocabulary.unexpressed) == longer


def test_a_corrupt_model(tmp_path):
    path = tmp_path / "x.model"
    path.write_bytes(proto().SerializeToString()[:-3])
    assert "corrupt" in refusal(load_path, path)
    path.write_bytes(b"\x12\x00")
    assert "no pieces" in refusal(load_path, path)


def test_a_model_cut_between_two_pieces(tmp_path):
    whole = proto()
    whole.ClearField("trainer_spec")
    whole.ClearField("normalizer_spec")
    path = tmp_path / "x.model"
    path.write_bytes(whole.SerializeToString())
    assert "trainer_spec is missing" in refusal(load_path, path)


# tokenizer.json


def test_the_byte_alphabet():
    assert len(set(CHARACTERS)) == 256
    assert spell(b" a\n\x00\xad\xff") == "ĠaĊĀŃÿ"
    assert unspell("ĠaĊ") == b" a\n"
    assert unspell("日") is None
    assert unspell(" ") is None
    assert unspell("".join(CHARACTERS)) == bytes(range(256))


def bpe_document(**changes):
    """A small byte-level BPE; ``changes`` replace fields of the document, or of its model."""
    model = {
        "type": "BPE",
        "vocab": {"a": 0, "b": 1, "Ġ": 2, "ab": 3, "Ġab": 4, "<s>": 7},
        "merges": ["a b", "Ġ ab"],
    }
    document = {
        "added_tokens": [{"id": 7, "content": "<s>", "special": True, "lstrip": True}],
        "normalizer": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True},
        "model": model,
    }
    for name, value in changes.items():
        if name in document and name != "model":
            document[name] = value
        else:
            model[name] = value
    return document


def read(document):
    return tokenizer_json.from_document(document, "x", None)


def test_a_byte_level_file():
    vocabulary = read(bpe_document(normalizer={"type": "NFC"}, ignore_merges=True))
    assert vocabulary.tokens == (b"a", b"b", b" ", b"ab", b" ab", None, None, None)
    assert vocabulary.merges.merged.tolist() == [3, 4]
    assert vocabulary.rank_order is RankOrder.MERGES
    assert vocabulary.splits == PATTERNS["gpt2"]
    assert vocabulary.normalizer == Normalizer(form="NFC")
    assert vocabulary.special_tokens == {"<s>": 7}
    assert vocabulary.added_tokens[0].lstrip
    assert vocabulary.ignore_merges


def test_merges_as_pairs():
    pairs = read(bpe_document(merges=[["a", "b"], ["Ġ", "ab"]]))
    assert pairs.fingerprint == read(bpe_document()).fingerprint


def test_pre_tokenizers_of_several_steps():
    step = {"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "Isolated", "invert": False}
    literal = step | {"pattern": {"String": "a.b"}}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    digits = {"type": "Digits", "individual_digits": True}
    nested = {"type": "Sequence", "pretokenizers": [literal, digits]}
    sequence = {"type": "Sequence", "pretokenizers": [step, nested, byte_level]}
    assert read(bpe_document(pre_tokenizer=sequence)).splits == ("x+", r"a\.b", r"\p{N}")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"type": "Letters"}, "model.type is 'Letters'"),
        ({"dropout": 1.1}, "model.dropout"),
        ({"merges": ["a c"]}, "model.merges[0]"),
        ({"merges": ["a b", "b b"]}, "model.merges[1]"),
        ({"merges": ["ab"]}, "is no pair"),
        ({"vocab": {"a": "0"}}, "the id of 'a'"),
        ({"vocab": None}, "model.vocab"),
        ({"added_tokens": [{"id": 7}]}, "added_tokens"),
    ],
)
def test_what_a_tokenizer_json_may_not_say(change, fault):
    line = refusal(read, bpe_document(**change))
    assert line.startswith("x: ")
    assert fault in line


@pytest.mark.parametrize(
    ("change", "step"),
    [
        ({"type": "WordLevel"}, "model WordLevel"),
        ({"end_of_word_suffix": "</w>"}, 'model.end_of_word_suffix "</w>"'),
        ({"continuing_subword_prefix": "##"}, 'model.continuing_subword_prefix "##"'),
        ({"vocab": {"日": 0}, "added_tokens": []}, "byte alphabet"),
        ({"normalizer": {"type": "Lowercase"}}, "normalizer Lowercase"),
        (
            {"normalizer": {"type": "Sequence", "normalizers": [{"type": "StripAccents"}]}},
            "normalizer.normalizers[0] StripAccents",
        ),
        (
            {"normalizer": {"type": "Replace", "pattern": {"String": "x"}, "content": "y"}},
            "normalizer Replace",
        ),
        ({"normalizer": {"type": "Prepend", "prepend": " "}}, "normalizer Prepend"),
        ({"normalizer": {"type": "Strip"}}, "normalizer Strip"),
        ({"pre_tokenizer": {"type": "BertPreTokenizer"}}, "pre_tokenizer BertPreTokenizer"),
        (
            {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True}},
            'pre_tokenizer ByteLevel {"add_prefix_space": true}',
        ),
        (
            {"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "x"}, "behavior": "Removed"}},
            "pre_tokenizer Split",
        ),
        (
            {
                "added_tokens": [
                    {"id": 6, "content": "x"},
                    {"id": 6, "content": "x", "special": True},
                ]
            },
            "twice",
        ),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [
                        {"type": "ByteLevel", "add_prefix_space": False},
                        {"type": "Digits", "individual_digits": True},
                    ],
                }
            },
            ', then pre_tokenizer.pretokenizers[1] Digits {"individual_digits": true}',
        ),
    ],
)
def test_what_the_plain_model_cannot_express(change, step):
    vocabulary = read(bpe_document(**change))
    assert [told for told in vocabulary.unexpressed if step in told]
    assert vocabulary.native is not None
    assert json.loads(vocabulary.native.content) == bpe_document(**change)
    assert vocabulary.can_encode(b"\0")
    assert vocabulary.normalizes


def test_what_the_plain_model_says_is_not_said_to_be_missing():
    documents = (bpe_document(), llama_document(), unigram_document())
    assert [read(document).unexpressed for document in documents] == [()] * len(documents)


@pytest.mark.parametrize("content", [b"{", b"[]", b"null", b"\xff\xfe", b"{}", b'{"model": 1}'])
def test_damaged_json(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    assert str(path) in refusal(load_path, path)


def llama_document():
    return {
        "added_tokens": [{"id": 1, "content": "<s>", "special": True}],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            ],
        },
        "pre_tokenizer": None,
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": {"<unk>": 0, "<s>": 1, "<0x41>": 2, "▁": 3, "a": 4, "▁a": 5},
            "merges": ["▁ a"],
        },
    }


def test_a_character_level_file_with_byte_fallback():
    vocabulary = read(llama_document())
    assert vocabulary.alphabet is Alphabet.CHARACTERS
    assert vocabulary.byte_fallback
    assert vocabulary.tokens == (None, None, b"A", "▁".encode(), b"a", "▁a".encode())
    assert [piece.type for piece in vocabulary.pieces] == [
        PieceType.UNKNOWN,
        PieceType.CONTROL,
        PieceType.BYTE,
        *[PieceType.NORMAL] * 3,
    ]
    assert vocabulary.normalizer == Normalizer(add_dummy_prefix=True, escape_whitespaces=True)


def test_metaspace_does_not_say_what_prepend_and_replace_say():
    """It puts no space before a text that begins with one."""
    document = llama_document() | {
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Metaspace",
            "replacement": "▁",
            "prepend_scheme": "first",
            "split": False,
        },
    }
    assert read(document).unexpressed[0].startswith("pre_tokenizer Metaspace {")
    document["pre_tokenizer"]["split"] = True
    assert read(document).unexpressed[0].startswith("pre_tokenizer Metaspace {")


def test_unknown_characters_that_do_not_fuse():
    document = llama_document()
    document["model"] |= {"byte_fallback": False, "fuse_unk": False}
    assert read(document).unexpressed == ("model.fuse_unk false",)


def unigram_document(**model):
    return {
        "added_tokens": [
            {"id": 1, "content": "<s>", "special": True},
            {"id": 3, "content": "b", "special": False},
            {"id": 4, "content": "new", "special": True},
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Precompiled", "precompiled_charsmap": "AAAA"},
                {"type": "Strip", "strip_left": False, "strip_right": True},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": "▁"},
            ],
        },
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
        "model": {
            "type": "Unigram",
            "unk_id": 0,
            "vocab": [["<unk>", 0.0], ["<s>", 0], ["a", -1.5], ["b", -2.0]],
        }
        | model,
    }


def test_a_unigram_file():
    vocabulary = read(unigram_document())
    assert vocabulary.algorithm is Algorithm.UNIGRAM
    assert vocabulary.tokens == (None, None, b"a", b"b", None)
    assert [piece.type for piece in vocabulary.pieces] == [
        PieceType.UNKNOWN,
        PieceType.CONTROL,
        PieceType.NORMAL,
        PieceType.USER_DEFINED,
        PieceType.CONTROL,
    ]
    assert vocabulary.pieces[2].score == -1.5
    assert vocabulary.normalizer == Normalizer(
        charsmap=b"\0\0\0",
        add_dummy_prefix=True,
        remove_extra_whitespaces=True,
        escape_whitespaces=True,
    )


@pytest.mark.parametrize(
    ("model", "fault"),
    [
        ({"unk_id": 9}, "model.unk_id"),
        ({"vocab": {"a": 1}}, "model.vocab"),
        ({"vocab": 3}, "vocab"),
    ],
)
def test_damaged_unigram_files(model, fault):
    assert fault in refusal(read, unigram_document(**model))
