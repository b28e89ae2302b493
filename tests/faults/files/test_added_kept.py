"""A tokenizer.json whose ids are not those that tokenizers gives, or are of two tokens."""

import json
from dataclasses import replace

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from corpora.vocabularies import sources
from corpora.vocabularies.remarks import remarks
from corpora.vocabularies.tokenizer_json import from_document
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from harness.checks import CHECKS
from harness.core.comparisons import answer_of
from harness.engine import selection
from impls import registry
from impls.interface import Mode, Unsupported
from tests.doubles.local import TEXT, Local
from tests.faults.files.test_odd_files import TEXTS, added


def examined(vocabulary, check, *specs, mode=TEXT):
    local = Local(vocabulary, list(specs), mode)
    assert CHECKS[check].applies(local.contract)
    return local.examine(CHECKS[check], [text.encode() for text in TEXTS])


def document_of(*tokens, **changed):
    document = json.loads(to_tokenizer_json(sources.resolve("toy_bytes"), True))
    document["added_tokens"] = list(tokens)
    document["model"] |= changed
    return document


def vocabulary_of(document):
    tokenizers.Tokenizer.from_str(json.dumps(document))  # which reads it, or the test is of nothing
    return from_document(document, "ids.json", None)


SIZE = len(document_of()["model"]["vocab"])


TOKENS = st.builds(
    added,
    st.integers(SIZE - 2, SIZE + 4),
    st.sampled_from(["", "<t>", "<u>", "<s w>", "a", "b"]),
    special=st.booleans(),
)


@given(st.lists(TOKENS, max_size=5))
def test_ids_are_those_that_tokenizers_gives(tokens):
    """Whatever the file says; where it says another thing, there is a remark, and another file."""
    document = document_of(*tokens)
    vocabulary = vocabulary_of(document)
    library = tokenizers.Tokenizer.from_str(json.dumps(document))
    ours = [(token.text, token.id) for token in vocabulary.added_tokens]
    assert ours == [(text, library.token_to_id(text)) for text, _ in ours]
    assert {text for text, _ in ours} == {token["content"] for token in tokens} - {""}
    kept = ours == [(token["content"], token["id"]) for token in tokens]
    assert bool(vocabulary.native.understood) is not kept
    assert bool(remarks(vocabulary)) is (not kept or bool(vocabulary.unexpressed))
    given_as_it_is = vocabulary.native.content == json.dumps(document).encode()
    assert given_as_it_is is kept is not bool(vocabulary.native.sha256)
    again = vocabulary_of(json.loads(vocabulary.native.content))  # which says what is meant
    assert not again.native.understood
    assert [(token.text, token.id) for token in again.added_tokens] == ours


def test_those_who_take_the_files_word_are_given_that_of_the_reference():
    document = document_of(added(700, "<s w>", special=True), added(900, "<t>"), added(9, "a"))
    vocabulary = vocabulary_of(document)
    assert not vocabulary.unexpressed
    assert [line for line in remarks(vocabulary) if "3 added tokens other ids" in line]
    for mode in (Mode(), Mode(special="all")):
        for name in ("fastokens", "kitoken"):
            found = examined(vocabulary, "equivalence", "tokenizers", name, mode=mode)
            assert found.exercised[name] == len(TEXTS)
            assert not found.violations, name


@pytest.mark.parametrize("texts", [("[A]", "[a]"), ("[A]", "[b]")])
def test_tokens_that_are_one_text_once_normalized_are_the_references_alone(texts):
    """tokenizers takes either, another one at each load, so that nobody is wrong who differs."""
    document = document_of(*(added(SIZE + i, text) for i, text in enumerate(texts)))
    document["normalizer"] = {"type": "Lowercase"}
    document["added_tokens"] = [one | {"normalized": True} for one in document["added_tokens"]]
    vocabulary = vocabulary_of(document)
    collide = len({text.lower() for text in texts}) == 1
    loads = (tokenizers.Tokenizer.from_str(json.dumps(document)) for _ in range(40))
    assert len({tuple(one.encode(texts[1]).ids) for one in loads}) == 1 + collide
    for name in ("fastokens", "transformers", "morpheme", "tokenizers"):
        (participant,), _ = selection.participants([name])
        reason = answer_of(participant, vocabulary, Mode())
        excluded = "one text once normalized" in str(reason)
        assert excluded == (collide and name != "tokenizers"), (name, reason)


