"""A user's own file: who reads its format is given it as it is, and nobody else has to guess."""

import json
from dataclasses import replace
from typing import Any

import pytest

from corpora.vocabularies.model import AddedToken, NativeFile
from corpora.vocabularies.patterns import PATTERNS
from corpora.vocabularies.remarks import remarks
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tokenizer_json import from_document
from corpora.vocabularies.tokenizer_json_out import given, to_tokenizer_json
from harness.core.comparisons import contracts_of, modes_of
from harness.core.participants import Participant
from harness.engine import selection
from impls import registry
from impls.adapters import llguidance, tokenizers
from impls.adapters.common import refusing_specials
from impls.adapters.vocabularies import json_content, without_specials
from impls.interface import Mode, Respells, Unsupported
from tests.breadth import thorough
from tests.doubles.command import python
from tests.doubles.installed import installed
from tests.properties.impls.pipeline_documents import added_token

Json = dict[str, Any]
TEXT = Mode()
SPECIAL = Mode(special="all")
SAMPLES = ("Hello  Wörld, it's\n\n 12345 <|end|>x", "É e\u0301 \u3000 日本 'LL\t", "")


def document(**changes):
    """A byte-level tokenizer.json with a special token and a post-processor that trims offsets."""
    made = json.loads(to_tokenizer_json(resolve("toy_bytes"), pretokenize=True))
    made["added_tokens"] = [added_token(len(made["model"]["vocab"]), "<|end|>", special=True)]
    made["post_processor"] = {**BYTE_LEVEL, "add_prefix_space": True}
    return {**made, **changes}


def participants(*names):
    for name in names:
        implementation = registry.resolve(name)
        yield Participant(name, name, implementation.about, implementation)


BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": True,
    "use_regex": True,
}
LOWERED = {"type": "Lowercase"}


TRUNCATION = {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}
PADDING = {
    "strategy": "BatchLongest", "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
    "pad_type_id": 0, "pad_token": "a",
}  # fmt: skip


@pytest.mark.parametrize(("field", "block"), [("truncation", TRUNCATION), ("padding", PADDING)])
def test_a_file_is_given_but_for_what_is_no_part_of_encoding(field, block):
    whole = from_document(document(), "whole", None)
    assert whole.native is not None
    assert given(whole) == whole.native.content
    cut = from_document(document(**{field: block}), "cut", None)
    assert json.loads(given(cut)) == document(**{field: None})
    bare = json.loads(given(whole, specials=False, post_processor=False))
    assert bare == document(added_tokens=[], post_processor=None)


def test_a_decoder_of_another_kind_is_replaced_where_the_rest_is_known():
    odd = document(decoder={"type": "Fuse"})
    assert json.loads(given(from_document(odd, "odd", None)))["decoder"]["type"] == "ByteLevel"
    odd["normalizer"] = LOWERED
    assert json.loads(given(from_document(odd, "odd", None)))["decoder"]["type"] == "Fuse"


def test_tokenizers_gets_the_file_with_its_own_steps():
    spelled = document(normalizer=LOWERED, pre_tokenizer=BYTE_LEVEL)
    vocabulary = from_document(spelled, "lowered", None)
    assert vocabulary.unexpressed == ("normalizer Lowercase",)
    implementation = registry.resolve("tokenizers")
    encoder = implementation.load(vocabulary)
    upper, lower = (encoder.encode(text, TEXT) for text in (b"ABBA", b"abba"))
    assert list(upper) == list(lower)
    assert json.loads(implementation.recipe(vocabulary, TEXT).artifact) == spelled


@pytest.mark.parametrize(
    "name", ["transformers", *map(thorough, ("kitoken", "gigatoken", "fastokens"))]
)
def test_others_who_read_the_file_agree_on_what_the_plain_model_lacks(name):
    """Who reads the file encodes as its reference does, or refuses it as ``Unsupported``.

    The library tokie is left out: its version 0.1.4 reads this file and encodes it otherwise.
    """
    vocabulary = from_document(document(normalizer=LOWERED), "lowered", None)
    reference = registry.resolve("tokenizers").load(vocabulary)
    implementation = installed(name)
    for mode in (TEXT, SPECIAL):
        if implementation.supports(vocabulary, mode) is not None:
            continue
        try:
            encoder = implementation.load(vocabulary)
        except Unsupported as refused:
            assert name in str(refused)
            continue
        for text in SAMPLES:
            ids = [int(token_id) for token_id in encoder.encode(text.encode(), mode)]
            assert ids == list(reference.encode(text.encode(), mode)), (mode, text)


