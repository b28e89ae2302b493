"""How much each participant is trusted, by its origin and by the format of the vocabulary."""

from dataclasses import replace

import pytest

from corpora.vocabularies import sources
from harness.core.comparisons import contracts_of
from harness.core.participants import Participant
from harness.core.standing import Standing
from impls import registry
from impls.interface import About

CANDIDATE, LIBRARY, DEFINITION, REFERENCE = Standing


class Willing:
    """An implementation that runs everything."""

    def __init__(self, name):
        self.about = About(name, "1")

    def supports(self, vocabulary, mode):
        return None

    def load(self, vocabulary):
        raise NotImplementedError


def named(name, spec=""):
    one = Willing(name)
    return Participant(name, spec or name, one.about, one)


def standings(vocabulary, kind, *members, declared=frozenset()):
    made = replace(sources.resolve(vocabulary), format=kind)
    contracts = contracts_of(made, members, declared, proper=True)
    (found,) = {tuple(contract.standing.items()) for contract in contracts}
    return dict(found)


BPE, SPM, UNIGRAM, WORDPIECE = "toy_bytes", "toy_characters", "toy_unigram", "toy_wordpiece"
ALL = ("tiktoken", "tokenizers", "sentencepiece", "mistral-common", "llama.cpp", "rs-bpe")


@pytest.mark.parametrize(
    ("vocabulary", "kind", "reference"),
    [
        (BPE, "tiktoken", "tiktoken"),
        (BPE, "tekken", "tiktoken"),
        (BPE, "tokenizer.json", "tokenizers"),
        (BPE, "gguf", None),
        (BPE, "toy", "tiktoken"),
        (SPM, "sentencepiece", "sentencepiece"),
        (SPM, "tokenizer.json", "tokenizers"),
        (SPM, "gguf", None),
        (SPM, "drawn", "sentencepiece"),
        (UNIGRAM, "sentencepiece", "sentencepiece"),
        (UNIGRAM, "tokenizer.json", "tokenizers"),
        (UNIGRAM, "gguf", None),
        (WORDPIECE, "tokenizer.json", "tokenizers"),
        (WORDPIECE, "gguf", None),
        (WORDPIECE, "toy", "tokenizers"),
    ],
)
def test_every_format_but_gguf_has_a_reference(vocabulary, kind, reference):
    found = standings(vocabulary, kind, *map(named, ALL))
    assert [name for name, one in found.items() if one is REFERENCE] == (
        [reference] * bool(reference)
    )
    assert all(one is LIBRARY for name, one in found.items() if name != reference)


@pytest.mark.parametrize(
    ("vocabulary", "kind", "definitions"),
    [
        (BPE, "tiktoken", {"bpe.naive", "bpe.heap"}),
        (BPE, "gguf", {"bpe.naive", "bpe.heap"}),
        (BPE, "tokenizer.json", {"bpe.naive", "bpe.heap"}),
        (SPM, "sentencepiece", {"spm.sentencepiece"}),
        (SPM, "tokenizer.json", set()),
        (SPM, "gguf", set()),
        (UNIGRAM, "sentencepiece", {"unigram.sentencepiece"}),
        (UNIGRAM, "tokenizer.json", set()),
        (WORDPIECE, "tokenizer.json", {"wordpiece.bert"}),
        (WORDPIECE, "gguf", set()),
    ],
)
def test_our_plain_definitions_decide_where_they_define(vocabulary, kind, definitions):
    ours = [name for name in registry.registered() if "." in name and name != "llama.cpp"]
    found = standings(vocabulary, kind, *map(named, ours))
    assert {name for name, one in found.items() if one is DEFINITION} == definitions
    assert {one for name, one in found.items() if name not in definitions} == {LIBRARY}


@pytest.mark.parametrize(
    "spec", ["mine.py:Mine", "a.module:Mine", "cmd:mine", "pip:tiktoken==0.1", "./lib/mine.py:X"]
)
@pytest.mark.parametrize("name", ["mine", "tiktoken", "bpe.naive"])
def test_what_the_user_brings_is_a_candidate_whatever_it_calls_itself(spec, name):
    assert standings(BPE, "tiktoken", named(name, spec)) == {name: CANDIDATE}


def test_an_entry_point_is_a_candidate(monkeypatch):
    monkeypatch.setattr(registry, "_plugged", lambda: {"tiktoken": "mine:Mine"})
    found = standings(BPE, "tiktoken", named("tiktoken"), named("plugged"))
    assert found == {"tiktoken": CANDIDATE, "plugged": CANDIDATE}


@pytest.mark.parametrize(
    ("kind", "declared", "found"),
    [
        # What the user declares a reference is the only one.
        ("tiktoken", "mine", {"mine": REFERENCE, "tiktoken": LIBRARY, "bpe.heap": DEFINITION}),
        # One that takes no part leaves it to the format.
        ("tiktoken", "absent", {"mine": CANDIDATE, "tiktoken": REFERENCE, "bpe.heap": DEFINITION}),
        # Another reference of the format stands in for one that takes no part.
        ("tekken", "", {"rs-bpe": LIBRARY, "mistral-common": REFERENCE}),
    ],
)
def test_a_declared_reference_counts_then_those_of_the_format(kind, declared, found):
    members = [named(name, "mine.py:Mine" if name == "mine" else "") for name in found]
    assert standings(BPE, kind, *members, declared=frozenset({declared})) == found


def test_the_names_of_the_tables_exist():
    tables = (*registry.REFERENCES.values(), *registry.DEFINITIONS.values())
    assert {name for names in tables for name in names} <= set(registry.registered())
