"""Files that a library reads, though hardly anybody writes such: nobody is refused or accused."""

from __future__ import annotations

import io
import json
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import sentencepiece
import tokenizers

from corpora.vocabularies import sources
from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.tokenizer_json import from_document
from harness.checks import CHECKS
from harness.checks.specials import never_in_texts
from impls import registry
from impls.adapters import transformers
from impls.interface import Mode, Unsupported
from tests.harness.local import Local

if TYPE_CHECKING:
    pass

Json = dict[str, Any]

TEXT = Mode(pretokenize=True)

TEXTS = ["hello wide world", "a b", " two  spaces ", "<s w>", "x<s w>y", "snow \u2603", "\u00c4"]

WORDS = {"<unk>": 0, "hello": 1, "a": 2, "b": 3, "##b": 4, "<s>": 5}

BERT: Json = {
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
}

WORDPIECE: Json = {
    "type": "WordPiece",
    "unk_token": "<unk>",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": WORDS,
}

LEVEL: Json = {"type": "WordLevel", "vocab": WORDS, "unk_token": "<unk>"}

PIECES = [["<unk>", 0.0], ["\u2581", -3.0], ["a", -1.0], ["b", -1.5]]

FALLBACK: Json = {
    "type": "BPE",
    "vocab": {"<unk>": 0, **{f"<0x{byte:02X}>": 1 + byte for byte in range(256)}},
    "merges": [],
    "unk_token": "<unk>",
    "byte_fallback": True,
    "fuse_unk": True,
}

MARKED: Json = {
    "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
}


def added(token_id, content, **flags):
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": token_id, "content": content, **dict.fromkeys(names, False), **flags}


def vocabulary_of(model, *tokens, **steps):
    document = {"version": "1.0", "added_tokens": list(tokens), **steps, "model": model}
    tokenizers.Tokenizer.from_str(json.dumps(document))  # which reads it, or the test is of nothing
    return from_document(document, "odd.json", None)


def examined(vocabulary, check, *specs, mode=TEXT):
    local = Local(vocabulary, list(specs), mode)
    assert CHECKS[check].applies(local.contract)
    return local.examine(CHECKS[check], [text.encode() for text in TEXTS])


def trained(**options):
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*TEXTS, "plain words of a text"] * 3),
        model_writer=made,
        minloglevel=2,
        hard_vocab_limit=False,
        **options,
    )
    return made.getvalue()


@pytest.mark.parametrize("model", [WORDPIECE, LEVEL], ids=["WordPiece", "WordLevel"])
def test_a_model_without_its_type_is_told_by_its_fields(model):
    untyped = {name: value for name, value in model.items() if name != "type"}
    vocabulary = vocabulary_of(untyped, **BERT)

    assert vocabulary.algorithm == model["type"].lower()
    found = examined(vocabulary, "equivalence", "tokenizers", "pipeline.huggingface")
    assert not found.violations
    if model is LEVEL:
        assert found.exercised["pipeline.huggingface"] == len(TEXTS)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"type": "Unigram", "vocab": PIECES[1:], "unk_id": None}, "unk_id"),
        ({**LEVEL, "unk_token": "<no>"}, "UNK"),
        ({**WORDPIECE, "unk_token": "<no>"}, "UNK"),
        ({"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": "<no>"}, "<no>"),
    ],
    ids=["Unigram", "WordLevel", "WordPiece", "BPE"],
)
def test_without_an_unknown_token_nobody_is_held_to_unknown_characters(model, message):
    vocabulary = vocabulary_of(model)
    assert vocabulary.unexpressed
    assert not examined(vocabulary, "survival", "tokenizers").violations

    encoder = registry.resolve("tokenizers").load(vocabulary)
    with pytest.raises(Unsupported, match=f"no unknown token.*{message}"):
        encoder.encode("\u2603".encode(), TEXT)


def test_ordinary_added_tokens_of_wordpiece_reach_over_spaces():
    vocabulary = vocabulary_of(WORDPIECE, added(6, "<s w>"), **BERT)
    local = Local(vocabulary, ["tokenizers", "pipeline.huggingface"], TEXT)

    assert not CHECKS["chunks"].applies(local.contract)
    found = local.examine(CHECKS["equivalence"], [text.encode() for text in TEXTS])
    assert not found.violations
    assert found.exercised["pipeline.huggingface"] == len(TEXTS)


