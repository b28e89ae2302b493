"""Grammars against their definitions: finite languages, JSON Schemas, our own, and cuts of them."""

import copy
import itertools
import json
import random
from itertools import islice
from typing import get_args

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpora.grammars.base import GrammarError, alike
from corpora.grammars.corpus import compact_json, own_cases
from corpora.grammars.finite import FiniteLanguage, Unrestricted
from corpora.grammars.json_schema import JsonSchemaGrammar, Whitespace
from corpora.grammars.smaller import (
    PASSES,
    kindred,
    parts,
    removed,
    renamed,
    size,
    strings,
    without_nodes,
)
from tests.breadth import thorough_from

MODES = get_args(Whitespace)


def check_state(state):
    """The methods agree with one another, and the state is no dead end."""
    following = list(state.next_bytes())
    assert following == sorted(set(following))
    assert [b for b in range(256) if state.viable(bytes([b]))] == following
    assert state.viable(b"") and (state.complete or following), "a dead end"
    forced = state.forced()
    alone = following[:1] if len(following) == 1 and not state.complete else []
    assert list(forced[:1]) == alone
    if forced:
        assert state.viable(forced)
        assert state.after(forced[:1]).forced() == forced[1:]
        assert state.after(forced).forced() == b""
    missing = next((b for b in range(256) if b not in following), None)
    if missing is not None:
        with pytest.raises(ValueError):
            state.after(bytes([missing]))


def check_finite(grammar, sentences):
    """The grammar is that of these sentences: everything against the definitions, everywhere."""
    assert list(grammar.sentences(len(sentences)) or ()) == sorted(sentences)
    assert not sentences or grammar.sentences(len(sentences) - 1) is None
    for text in {sentence[:end] for sentence in sentences for end in range(len(sentence) + 1)}:
        state = grammar.after(text)
        rests = {s[len(text) :] for s in sentences if s.startswith(text)}
        assert state.complete == (b"" in rests)
        assert list(state.next_bytes()) == sorted({rest[0] for rest in rests if rest})
        shared = alike(min(rests), max(rests))
        assert state.forced() == min(rests)[:shared]
        assert set(state.sentences(len(rests)) or ()) == rests
        check_state(state)


@given(st.sets(st.text("abé😀", max_size=5).map(str.encode), max_size=8))
def test_a_finite_language_is_its_sentences(sentences):
    check_finite(FiniteLanguage(sentences), sentences)


def test_the_plainest_languages():
    empty = FiniteLanguage([])
    assert not empty.viable(b"") and not empty.complete
    assert empty.forced() == b"" and empty.next_bytes() == () and empty.sentences(0) == []
    with pytest.raises(ValueError):
        empty.after(b"")
    language = FiniteLanguage([b"ab1", b"cd1", b"ce"])
    assert {language.after(b"ab"), language.after(b"cd")} == {FiniteLanguage([b"1"])}
    anything = Unrestricted()
    assert anything.complete and anything.forced() == b"" and anything.sentences(10**9) is None
    check_state(anything.after(b"\xff\x00"))


# JSON Schemas

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-99, 999), st.text("aé😀", max_size=3)),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab"), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=12)
@given(st.lists(VALUES, min_size=1, max_size=5))
def test_a_schema_of_few_values_is_its_sentences(values):
    sentences = {compact_json(value) for value in values}
    check_finite(JsonSchemaGrammar({"enum": values}, "compact"), sentences)


PAIRS = {"properties": {"日": {"type": "null"}, "早": {"enum": [1, 10]}}}
WITHOUT = [{}, {"日": None}]


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"type": "integer", "minimum": 3, "maximum": 12}, list(range(3, 13))),
        (
            {"type": "array", "items": {"enum": ["a", "ab"]}, "maxItems": 2},
            [list(a) for n in range(3) for a in itertools.product(["a", "ab"], repeat=n)],
        ),
        (
            {"type": "object", **PAIRS, "additionalProperties": False},
            [*WITHOUT, *({**one, "早": n} for one in WITHOUT for n in (1, 10))],
        ),
    ],
)
def test_a_finite_schema_is_its_sentences(schema, values):
    check_finite(JsonSchemaGrammar(schema, "compact"), {*map(compact_json, values)})


ORDER = {
    "type": "object",
    "properties": {"orderId": {"type": "integer"}, "orderName": {"enum": ["é", "è", "ab", "abc"]}},
    "additionalProperties": False,
}


