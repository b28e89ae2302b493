"""The tokens that llama.cpp takes for control tokens by their text: ours are its own."""

import ctypes
import random

import pytest

from corpora.vocabularies.gguf_controls import ENDS, ROLES, UNLESS, controls_of
from corpora.vocabularies.model import PieceType
from corpora.vocabularies.sources import load_path
from impls.adapters import llama_cpp, mistral_common, sentencepiece
from impls.interface import Mode
from impls.spm.encoder import LLAMA_CPP, SENTENCEPIECE
from tests.properties.corpora.files import by_the_package

CANDIDATES = sorted(
    ENDS.union(*ROLES.values())
    | {"</s>", "<|im_end|>", "<|fim_prefix|>", "<s>", "<|user|>", "< EOT >", "</S>", "<pad>"}
)
CONTROL_BIT = 8
"""``LLAMA_TOKEN_ATTR_CONTROL``."""


def written(path, texts, kind, **more):
    tokens = ["<unk>", "<s>x", "</s>x", "▁", "a", *texts]
    fields = {
        "tokens": tokens,
        "scores": [0.0] * len(tokens),
        "token_type": [2, 3, 3, 1, 1, *[int(kind)] * len(texts)],
        "unknown_token_id": 0,
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    return by_the_package(path, "llama", {**fields, **more})


def test_they_are_those_of_llama_cpp(tmp_path):
    try:
        api = llama_cpp.api()
    except ImportError:
        pytest.skip("the extra `llama-cpp` is not installed")
    attribute = api._declare("llama_vocab_get_attr", ctypes.c_int, ctypes.c_void_p, ctypes.c_int32)
    rng = random.Random(4)
    several = [rng.sample(CANDIDATES, rng.randint(2, 9)) for _ in range(60)]
    exceptions = [[text, *others] for text, sets in UNLESS.items() for others in sets]
    for texts in [*([text] for text in CANDIDATES), *exceptions, *several]:
        path = written(tmp_path / "x.gguf", texts, PieceType.USER_DEFINED)
        vocab = api.load(str(path))
        ours = controls_of(texts)
        theirs = {t for i, t in enumerate(texts, 5) if attribute(vocab, i) & CONTROL_BIT}
        assert theirs - set(ours.unknown) == ours.texts


def test_a_token_that_is_named_by_its_id_is_not_looked_for():
    assert controls_of(["<PRE>"]).texts == {"<PRE>"}
    assert not controls_of(["<PRE>"], ["fim_pre"]).texts


def load(path, texts, kind, **more):
    return load_path(written(path, texts, kind, **more))


def test_a_user_defined_end_is_no_symbol_of_the_text(tmp_path):
    vocabulary = load(tmp_path / "x.gguf", ["</s>", "<|user|>"], PieceType.USER_DEFINED)
    assert [p.type for p in vocabulary.pieces[5:]] == [PieceType.CONTROL, PieceType.USER_DEFINED]
    assert vocabulary.special_tokens["</s>"] == 5


def test_what_only_llama_cpp_can_tell_is_left_to_it(tmp_path):
    vocabulary = load(tmp_path / "x.gguf", ["<PRE>", "<fim_prefix>"], PieceType.NORMAL)
    assert vocabulary.unexpressed == (
        'several tokens for one part of filling a gap ("<PRE>", "<fim_prefix>")',
    )


def test_byte_level_bpe_has_them_as_special_tokens(tmp_path):
    fields = {
        "pre": "gpt-2",
        "tokens": ["a", "b", "ab", "<|fim_prefix|>"],
        "token_type": [1, 1, 1, 4],
        "merges": ["a b"],
    }
    vocabulary = load_path(by_the_package(tmp_path / "x.gguf", "gpt2", fields))
    assert vocabulary.special_tokens == {"<|fim_prefix|>": 3}
    assert vocabulary.tokens[3] is None


def test_one_that_merges_build_is_what_text_yields_too(tmp_path):
    fields = {
        "pre": "gpt-2",
        "tokens": ["<eo", "s>", "<eos>"],
        "token_type": [1, 1, 1],
        "merges": ["<eo s>"],
    }
    vocabulary = load_path(by_the_package(tmp_path / "x.gguf", "gpt2", fields))
    assert not vocabulary.unexpressed
    assert vocabulary.special_tokens == {"<eos>": 2}
    assert vocabulary.tokens[2] == b"<eos>"


def test_several_unknown_pieces_are_no_failure_to_start(tmp_path):
    vocabulary = load(tmp_path / "x.gguf", ["[PAD5]", "[PAD6]"], PieceType.UNKNOWN)
    for one in (SENTENCEPIECE, sentencepiece.IMPLEMENTATION, mistral_common.IMPLEMENTATION):
        reason = one.supports(vocabulary, Mode())
        assert reason == "has 3 unknown pieces, and SentencePiece takes a model with exactly one"
    assert LLAMA_CPP.supports(vocabulary, Mode()) is None
