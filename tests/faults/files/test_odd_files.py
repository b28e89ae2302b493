"""Files that a library reads, though hardly anybody writes such: nobody is refused or accused."""

import io
import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import sentencepiece
import tokenizers

from corpora.vocabularies import sources
from corpora.vocabularies.byte_alphabet import spell
from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.tokenizer_json import from_document
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from harness.checks import CHECKS
from harness.checks.specials import never_in_texts
from impls import registry
from impls.adapters import transformers
from impls.interface import Mode, Unsupported
from tests.doubles.local import Local

TEXT = Mode(pretokenize=True)

TEXTS = ["hello wide world", "a b", " two  spaces ", "<s w>", "x<s w>y", "snow \u2603", "\u00c4"]

WORDS = {"<unk>": 0, "hello": 1, "a": 2, "b": 3, "##b": 4, "<s>": 5}

BERT = {
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
}

WORDPIECE = {
    "type": "WordPiece",
    "unk_token": "<unk>",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
    "vocab": WORDS,
}

LEVEL = {"type": "WordLevel", "vocab": WORDS, "unk_token": "<unk>"}

PIECES = [["\u2581", -3.0], ["a", -1.0], ["b", -1.5]]

FALLBACK = {
    "type": "BPE",
    "vocab": {"<unk>": 0, **{f"<0x{byte:02X}>": 1 + byte for byte in range(256)}},
    "merges": [],
    "unk_token": "<unk>",
    "byte_fallback": True,
    "fuse_unk": True,
}

MARKED = {"normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}}


def added(token_id, content, **flags):
    names = ("single_word", "lstrip", "rstrip", "normalized", "special")
    return {"id": token_id, "content": content, **dict.fromkeys(names, False), **flags}


def vocabulary_of(model, *tokens, **steps):
    document = {"version": "1.0", "added_tokens": list(tokens), **steps, "model": model}
    tokenizers.Tokenizer.from_str(json.dumps(document))  # which reads it, or the test is of nothing
    return from_document(document, "odd.json", None)


def toy_with(content, model={}, **flags):  # noqa: B006
    """The file of a toy of bytes with an added token. model: fields that are other ones."""
    document = json.loads(to_tokenizer_json(sources.resolve("toy_bytes"), True))
    document["model"] |= model
    vocab = document["model"]["vocab"]
    document["added_tokens"] = [added(vocab.get(content, len(vocab)), content, **flags)]
    return from_document(document, "toy.json", None)


def trained(tmp_path, **options):
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*TEXTS, "plain words of a text"] * 3),
        model_writer=made,
        minloglevel=2,
        hard_vocab_limit=False,
        **options,
    )
    path = tmp_path / "trained.model"
    path.write_bytes(made.getvalue())
    return sources.resolve(str(path))


def untyped(model):
    return {name: value for name, value in model.items() if name != "type"}


BYTES = [added(FALLBACK["vocab"][f"<0x{n:02X}>"], f"<0x{n:02X}>", special=True) for n in range(256)]

