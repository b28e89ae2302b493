"""What a library encodes with dropout is held to what merges can make of the text."""

import json
from dataclasses import replace
from functools import cache
from itertools import islice
from types import SimpleNamespace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpora.generators.base import Case
from corpora.generators.catalog import generators
from corpora.vocabularies.sources import resolve
from corpora.vocabularies.tiktoken_file import from_ranks
from corpora.vocabularies.tokenizer_json import from_document
from corpora.vocabularies.tokenizer_json_out import to_tokenizer_json
from harness.checks import CHECKS
from harness.checks.reachability import reachable
from harness.findings import questions
from harness.findings.entries import Entry
from harness.findings.questions import Asking
from harness.studies.selftest.catalog import mistakes
from tests.breadth import thorough
from tests.doubles.local import RAW, TEXT, Local

CHECK = CHECKS["reachability"]
DROPPING = "toy_file_dropout"
FALSE = [one for one in mistakes().values() if one.check == "reachability"]


def dropping(name, dropout):
    """A tokenizer.json of an embedded vocabulary, with dropout."""
    document = json.loads(to_tokenizer_json(resolve(name), pretokenize=True))
    document["model"]["dropout"] = dropout
    return from_document(document, name, None)


def inputs(vocabulary, each=12):
    """Some of every generator."""
    found = [x for one in generators().values() for x in islice(one.cases(vocabulary, 3), each)]
    return [data for data in found if vocabulary.can_encode(data)]


@pytest.mark.parametrize(
    ("name", "dropout", "mode"),
    [
        ("toy_bytes", 0.1, TEXT),
        ("toy_bytes", 1.0, TEXT),
        ("toy_characters", 0.1, TEXT),
        thorough(("mistral_v3", 0.5, TEXT)),
        *((name, 0.0, m) for name in ("toy_improper", "toy_ties", DROPPING) for m in (TEXT, RAW)),
        *(
            thorough((f"random:{kind}:{seed}", 0.0, mode))
            for kind in ("bpe", "ranks")
            for seed in range(8)
            for mode in (TEXT, RAW)
        ),
    ],
)
def test_nothing_is_found_where_nothing_is_wrong(name, dropout, mode):
    """Of the library with dropout; of ours without."""
    vocabulary = dropping(name, dropout) if dropout else resolve(name)
    local = Local(vocabulary, ["tokenizers"] if dropout else ["bpe.heap", "bpe.dropout"], mode)
    assert CHECK.applies(local.contract)
    judgement = local.examine(CHECK, inputs(vocabulary))
    assert judgement.exercised[local.contract.names[-1]] > 40
    assert not judgement.violations


@pytest.mark.parametrize("mistake", FALSE, ids=lambda one: one.name)
def test_each_mistake_is_named(mistake):
    vocabulary = resolve(DROPPING)
    local = Local(vocabulary, [mistake.spec, "bpe.heap"], TEXT)
    violations = local.examine(CHECK, [b"a", b"then the thing", b"e e"]).violations
    assert {one.stage for one in violations} == {*mistake.stages}
    assert {one.culprits for one in violations} == {(mistake.name,)}
    control = Local(vocabulary, [mistake.control, "tokenizers"], TEXT)
    judgement = control.examine(CHECK, inputs(vocabulary))
    assert min(judgement.exercised.values()) > 100
    assert len(judgement.exercised) == 2
    assert not judgement.violations


@example([b"a", b"aa"])  # one symbol
@given(st.lists(st.text("ab", min_size=1, max_size=6).map(str.encode), min_size=1, unique=True))
def test_of_ranks_what_merges_reach_parts_into_tokens_that_they_reach(tokens):
    @cache
    def reached(token):
        halves = ((token[:cut], token[cut:]) for cut in range(1, len(token)))
        parted = len(token) == 1 or any(reached(a) and reached(b) for a, b in halves)
        return token in tokens and parted

    vocabulary = from_ranks("x", tokens, splits=(), special_tokens={}, source_path=None)
    assert reachable(vocabulary).tolist() == [*map(reached, tokens)]


def test_without_dropout_or_merges_nobody_is_asked():
    for vocabulary in (dropping("toy_bytes", 0.0), resolve("toy_file_affixes")):
        assert not CHECK.applies(Local(vocabulary, ["tokenizers"], TEXT).contract)


@pytest.mark.parametrize("times", [1, 0])
def test_what_comes_back_now_and_then_is_no_finding_of_determinism(monkeypatch, times):
    wrong = next(one for one in FALSE if one.stages == ["text"])
    local = Local(resolve(DROPPING), [wrong.spec, "bpe.heap"], TEXT)
    judgement = local.examine(CHECK, [b"the"])
    (violation,) = judgement.violations
    entry = Entry(local.contract, violation, Case(b"the", "test", 0, 0))
    again = replace(judgement, violations=[violation] * times)
    monkeypatch.setattr(questions, "judge", lambda *given: again)
    told = Asking(SimpleNamespace(again=lambda *given: given), entry).confirm()
    assert told == (violation if times else "gone")
