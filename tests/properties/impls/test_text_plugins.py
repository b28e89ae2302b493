"""Plug-ins that take text only, and those that always find special tokens."""

from __future__ import annotations

import pytest

from corpora.vocabularies import sources
from corpora.vocabularies.model import VocabularyError
from harness.testing import assert_conforms, breaches
from impls import registry
from impls.adapters import sentencepiece, tiktoken, tokenizers
from impls.interface import About, Capability, Mode
from impls.text_plugins import adapted
from tests.properties.impls.test_peers import ranked

TEXT, SPECIAL = Mode(), Mode(special="all")


class OfText:
    """Characters of text, and the special token by its name."""

    about = About("of-text", "1", capabilities=frozenset({Capability.DECODE}))
    text_only = True
    always_special = True
    native_formats = frozenset({"gguf"})

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        return self

    def encode(self, text, mode):
        assert isinstance(text, str)
        return [999] if text == "<|end|>" else [ord(one) for one in text]

    def decode(self, ids):
        return "".join(map(chr, ids))


def vocabulary():
    from dataclasses import replace

    return replace(ranked(300), special_tokens={"<|end|>": 999})


def test_who_says_nothing_is_left_as_it_is():
    assert adapted(tiktoken.IMPLEMENTATION) is tiktoken.IMPLEMENTATION
    assert not hasattr(adapted(OfText()).load(vocabulary()), "count")


PLUGIN = """
import tiktoken
from impls.interface import About, Capability
from corpora.vocabularies.model import VocabularyError

class Mine:
    about = About(name="mine", version="1", capabilities=frozenset({Capability.DECODE}))
    text_only = True

    def supports(self, vocabulary, mode):
        if vocabulary.pattern is None or not mode.pretokenize or mode.special != "none":
            return "plain text of ranks only"
        return None

    def load(self, vocabulary):
        lines = vocabulary.as_tiktoken().splitlines()
        import base64
        ranks = {base64.b64decode(token): int(i) for token, i in map(bytes.split, lines)}
        return Encoder(tiktoken.Encoding("x", pat_str=vocabulary.own_pattern,
                                         mergeable_ranks=ranks, special_tokens={}))

class Encoder:
    def __init__(self, inner): self.inner = inner
    def encode(self, text, mode): return self.inner.encode_to_numpy(text, disallowed_special=())
    def decode(self, ids): return self.inner.decode(ids)
"""


def test_a_plug_in_of_text_runs_by_its_path(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN)
    found = registry.resolve(f"{path}:Mine")
    model = ranked(300)
    encoder, trusted = found.load(model), tiktoken.IMPLEMENTATION.load(model)
    for data in (b"", b"abab c", "größer".encode()):
        assert list(encoder.encode(data, TEXT)) == list(trusted.encode(data, TEXT))


def test_the_conformance_test_takes_it():
    class Wrong(OfText):
        def encode(self, text, mode):
            return [7]

    with pytest.raises(AssertionError, match="round-trip"):
        assert_conforms(Wrong(), ["toy_bytes"])
    # It was asked text, so that it has an answer to be wrong.
    first = str(breaches(Wrong(), ["toy_bytes"])[0])
    assert first.endswith("7 ('\\x07') in of-text")


def test_a_vocabulary_in_the_formats_of_libraries():
    model = ranked(300)
    assert b'"BPE"' in model.as_tokenizer_json()
    assert model.as_tiktoken().splitlines()[0].endswith(b" 0")
    with pytest.raises(VocabularyError, match="no SentencePiece pieces"):
        model.as_sentencepiece()
    pieces = sources.resolve("mistral_v1")
    assert pieces.as_sentencepiece() == sentencepiece.model_proto(pieces)
    with pytest.raises(VocabularyError, match="not byte-level BPE"):
        pieces.as_tiktoken()
    made = tokenizers.LIBRARY.load().Tokenizer.from_str(pieces.as_tokenizer_json().decode())
    ids = made.encode("a b", add_special_tokens=False).ids
    assert ids == list(sentencepiece.IMPLEMENTATION.load(pieces).encode(b"a b", TEXT))