def test_only_who_reads_the_file_takes_part_where_the_plain_model_falls_short():
    members = list(
        participants("tokenizers", "tiktoken", "bpe.heap", "llguidance", "sentencepiece")
    )
    vocabulary = from_document(document(normalizer=LOWERED), "lowered", None)
    assert modes_of(vocabulary) == [TEXT, SPECIAL]
    for contract in contracts_of(vocabulary, members, frozenset(), proper=True):
        assert contract.names == ["tokenizers"]
        assert len(contract.excluded) == len(members) - 1
        assert all("cannot express" in why for why in contract.excluded.values())
    [line] = remarks(vocabulary)
    assert "normalizer Lowercase" in line
    whole = from_document(document(), "whole", None)
    assert "bpe.heap" in contracts_of(whole, members, frozenset(), proper=True)[0].names
    assert remarks(whole) == []


def test_libraries_that_read_a_file_join_a_run_that_would_compare_nothing_else():
    vocabulary = from_document(document(normalizer=LOWERED), "lowered", None)
    assert {"transformers", "kitoken", "tokie"} <= set(selection.readers([vocabulary]))
    assert selection.readers([from_document(document(), "whole", None), resolve("toy_bytes")]) == []


PLAIN_INSTALL = """
import importlib, sys
from importlib import metadata
from impls import registry, roster
from impls.adapters import common

class Absent(dict):
    def __missing__(self, name): raise metadata.PackageNotFoundError(name)

BROUGHT = {"tiktoken", "tokenizers", "sentencepiece", "mistral-common", "llguidance"}
real = metadata.version
metadata.version = lambda name: real(name) if name in BROUGHT else Absent()[name]
for target in roster.field().values():
    library = getattr(importlib.import_module(target.partition(":")[0]), "LIBRARY", None)
    if library is not None:
        sys.modules[library.module] = None  # whoever imports it now gets an ImportError

from corpora.vocabularies.sources import resolve
from harness.cli.commands.list import rows
from harness.engine import selection
from harness.studies.bench.plan import participants

vocabulary = resolve(sys.argv[1])
assert vocabulary.unexpressed
joining = selection.readers([vocabulary])
present, missing = selection.participants([], joining)
print(joining, "tokenizers" in {one.name for one in present}, set(roster.field()) & set(missing))
print(len(rows("impls")), len(participants([])[0]))
for name in roster.field():
    try:
        selection.participants([name])
    except registry.ImplementationError as error:
        assert "pip install 'tokgate[" in str(error) or "transformers" in name, error
        continue
    print(name, "is there")
"""


def test_libraries_that_are_not_installed_join_no_run(tmp_path):
    """After a plain ``pip install .`` none of the field is there."""
    path = tmp_path / "lowered.json"
    path.write_text(json.dumps(document(normalizer=LOWERED)))
    done = python("-c", PLAIN_INSTALL, str(path))
    assert not done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "[] True set()"
    assert not [line for line in lines if line.endswith("is there")]


def test_offsets_are_not_trimmed_by_a_post_processor():
    encoder = registry.resolve("tokenizers").load(from_document(document(), "whole", None))
    text = b"a  b  "
    ids, offsets = encoder.encode_with_offsets(text, TEXT)
    assert list(ids) == list(encoder.encode(text, TEXT))
    assert b"".join(text[start:end] for start, end in offsets) == text


@pytest.mark.parametrize("pattern", [None, "gpt2", "cl100k_base", "deepseek_v3"])
def test_another_spelling_of_the_file_is_the_same_tokenizer(pattern):
    split = {"type": "Split", "behavior": "Isolated", "invert": False}
    steps = [{**split, "pattern": {"Regex": one}} for one in PATTERNS[pattern or "none"]]
    byte_level = {**BYTE_LEVEL, "use_regex": pattern is None}
    whole = {"type": "Sequence", "pretokenizers": [*steps, byte_level]}
    vocabulary = from_document(document(pre_tokenizer=whole), "spelled", None)
    assert vocabulary.splits == PATTERNS[pattern or "gpt2"]
    encoder = registry.resolve("tokenizers").load(vocabulary)
    assert isinstance(encoder, Respells)
    again = encoder.respelled()
    assert again is not None
    for text in SAMPLES:
        for mode in (TEXT, SPECIAL):
            assert list(encoder.encode(text.encode(), mode)) == list(
                again.encode(text.encode(), mode)
            )
    unexpressed = from_document(document(normalizer=LOWERED), "lowered", None)
    assert registry.resolve("tokenizers").load(unexpressed).respelled() is None