def test_byte_pieces_may_be_special_tokens():
    """As who trains with tokenizers makes them; ids of bytes are no injected special tokens."""
    names = [name for name in FALLBACK["vocab"] if name != "<unk>"]
    tokens = [added(FALLBACK["vocab"][name], name, special=True) for name in names]
    vocabulary = vocabulary_of(FALLBACK, *tokens, **MARKED)

    assert "a byte piece, too" in vocabulary.unexpressed[0]
    found = examined(vocabulary, "specials", "tokenizers", "pipeline.huggingface")
    assert found.exercised["tokenizers"] == len(TEXTS)
    assert not found.violations


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (LEVEL, set()),
        ({**FALLBACK, "vocab": {"<unk>": 0, "<": 1, "s": 2, "<s>": 5}, "merges": []}, {5}),
        ({**FALLBACK, "vocab": {"<unk>": 0, "<s>": 5}, "merges": [], "ignore_merges": True}, set()),
        (
            {
                **FALLBACK,
                "vocab": {"<unk>": 0, "<": 1, "s>": 2, "s": 3, ">": 4, "<s>": 5},
                "merges": ["s >", "< s>"],
            },
            set(),
        ),
    ],
    ids=["words", "no merge", "whole pre-tokens", "a merge"],
)
def test_what_the_model_makes_of_plain_text_is_no_injected_token(model, expected):
    vocabulary = vocabulary_of(model, added(5, "<s>", special=True))

    assert never_in_texts(vocabulary) == expected
    tokenizer = tokenizers.Tokenizer.from_str(
        (vocabulary.native.content if vocabulary.native else b"").decode()
    )
    tokenizer.encode_special_tokens = True
    assert (5 in tokenizer.encode("<s>", add_special_tokens=False).ids) == (not expected)


def test_who_gives_back_what_the_reference_loses_is_not_blamed():
    """tokenizers reads an added token in the byte alphabet, though it is none of bytes."""
    vocabulary = sources.resolve("toy_bytes")
    document = json.loads(vocabulary_json(vocabulary))
    size = len(document["model"]["vocab"])
    document["added_tokens"] = [added(size, "\u00c4\u00d6", rstrip=True)]
    vocabulary = from_document(document, "umlaut.json", None)
    encoder = registry.resolve("tokenizers").load(vocabulary)
    assert encoder.decode([size]) == "\ufffd\ufffd".encode()
    local = Local(vocabulary, ["tokenizers", "llguidance"], TEXT)
    local.contract = replace(local.contract, references=frozenset({"tokenizers"}))

    found = local.examine(CHECKS["round-trip"], ["\u00c4\u00d6".encode()])
    assert found.exercised["tokenizers"] == 1
    assert "llguidance" not in {name for one in found.violations for name in one.culprits}


def vocabulary_json(vocabulary):
    from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json

    return to_tokenizer_json(vocabulary, True)


def test_flags_of_added_tokens_are_compared_with_the_definition():
    document = json.loads(vocabulary_json(sources.resolve("toy_bytes")))
    size = len(document["model"]["vocab"])
    document["added_tokens"] = [added(size, "<s w>", single_word=True)]
    vocabulary = from_document(document, "flags.json", None)
    assert not vocabulary.unexpressed
    assert registry.resolve("pipeline.huggingface").supports(vocabulary, TEXT) is None

    found = examined(vocabulary, "equivalence", "tokenizers", "pipeline.huggingface")
    assert found.exercised["pipeline.huggingface"] == len(TEXTS)
    assert not found.violations


def test_a_file_that_tokenizers_refuses_is_no_finding():
    document = {"added_tokens": [{"id": 6, "content": "<t>"}], "model": LEVEL}
    vocabulary = from_document(document, "no-flags.json", None)

    with pytest.raises(Unsupported, match="does not read the file: missing field `single_word`"):
        registry.resolve("tokenizers").load(vocabulary)


@pytest.mark.parametrize("entered", [True, False])
def test_tokens_that_merges_do_not_reach_are_looked_up_in_raw_texts_too(entered):
    """As in Llama 3's file: "abc" has a merge that comes too late, and is a token all the same."""
    document = json.loads(vocabulary_json(sources.resolve("toy_bytes")))
    vocab = {
        **{spell(bytes([byte])): byte for byte in range(256)},
        "bc": 256,
        "ab": 257,
        "abc": 258,
    }
    model = {**document["model"], "ignore_merges": True, "vocab": vocab}
    model["merges"] = ["b c", "a b", "ab c"]
    if entered:
        vocab["<s>"] = 259
    document |= {"model": model, "added_tokens": [added(259, "<s>", special=True)]}
    vocabulary = from_document(document, "late.json", None)
    assert not vocabulary.unexpressed

    raw = Mode(pretokenize=False)
    for name in ("tokenizers", "bpe.heap"):
        encoder = registry.resolve(name).load(vocabulary)
        assert list(encoder.encode(b"abc", raw)) == [258], name
        assert list(encoder.encode(b"abcabc", raw)) == [97, 256, 97, 256], name


