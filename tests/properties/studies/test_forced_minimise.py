"""Failures of policies made small: still failures, of schemas that admit their texts."""

import base64
import json

import pytest

from corpora.grammars.corpus import SchemaCase, compact_json
from corpora.grammars.json_schema import JsonSchemaGrammar
from corpora.vocabularies import sources
from harness.events import ForcedWitness
from harness.studies.forced import run
from harness.studies.forced.jobs import Task, WalkSchema
from harness.studies.forced.minimise import Minimiser
from harness.studies.forced.policies import Policies
from impls.forced.interface import Healed
from tests.breadth import thorough_from

SCHOOLS = ["University of Pennsylvania", "University of Pennsylvanicus", "home"]
SCHEMA = {
    "title": "A place to study",
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "where": {
            "type": "object",
            "properties": {
                "school": {"enum": SCHOOLS},
                "years": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["school"],
        },
        "remarks": {"type": "string", "maxLength": 40},
    },
    "required": ["id", "where"],
}
VALUE = {"id": 17, "where": {"school": SCHOOLS[0], "years": [1, 2, 3]}, "remarks": "none"}
CASE = SchemaCase("schools", SCHEMA, (compact_json(VALUE),))


@pytest.fixture(scope="module")
def policies():
    return Policies(sources.resolve("tekken_240911"))


def failures(policies, name):
    task = Task(policies.tokenizer.vocabulary, [name, "exact"], "compact")
    result = WalkSchema(CASE).run(policies, task, lambda: None)
    return [one for one in result.witnesses if one.policy == name]


def held(policies, found, most):
    """The small witness is one: of its own grammar, and against the tokens it names."""
    context, forced, way = map(base64.b64decode, (found.context, found.forced, found.continuation))
    grammar = JsonSchemaGrammar(json.loads(found.grammar), "compact")
    assert grammar.viable(context + forced + way)
    assert grammar.after(context).forced() == forced
    encode = policies.tokenizer.encode
    own = (*encode(context), *found.ids)
    assert encode(context + forced + way)[: len(own)] != own
    assert len(found.grammar) <= most, found.grammar


@pytest.mark.parametrize(
    ("name", "most"),
    thorough_from(
        2,
        [
            # Two names that begin alike, of which one is a long token: what is there is needed.
            ("healed:tokens=2", 80),
            ("none", len('{"enum":["","a"]}')),
            ("printed", 80),
            ("llguidance.partial", 80),
        ],
    ),
)
def test_small_and_still_a_failure(policies, name, most):
    beats = []
    found = failures(policies, name)
    for failure in found:
        # Time enough for a busy machine: the search is to end by itself.
        minimiser = Minimiser(policies, name, "compact", lambda: beats.append(1))
        small = minimiser.minimal(failure, CASE, 120.0)
        assert (small.policy, small.schema) == (name, "minimal")
        held(policies, small, most)
    assert beats or not found


def test_what_no_longer_errs_has_none_and_time_is_kept(policies):
    failure = failures(policies, "healed:tokens=2")[0]
    assert Minimiser(policies, "exact", "compact").minimal(failure, CASE, 20.0) is None
    assert Minimiser(policies, "healed:tokens=2", "compact").minimal(failure, CASE, 0.0) is None


class Hasty:
    """Calls itself exact, and forces the first letter of what is forced as a token of its own."""

    def __init__(self, policies):
        self.encode = policies.tokenizer.encode

    def heal(self, context, forced, grammar):
        return Healed(self.encode(forced[:1]), forced[1:])


def test_an_exact_policy_that_errs_is_made_small_too(policies, monkeypatch):
    monkeypatch.setattr(policies, "of_schema", lambda names, *_: {"exact": Hasty(policies)})
    [failure, *_] = failures(policies, "exact")
    found = Minimiser(policies, "exact", "compact").minimal(failure, CASE, 120.0)
    held(policies, found, 40)


def witness(**changes):
    fields = {
        "vocabulary": "v", "policy": "none", "schema": "a", "context": "", "forced": "YQ==",
        "continuation": "", "ids": [1], "surfaces": ["YQ=="], "canonical": [2],
        "canonical_surfaces": ["YWE="], "of": "instance",
    }  # fmt: skip
    return ForcedWitness(**fields | changes)


def test_which_are_shown():
    many = [witness(forced="YQ==" * (1 + at), schema=str(at % 5)) for at in range(30)]
    wrong = witness(policy="exact", forced="YQ==" * 90)
    found = run.shown([*many, wrong], ["none", "exact"])
    # Errors of exact first; of the others the shortest, one of each schema before another of it.
    assert found[:6] == [wrong, *many[:5]]
    assert len(found) == 1 + run.SHOWN


def test_a_witness_is_told_with_its_schema_and_the_smallest_like_it():
    plain, small = witness(), witness(schema="minimal", grammar="{}")
    found = run.completed(plain, CASE, small)
    assert (json.loads(found.grammar), found.minimal) == (SCHEMA, small)
    assert run.completed(plain, None) == plain
    long = SchemaCase("a", {"enum": ["a" * 9000]}, ())
    assert len(run.completed(plain, long).grammar) == run.GRAMMAR_SHOWN + 1