@pytest.mark.parametrize("place", ["the model's", "an added one"])
def test_what_two_tokens_of_one_id_mean_the_reference_alone_is_asked(place):
    vocab = dict(document_of()["model"]["vocab"])
    if place == "the model's":
        vocab["zz"] = shared = SIZE - 1
        document = document_of(vocab=vocab)
    else:
        text, shared = next((text, i) for text, i in vocab.items() if i == SIZE - 1)
        vocab[text] = shared = SIZE  # a hole before it, so that its id is the next free one
        document = document_of(added(SIZE, "<t>"), vocab=vocab)
    vocabulary = vocabulary_of(document)
    assert vocabulary.native.shared == {shared}

    for name in ("fastokens", "kitoken", "tokie"):
        (participant,), _ = selection.participants([name])
        assert f"have the id {shared}" in str(answer_of(participant, vocabulary, Mode()))
    judges = ["tokenizers"] + ["pipeline.huggingface"] * (place == "the model's")
    for name in judges:
        encoder = registry.resolve(name).load(vocabulary)
        assert encoder.encode(b"a", Mode())
        with pytest.raises(Unsupported, match="two tokens have"):
            encoder.decode([shared])
    checks = ["reload", "single-ids"] + ["equivalence", "round-trip"] * (len(judges) > 1)
    for check in checks:
        assert not examined(vocabulary, check, *judges).violations


def test_added_tokens_alone_are_a_vocabulary():
    document = document_of(added(0, "he"), added(1, "l"), added(2, "o"), vocab={}, merges=[])
    vocabulary = vocabulary_of(document)
    assert len(vocabulary) == 3
    assert "without a token" in vocabulary.unexpressed[0]
    found = examined(vocabulary, "equivalence", "tokenizers", "pipeline.huggingface")
    assert found.exercised["pipeline.huggingface"] == len(TEXTS)
    assert not found.violations


def test_llguidance_starts_where_ids_are_past_the_number_of_tokens():
    vocab = dict(document_of()["model"]["vocab"])
    last = next(text for text, i in vocab.items() if i == SIZE - 1)
    document = document_of(added(SIZE, "<t>"), vocab={**vocab, last: SIZE + 40})
    vocabulary = vocabulary_of(document)
    encoder = registry.resolve("llguidance").load(vocabulary)
    assert list(encoder.encode(b"<t>", Mode())) == [SIZE]


def test_a_text_without_ids_is_compared_with_nobody():
    """Without an unknown token: one library drops what another makes the first token of."""
    model = {"type": "Unigram", "vocab": [["\u2581", -3.0], ["a", -1.0], ["b", -1.5]]}
    document = {"added_tokens": [], "model": {**model, "unk_id": None}}
    document["pre_tokenizer"] = {"type": "Whitespace"}
    vocabulary = vocabulary_of(document)
    given = [registry.resolve(name).load(vocabulary) for name in ("kitoken", "tokie")]
    assert len({tuple(encoder.encode(b"0", Mode())) for encoder in given}) == 2

    local = Local(vocabulary, ["tokenizers", "kitoken", "tokie"], Mode())
    local.contract = replace(local.contract, references=frozenset({"tokenizers"}))
    assert not local.examine(CHECKS["equivalence"], [b"0"]).violations
    both = Local(vocabulary, ["kitoken", "tokie"], Mode())
    assert both.examine(CHECKS["equivalence"], [b"0"]).violations  # with nobody who refuses it