def test_tiktoken_gets_the_pattern_as_it_is_spelled_at_its_origin():
    own = r"\p{N}{1,3}+|[^\p{N}]++"
    plain = replace(resolve("toy_bytes"), special_tokens={})
    vocabulary = replace(
        plain, splits=(r"\p{N}{1,3}|[^\p{N}]+",), native=NativeFile(b"", pattern=own)
    )
    tiktoken = registry.resolve("tiktoken")
    assert repr(own) in tiktoken.recipe(vocabulary, TEXT).code
    encoder = tiktoken.load(vocabulary)
    assert isinstance(encoder, Respells)
    again = encoder.respelled()
    assert again is not None
    text = b"ab1234 567abba"
    assert list(encoder.encode(text, TEXT)) == list(again.encode(text, TEXT))
    assert tiktoken.load(plain).respelled() is None


def test_a_sentencepiece_model_is_given_byte_by_byte():
    vocabulary = resolve("unigram_bytes")
    assert vocabulary.native is not None
    implementation = registry.resolve("sentencepiece")
    assert implementation.recipe(vocabulary, TEXT).artifact == vocabulary.native.content
    encoder = implementation.load(vocabulary)
    assert isinstance(encoder, Respells)
    again = encoder.respelled()
    assert again is not None
    assert list(again.encode(b"a test", TEXT)) == list(encoder.encode(b"a test", TEXT))


def test_an_added_token_that_a_written_file_cannot_say_is_not_decoded():
    plain = resolve("toy_bytes")
    spelled = AddedToken("\xfa", len(plain))
    tokens = [*plain.tokens, spelled.text.encode()]
    added = (*plain.added_tokens, spelled)
    both = replace(plain, tokens=tuple(tokens), added_tokens=added)
    for one in (tokenizers.IMPLEMENTATION, llguidance.IMPLEMENTATION):
        assert "is spelled as token 250" in str(one.supports(both, TEXT))
    tokens[plain.ids[b"\xfa"]] = None
    vocabulary = replace(both, tokens=tuple(tokens))
    assert tokenizers.IMPLEMENTATION.supports(vocabulary, TEXT) is None
    encoder = tokenizers.IMPLEMENTATION.load(vocabulary)
    assert encoder.encode("a\xfa".encode(), Mode())[-1] == spelled.id
    assert encoder.decode(encoder.encode(b"a", Mode())) == b"a"
    for decode in (encoder.decode, encoder.decode_without_specials, encoder.decode_stream):
        with pytest.raises(Unsupported, match="added token"):
            decode([spelled.id])


def test_llguidance_is_not_asked_for_special_tokens_as_ordinary_text():
    vocabulary = from_document(document(normalizer={"type": "NFKC"}), "file", None)
    encoder = llguidance.IMPLEMENTATION.load(vocabulary)
    reference = tokenizers.IMPLEMENTATION.load(vocabulary)
    assert not llguidance._reads_ranks(vocabulary)
    assert encoder.encode(b"<|en|>", TEXT) == reference.encode(b"<|en|>", TEXT)
    assert encoder.encode(b"<|end|>", SPECIAL) == reference.encode(b"<|end|>", SPECIAL)
    with pytest.raises(Unsupported, match="finds special tokens in any text"):
        encoder.encode(b"a<|end|>", TEXT)


def test_where_special_tokens_show_after_normalization_any_text_may_have_one():
    changed = document(normalizer={"type": "NFKC"})
    changed["added_tokens"][0]["normalized"] = True
    vocabulary = from_document(changed, "file", None)
    with pytest.raises(Unsupported, match="finds special tokens in any text"):
        refusing_specials(vocabulary)("\uff1c|end|\uff1e".encode())
    refusing_specials(from_document(document(), "file", None))(b"any other text")


def test_a_vocabulary_without_its_special_tokens_has_none_among_the_added():
    plain = resolve("toy_bytes")
    special = AddedToken("<|end|>", len(plain), special=True)
    whole = replace(plain, special_tokens={special.text: special.id}, added_tokens=(special,))
    assert without_specials(whole).added_tokens == ()
    assert b"<|end|>" not in json_content(whole, TEXT)
    assert b"<|end|>" in json_content(whole, SPECIAL)
