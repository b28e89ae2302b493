"""JSON Schemas as grammars, and the schemas of our own, against jsonschema and the definitions."""

import itertools
import json
import random
from typing import get_args

import jsonschema
import pytest

from corpora.grammars.base import GrammarError
from corpora.grammars.corpus import compact_json, own_cases
from corpora.grammars.json_schema import JsonSchemaGrammar, Whitespace
from tests.breadth import thorough_from
from tests.corpora.grammar_laws import check_finite, check_state, check_walk

MODES = get_args(Whitespace)
ORDER = {
    "type": "object",
    "properties": {"orderId": {"type": "integer"}, "orderName": {"enum": ["é", "è", "ab", "abc"]}},
    "additionalProperties": False,
}


def test_what_is_forced_and_what_may_follow():
    start = JsonSchemaGrammar(ORDER, "compact")
    assert start.forced() == b"{" and not start.complete
    key = start.after(b'{"')
    assert key.forced() == b"order" and key.after(b"order").next_bytes() == (ord("I"), ord("N"))
    name = key.after(b'orderName":"')
    assert name.next_bytes() == (ord("a"), 0xC3) and name.viable(b"\xc3") and name.viable(b"abc")
    assert not name.viable(b"\xc4") and not name.viable(b"abd") and not name.viable(b"\xff")
    inside = name.after(b"\xc3")
    assert inside.next_bytes() == (0xA8, 0xA9) and inside.forced() == b""
    end = inside.after(b'\xa9"}')
    assert end.complete and end.next_bytes() == () and end.viable(b"") and not end.viable(b" ")
    with pytest.raises(ValueError, match="does not go on"):
        name.after(b"x")


def test_white_space():
    compact, flexible = (JsonSchemaGrammar(ORDER, mode) for mode in ("compact", "flexible"))
    assert compact.after(b'{"orderId').forced() == b'":'
    assert flexible.after(b'{"orderId').forced() == b'"'
    assert flexible.viable(b'{ "orderId"\n:\t12 ,') and not compact.viable(b'{"orderId": ')


def test_states_do_not_disturb_one_another():
    """States visited in any order, across branches, answer as ones that were reached afresh.

    With one matcher that is rolled back, as llguidance 1.9.1 does it, ``,`` follows the -1 below.
    """
    kind = {"type": "integer"}
    schema = {"properties": {"end ": kind, "end": kind}, "additionalProperties": False}
    start = JsonSchemaGrammar({"type": "object", **schema}, "compact")
    fork = start.after(b'{"end')
    assert ord(",") in fork.after(b' ":-1').next_bytes()
    assert ord(",") not in fork.after(b'":-1').next_bytes()

    rng = random.Random(5)
    texts = [b'{"orderId":12,"orderName":"abc"}', '{"orderName":"é"}'.encode(), b'{"orderId":-1}']
    states = {
        text[:end]: JsonSchemaGrammar(ORDER).after(text[:end])
        for text in texts
        for end in range(len(text) + 1)
    }
    start = JsonSchemaGrammar(ORDER)
    shared = {b"": start}
    for text in sorted(states):
        if text:
            shared[text] = shared[text[:-1]].after(text[-1:])
    for text in rng.sample(sorted(states), len(states)):
        fresh, state = states[text], shared[text]
        state.viable(rng.choice(texts))
        assert state.next_bytes() == fresh.next_bytes()
        assert (state.forced(), state.complete) == (fresh.forced(), fresh.complete)


def sentences_of(values):
    return {compact_json(value) for value in values}


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"enum": ["on", "one", "once", 1, 12, None]}, ["on", "one", "once", 1, 12, None]),
        ({"type": "boolean"}, [True, False]),
        ({"type": "integer", "minimum": 3, "maximum": 12}, list(range(3, 13))),
        ({"const": {"é": ["è", {}]}}, [{"é": ["è", {}]}]),
        (
            {"type": "array", "items": {"enum": ["a", "ab"]}, "maxItems": 2},
            [list(a) for n in range(3) for a in itertools.product(["a", "ab"], repeat=n)],
        ),
        (
            {
                "type": "object",
                "properties": {"日": {"type": "null"}, "早": {"enum": [1, 10]}},
                "additionalProperties": False,
            },
            [{}, {"日": None}, *({**a, "早": n} for a in ({}, {"日": None}) for n in (1, 10))],
        ),
    ],
)
def test_a_finite_schema_is_its_sentences(schema, values):
    check_finite(JsonSchemaGrammar(schema, "compact"), sentences_of(values))


@pytest.mark.parametrize(
    "schema",
    [True, {"type": "string"}, {"type": "integer"}, {"type": "array", "items": {"const": 1}}],
)
def test_too_many_sentences_are_noticed(schema):
    assert JsonSchemaGrammar(schema, "compact").sentences(100) is None


@pytest.mark.parametrize(
    ("schema", "fault"),
    [
        (False, "false admits nothing"),
        ({"type": "strin"}, "Invalid type"),
        ({"not": {"type": "string"}}, "Unimplemented keys"),
        ({"type": "string", "pattern": "("}, "regex parse error"),
        ({"enum": []}, "Unsatisfiable"),
        ({"$ref": "#/nowhere"}, "nowhere"),
        ({"oneOf": [{"type": "object", "properties": {key: {}}} for key in "ab"]}, "oneOf"),
    ],
)
def test_a_schema_that_is_refused_is_one_line(schema, fault):
    with pytest.raises(GrammarError) as caught:
        JsonSchemaGrammar(schema)
    assert fault in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("mode", thorough_from(1, MODES))
def test_our_own_schemas_admit_their_instances(mode):
    cases = own_cases(mode)
    assert len(cases) >= 200
    assert [case.name for case in cases] == sorted({case.name for case in cases})
    assert len({json.dumps(case.schema) for case in cases}) == len(cases)
    for case in cases:
        jsonschema.Draft202012Validator.check_schema(case.schema)
        validator = jsonschema.Draft202012Validator(case.schema)
        start = JsonSchemaGrammar(case.schema, mode)
        assert case.instances
        for instance in case.instances:
            assert validator.is_valid(json.loads(instance)), (case.name, instance)
            assert start.after(instance).complete, (case.name, instance)


@pytest.mark.parametrize("mode", MODES)
def test_the_laws_along_walks(mode):
    for case in own_cases(mode)[::6]:
        start = JsonSchemaGrammar(case.schema, mode)
        check_walk(start, random.Random(case.name), 12)
        text = case.instances[0]
        for end in range(0, len(text), 17):
            check_state(start.after(text[:end]))