ASKED = {
    "a model without its type is told by its fields": (
        lambda: vocabulary_of(untyped(WORDPIECE), **BERT), "equivalence", "wordpiece",
    ),
    "that of words, too": (
        lambda: vocabulary_of(untyped(LEVEL), **BERT), "equivalence", "wordlevel"
    ),
    "ordinary added tokens of WordPiece reach over spaces": (
        lambda: vocabulary_of(WORDPIECE, added(6, "<s w>"), **BERT), "equivalence", "wordpiece",
    ),
    "flags of added tokens are compared with the definition": (
        lambda: toy_with("<s w>", single_word=True), "equivalence", "bpe"
    ),
    # As who trains with tokenizers makes them; ids of bytes are no injected special tokens.
    "byte pieces may be special tokens": (
        lambda: vocabulary_of(FALLBACK, *BYTES, **MARKED), "specials", "bpe"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ASKED)
def test_who_reads_a_file_as_it_is_meant_is_compared_and_not_accused(name):
    make, check, algorithm = ASKED[name]
    vocabulary = make()
    assert vocabulary.algorithm == algorithm
    local = Local(vocabulary, ["tokenizers", "pipeline.huggingface"], TEXT)
    found = local.examine(CHECKS[check], [text.encode() for text in TEXTS])
    assert not found.violations
    if algorithm != "wordpiece" or vocabulary.added_tokens:
        assert max(found.exercised.values()) == len(TEXTS)
    if algorithm == "wordpiece" and vocabulary.added_tokens:
        assert not CHECKS["chunks"].applies(local.contract)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"type": "Unigram", "vocab": PIECES, "unk_id": None}, "unk_id"),
        ({**LEVEL, "unk_token": "<no>"}, "UNK"),
        ({**WORDPIECE, "unk_token": "<no>"}, "UNK"),
        ({"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": "<no>"}, "<no>"),
    ],
    ids=["Unigram", "WordLevel", "WordPiece", "BPE"],
)
def test_without_an_unknown_token_nobody_is_held_to_unknown_characters(model, message):
    vocabulary = vocabulary_of(model)
    assert vocabulary.unexpressed
    local = Local(vocabulary, ["tokenizers"], TEXT)
    assert not local.examine(CHECKS["survival"], [b"a", "\u2603".encode()]).violations
    encoder = registry.resolve("tokenizers").load(vocabulary)
    with pytest.raises(Unsupported, match=f"no unknown token.*{message}"):
        encoder.encode("\u2603".encode(), TEXT)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (LEVEL, set()),
        ({**FALLBACK, "vocab": {"<unk>": 0, "<": 1, "s": 2, "<s>": 5}}, {5}),
        ({**FALLBACK, "vocab": {"<unk>": 0, "<s>": 5}, "ignore_merges": True}, set()),
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
    tokenizer = tokenizers.Tokenizer.from_str(vocabulary.native.content.decode())
    tokenizer.encode_special_tokens = True
    assert (5 in tokenizer.encode("<s>", add_special_tokens=False).ids) == (not expected)


def test_who_gives_back_what_the_reference_loses_is_not_blamed():
    """tokenizers reads an added token in the byte alphabet, though it is none of bytes."""
    vocabulary = toy_with("\u00c4\u00d6", rstrip=True)
    encoder = registry.resolve("tokenizers").load(vocabulary)
    assert encoder.decode([vocabulary.added_tokens[0].id]) == "\ufffd\ufffd".encode()
    local = Local(vocabulary, ["tokenizers", "llguidance"], TEXT)
    local.contract = replace(local.contract, references=frozenset({"tokenizers"}))

    found = local.examine(CHECKS["round-trip"], ["\u00c4\u00d6".encode()])
    assert found.exercised["tokenizers"] == 1
    assert "llguidance" not in {name for one in found.violations for name in one.culprits}


def test_a_file_that_tokenizers_refuses_is_no_finding():
    document = {"added_tokens": [{"id": 6, "content": "<t>"}], "model": LEVEL}
    vocabulary = from_document(document, "no-flags.json", None)
    with pytest.raises(Unsupported, match="does not read the file: missing field `single_word`"):
        registry.resolve("tokenizers").load(vocabulary)


@pytest.mark.parametrize("entered", [True, False])
def test_tokens_that_merges_do_not_reach_are_looked_up_in_raw_texts_too(entered):
    """As in Llama 3's file: "abc" has a merge that comes too late, and is a token all the same."""
    vocab = {spell(bytes([byte])): byte for byte in range(256)}
    vocab |= {"bc": 256, "ab": 257, "abc": 258, **({"<s>": 259} if entered else {})}
    model = {"ignore_merges": True, "vocab": vocab, "merges": ["b c", "a b", "ab c"]}
    vocabulary = toy_with("<s>", model, special=True)
    assert not vocabulary.unexpressed
    raw = Mode(pretokenize=False)
    for name in ("tokenizers", "bpe.heap"):
        encoder = registry.resolve(name).load(vocabulary)
        assert list(encoder.encode(b"abc", raw)) == [258], name
        assert list(encoder.encode(b"abcabc", raw)) == [97, 256, 97, 256], name


