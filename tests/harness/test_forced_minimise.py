"""Failures of policies made small: still failures, of schemas that admit their texts."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

import pytest

from corpora.grammars.corpus import SchemaCase, compact_json
from corpora.grammars.json_schema import JsonSchemaGrammar
from corpora.vocabularies import sources
from harness.events import ForcedWitness
from harness.studies.forced import run
from harness.studies.forced.jobs import Task, WalkSchema
from harness.studies.forced.minimise import Minimiser
from harness.studies.forced.policies import Policies
from harness.studies.forced.walk import Walk
from impls.forced.interface import Healed
from tests.breadth import thorough_from

SCHEMA = {
    "title": "A place to study",
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "where": {
            "type": "object",
            "properties": {
                "school": {
                    "enum": ["University of Pennsylvania", "University of Pennsylvanicus", "home"]
                },
                "years": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["school"],
        },
        "remarks": {"type": "string", "maxLength": 40},
    },
    "required": ["id", "where"],
}
VALUE = {
    "id": 17,
    "where": {"school": "University of Pennsylvania", "years": [1, 2, 3]},
    "remarks": "none",
}
CASE = SchemaCase("schools", SCHEMA, (compact_json(VALUE),))


@pytest.fixture(scope="module")
def policies():
    return Policies(sources.resolve("tekken_240911"))


def failures(policies, name):
    task = Task(policies.tokenizer.vocabulary, [name, "exact"], "compact")
    result = WalkSchema(CASE).run(policies, task, lambda: None)
    return [one for one in result.witnesses if one.policy == name]


def text(data):
    return base64.b64decode(data)


def held(policies, found):
    """The small witness is one: of its own grammar, and against the tokens it names."""
    schema = json.loads(found.grammar)
    shown = text(found.context) + text(found.forced) + text(found.continuation)
    assert JsonSchemaGrammar(schema, "compact").viable(shown)
    tokenizer = policies.tokenizer
    own = (*tokenizer.encode(text(found.context)), *found.ids)
    assert tokenizer.encode(shown)[: len(own)] != own
    grammar = JsonSchemaGrammar(schema, "compact").after(text(found.context))
    assert grammar.forced() == text(found.forced)


@pytest.mark.parametrize(
    "name", thorough_from(1, ["none", "printed", "healed:tokens=2", "llguidance.partial"])
)
def test_small_and_still_a_failure(policies, name):
    beats = []
    for failure in failures(policies, name):
        # Time enough for a busy machine: the search is to end by itself.
        minimiser = Minimiser(policies, name, "compact", lambda: beats.append(1))
        found = minimiser.minimal(failure, CASE, 120.0)
        assert found is not None
        assert (found.policy, found.schema) == (name, "minimal")
        assert len(found.grammar) < 80
        held(policies, found)
        if name == "none":
            assert len(found.grammar) <= len('{"enum":["","a"]}')
    assert beats or not failures(policies, name)


def test_no_cut_is_left_that_still_errs(policies):
    failure = failures(policies, "healed:tokens=2")[0]
    minimiser = Minimiser(policies, "healed:tokens=2", "compact")
    found = minimiser.minimal(failure, CASE, 120.0)
    assert found is not None
    again = SchemaCase("again", json.loads(found.grammar), (b'"University of Pennsylvania"',))
    # What is there is needed: two names that begin alike, of which one is a long token.
    [one, other] = again.schema["enum"]
    assert one.startswith(other) or other.startswith(one) or one[:4] == other[:4]
    assert "properties" not in found.grammar


def test_time_is_kept(policies):
    failure = failures(policies, "healed:tokens=2")[0]
    minimiser = Minimiser(policies, "healed:tokens=2", "compact")
    assert minimiser.minimal(failure, CASE, 0.0) is None
    found = minimiser.minimal(failure, CASE, 0.3)
    if found is not None:  # whatever was reached is a witness
        held(policies, found)


def test_what_no_longer_errs_has_none(policies):
    failure = failures(policies, "healed:tokens=2")[0]
    assert Minimiser(policies, "exact", "compact").minimal(failure, CASE, 20.0) is None


@dataclass
class Hasty:
    """Calls itself exact, and forces the first letter of what is forced as a token of its own."""

    policies: Policies
    name: str = "exact"

    def heal(self, context, forced, grammar):
        return Healed(self.policies.tokenizer.encode(forced[:1]), forced[1:])


def test_an_exact_policy_that_errs_is_made_small_too(policies, monkeypatch):
    monkeypatch.setattr(policies, "of_schema", lambda names, *_: {"exact": Hasty(policies)})
    grammar = JsonSchemaGrammar(SCHEMA, "compact")
    walk = Walk(policies.tokenizer, grammar, {"exact": Hasty(policies)}, "a", sampled_every=1)
    walk.instance(CASE.instances[0])
    [failure, *_] = walk.finished().witnesses
    found = Minimiser(policies, "exact", "compact").minimal(failure, CASE, 120.0)
    assert found is not None
    assert len(found.grammar) < 40
    held(policies, found)


def witness(**changes):
    fields = {
        "vocabulary": "v", "policy": "none", "schema": "a", "context": "", "forced": "YQ==",
        "continuation": "", "ids": [1], "surfaces": ["YQ=="], "canonical": [2],
        "canonical_surfaces": ["YWE="], "of": "instance",
    }  # fmt: skip
    return ForcedWitness(**{**fields, **changes})


def test_which_are_shown():
    many = [
        witness(forced="YQ==" * (1 + number), schema=f"{number % 5}") for number in range(30)
    ]  # fmt: skip
    wrong = witness(policy="exact", forced="YQ==" * 90)
    found = run.shown([*many, wrong], ["none", "exact"])
    assert found[0] is wrong
    assert len(found) == 1 + run.SHOWN
    assert [one.schema for one in found[1:6]] == ["0", "1", "2", "3", "4"]  # of each schema one
    assert found[1] is many[0]


def test_a_witness_is_dressed():
    plain, small = witness(), witness(schema="minimal", grammar="{}")
    found = run.completed(plain, CASE, small)
    assert json.loads(found.grammar) == SCHEMA
    assert found.minimal == small
    assert run.completed(plain, None) == plain
    long = SchemaCase("a", {"enum": ["a" * 9000]}, ())
    assert len(run.completed(plain, long).grammar) == run.GRAMMAR_SHOWN + 1