def test_white_space_and_infinite_languages():
    compact, flexible = (JsonSchemaGrammar(ORDER, mode) for mode in ("compact", "flexible"))
    assert compact.after(b'{"orderId').forced() == b'":'
    assert flexible.after(b'{"orderId').forced() == b'"'
    assert flexible.viable(b'{ "orderId"\n:\t12 ,') and not compact.viable(b'{"orderId": ')
    assert compact.sentences(100) is None


def test_states_do_not_disturb_one_another():
    """With one matcher that is rolled back, as llguidance 1.9.1 does it, ``,`` follows the -1."""
    kind = {"type": "integer"}
    schema = {"properties": {"end ": kind, "end": kind}, "additionalProperties": False}
    fork = JsonSchemaGrammar({"type": "object", **schema}, "compact").after(b'{"end')
    assert ord(",") in fork.after(b' ":-1').next_bytes()
    assert ord(",") not in fork.after(b'":-1').next_bytes()


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
    assert len({json.dumps(case.schema) for case in cases}) == len(cases) >= 200
    assert [case.name for case in cases] == sorted({case.name for case in cases})
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
        start, rng = JsonSchemaGrammar(case.schema, mode), random.Random(case.name)
        state, text = start, b""
        while following := len(text) < 12 and state.next_bytes():
            check_state(state)
            step = bytes([rng.choice(following)])
            state, text = state.after(step), text + step
        assert start.viable(text)
        for end in range(0, len(case.instances[0]), 17):
            check_state(start.after(case.instances[0][:end]))


# Cuts of schemas with their values: smaller, in step, and the right ones among them

SCHEMA = {
    "$defs": {"n": {"type": "integer"}},
    "title": "order",
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/n"}},
        "kind": {"enum": ["on", "once"], "description": "when"},
    },
    "required": ["title", "kind"],
}
VALUE = {"title": "a", "lines": [1, 2], "kind": "on"}


def admitted(schema, value):
    try:
        grammar = JsonSchemaGrammar(schema, "compact")
        return grammar.after(compact_json(value)).complete
    except ValueError:  # GrammarError among them
        return False


def test_every_cut_leaves_its_origin_alone_and_some_fit():
    fits = 0
    for case in own_cases("compact")[::20]:
        pair = case.schema, json.loads(case.instances[0])
        before = copy.deepcopy(pair)
        for tried in PASSES:
            cuts = list(islice(tried(pair), 30))
            fits += any(size(one) < size(pair) and admitted(*one) for one in cuts)
        assert pair == before
    assert fits > 20


def test_parts_stand_with_their_schemas():
    found = list(parts((SCHEMA, VALUE)))
    assert ({"type": "string"}, "a") in found
    lines = next(one for one in found if one[1] == [1, 2])
    item = next(one for one in parts(lines) if one[1] == 1)
    assert ({"type": "integer"}, 1) in list(parts(item))
    assert all(admitted(*one) for one in [*found, *parts(lines)])
    # A reference to itself ends.
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {}]}}}
    assert len(list(parts((schema, 1)))) == 4


def test_members_and_alternatives_go():
    found = [schema for schema, _ in without_nodes((SCHEMA, VALUE))]
    assert removed(SCHEMA, ("properties", "kind", "enum", 0)) in found
    either = {"minLength": 1, "anyOf": [{"type": "string"}, {"type": "null"}]}
    assert ({"minLength": 1, "type": "string"}, "a") in list(without_nodes((either, "a")))
    assert ({"type": "null"}, 1) in list(without_nodes(({"type": ["null", "integer"]}, 1)))


def test_strings_are_renamed_wherever_they_stand():
    schema = {"type": "object", "properties": {"a": {"const": "ab"}}, "required": ["a"]}
    changed = {"type": "object", "properties": {"t": {"const": ""}}, "required": ["t"]}
    assert renamed(schema, {"a": "t", "ab": ""}) == changed
    assert strings((SCHEMA, VALUE))[:2] == ["title", "lines"]
    # Strings with one beginning change together.
    pair = {"enum": ["to be", "to be sure", "not to be"]}, "to be"
    assert kindred(pair, "to be", "be") == {"to be": "be", "to be sure": "be sure"}
    assert kindred(pair, "to be sure", "to be sur") == {"to be sure": "to be sur"}