@pytest.mark.parametrize(
    ("kind", "options", "specs"),
    [
        ("char", {"vocab_size": 300, "byte_fallback": True}, ["spm.sentencepiece", "tokenizers"]),
        ("char", {"vocab_size": 30}, ["spm.sentencepiece", "tokenizers", "mistral-common"]),
        ("word", {"vocab_size": 12}, []),
    ],
)
def test_models_of_characters_and_words_run_as_any_other(tmp_path, kind, options, specs):
    symbols = {"user_defined_symbols": ["ll", "<sep>"]} if specs else {}
    vocabulary = trained(tmp_path, model_type=kind, **options, **symbols)
    local = Local(vocabulary, ["sentencepiece", *specs], TEXT)
    inputs = [text.encode() for text in TEXTS]
    if specs:
        found = local.examine(CHECKS["equivalence"], inputs)
        assert found.exercised[specs[0]] == len(TEXTS)
        assert not [one for one in found.violations if specs[0] in one.culprits]
    else:
        for check in ("survival", "round-trip", "chunks", "streaming", "batch", "offsets"):
            if CHECKS[check].applies(local.contract):
                assert not local.examine(CHECKS[check], inputs).violations, check


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


@pytest.mark.parametrize("suffix", [True, False])
def test_who_needs_a_file_that_cannot_be_written_says_so_before_it_is_asked(tmp_path, suffix):
    options = {"treat_whitespace_as_suffix": True} if suffix else {}
    vocabulary = trained(tmp_path, model_type="unigram", vocab_size=40, **options)
    for name in ("tokenizers", "kitoken", "tokie"):
        one = registry.resolve(name)
        if "sentencepiece" not in one.native_formats:  # else it is given the model
            reason = one.supports(vocabulary, TEXT)
            assert "treat_whitespace_as_suffix" in reason if suffix else reason is None


# Releases that find special tokens in any text: they are not asked to leave them.


def of_tokenizers(vocabulary, monkeypatch):
    """Up to 0.18 tokenizers has no ``encode_special_tokens``."""
    monkeypatch.delattr(tokenizers.Tokenizer, "encode_special_tokens", raising=True)
    return registry.resolve("tokenizers").load(vocabulary)


def of_transformers(vocabulary, monkeypatch, heeds=False):
    """Up to 4.40 its fast tokenizers are told ``split_special_tokens``, and find them anyway."""
    made = SimpleNamespace(
        backend_tokenizer=SimpleNamespace(encode_special_tokens=heeds),
        encode=lambda text, add_special_tokens=True: [5 if "<s>" in text else 1],
    )
    library = SimpleNamespace(from_pretrained=lambda folder, split_special_tokens: made)
    monkeypatch.setitem(sys.modules, "transformers", SimpleNamespace(AutoTokenizer=library))
    return transformers.IMPLEMENTATION.load(vocabulary)


def of_transformers_that_heeds(vocabulary, monkeypatch):
    return of_transformers(vocabulary, monkeypatch, heeds=True)


@pytest.mark.parametrize("load", [of_tokenizers, of_transformers, of_transformers_that_heeds])
def test_an_old_release_is_not_asked_to_leave_special_tokens(load, monkeypatch):
    encoder = load(vocabulary_of(LEVEL, added(5, "<s>", special=True)), monkeypatch)
    assert encoder.encode(b"<s>", Mode(special="all")) == [5]
    assert encoder.encode(b"hello", TEXT) == [1]
    if load is of_transformers_that_heeds:
        assert encoder.encode(b"<s>", TEXT) == [5]
        return
    with pytest.raises(Unsupported, match="finds special tokens in any text"):
        encoder.encode(b"<s>", TEXT)
    if load is of_transformers:
        with pytest.raises(Unsupported, match="finds special tokens in any text"):
            encoder.encode_with_added(b"<s>", None, TEXT)