@pytest.mark.parametrize("byte_fallback", [True, False])
def test_a_model_of_characters_runs_as_any_other(tmp_path, byte_fallback):
    path = tmp_path / "char.model"
    symbols = ["ll", "<sep>"]
    size = 300 if byte_fallback else 30
    path.write_bytes(
        trained(
            model_type="char",
            vocab_size=size,
            byte_fallback=byte_fallback,
            user_defined_symbols=symbols,
        )
    )
    vocabulary = sources.resolve(str(path))
    specs = ["sentencepiece", "spm.sentencepiece", "tokenizers", "mistral-common"]

    found = examined(vocabulary, "equivalence", *specs)
    assert found.exercised["spm.sentencepiece"] == len(TEXTS)
    assert not [one for one in found.violations if "spm.sentencepiece" in one.culprits]


def test_a_model_of_words_is_run_by_sentencepiece(tmp_path):
    path = tmp_path / "word.model"
    path.write_bytes(trained(model_type="word", vocab_size=12))
    vocabulary = sources.resolve(str(path))
    local = Local(vocabulary, ["sentencepiece"], TEXT)

    assert [one.name for one in local.contract.participants] == ["sentencepiece"]
    for check in ("survival", "round-trip", "chunks", "streaming", "batch", "offsets", "reload"):
        if CHECKS[check].applies(local.contract):
            found = local.examine(CHECKS[check], [text.encode() for text in TEXTS])
            assert not found.violations, check


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("dict.txt", b"la 1017\nde 990\n", "format not recognised"),
        ("counts.txt", b"abcd 12\nword 9\nis-none 3\n", "format not recognised"),
        ("bom.json", b'\xef\xbb\xbf{"model": {}}', "begins with a byte order mark"),
        ("none.json", b'{"model": {"type": "BPE", "vocab": {}, "merges": []}}', "has no tokens"),
    ],
)
def test_what_is_refused_is_called_what_it_is(tmp_path, name, content, told):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(VocabularyError, match=told):
        sources.resolve(str(path))


@pytest.mark.parametrize("name", ["tokenizers", "kitoken", "tokie"])
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"treat_whitespace_as_suffix": True}, "treat_whitespace_as_suffix"),
        ({}, None),
    ],
)
def test_who_needs_a_file_that_cannot_be_written_says_so_before_it_is_asked(
    tmp_path, options, told, name
):
    path = tmp_path / "suffix.model"
    path.write_bytes(trained(model_type="unigram", vocab_size=40, **options))
    vocabulary = sources.resolve(str(path))
    participant = registry.resolve(name)
    if "sentencepiece" in participant.native_formats:
        return  # it is given the model

    reason = participant.supports(vocabulary, TEXT)
    assert reason is None if told is None else told in str(reason)


def test_a_release_that_finds_special_tokens_anywhere_is_not_asked_to_leave_them(
    monkeypatch,
):
    """Up to 0.18 tokenizers has no ``encode_special_tokens``."""
    vocabulary = vocabulary_of(LEVEL, added(5, "<s>", special=True))
    monkeypatch.delattr(tokenizers.Tokenizer, "encode_special_tokens", raising=True)
    encoder = registry.resolve("tokenizers").load(vocabulary)

    with pytest.raises(Unsupported, match="finds special tokens in any text"):
        encoder.encode(b"<s>", TEXT)
    assert encoder.encode(b"<s>", Mode(special="all")) == [5]
    assert encoder.encode(b"hello", TEXT) == [1]


@pytest.mark.parametrize("heeds", [False, True])
def test_an_old_transformers_is_not_asked_to_leave_special_tokens(monkeypatch, heeds):
    """Up to 4.40 its fast tokenizers are told ``split_special_tokens``, and find them anyway."""
    backend = SimpleNamespace(encode_special_tokens=heeds)
    made = SimpleNamespace(
        backend_tokenizer=backend,
        encode=lambda text, add_special_tokens=True: [5 if "<s>" in text else 1],
    )
    library = SimpleNamespace(from_pretrained=lambda folder, split_special_tokens: made)
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(AutoTokenizer=library))
    vocabulary = vocabulary_of(LEVEL, added(5, "<s>", special=True))
    encoder = transformers.IMPLEMENTATION.load(vocabulary)

    if heeds:
        assert encoder.encode(b"<s>", TEXT) == [5]
    else:
        for asked in (
            encoder.encode,
            lambda data, mode: encoder.encode_with_added(data, None, mode),
        ):
            with pytest.raises(Unsupported, match="finds special tokens in any text"):
                asked(b"<s>", TEXT)
    assert encoder.encode(b"<s>", Mode(special="all")) == [5]
    assert encoder.encode(b"hello", TEXT) == [1]
