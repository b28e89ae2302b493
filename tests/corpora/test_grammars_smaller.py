"""Cuts of schemas with their values: smaller, in step, and the right ones among them."""

import copy
import json
from itertools import islice

from corpora.grammars.corpus import compact_json, own_cases
from corpora.grammars.json_schema import JsonSchemaGrammar
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

ORDER = {
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


def test_parts_stand_with_their_schemas():
    found = list(parts((ORDER, VALUE)))
    assert ({"type": "string"}, "a") in found
    lines = next(one for one in found if one[1] == [1, 2])
    item = next(one for one in parts(lines) if one[1] == 1)
    assert ({"type": "integer"}, 1) in list(parts(item))
    for schema, value in [*found, *parts(lines)]:
        assert admitted(schema, value)


def test_a_reference_to_itself_ends():
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {}]}}}
    assert len(list(parts((schema, 1)))) == 4


def test_members_and_alternatives_go():
    found = [schema for schema, _ in without_nodes((ORDER, VALUE))]
    assert removed(ORDER, ("properties", "kind", "enum", 0)) in found
    either = {"minLength": 1, "anyOf": [{"type": "string"}, {"type": "null"}]}
    assert ({"minLength": 1, "type": "string"}, "a") in list(without_nodes((either, "a")))
    assert ({"type": "null"}, 1) in list(without_nodes(({"type": ["null", "integer"]}, 1)))


def test_every_cut_leaves_its_origin_alone_and_some_fit():
    fits = 0
    for case in own_cases("compact")[::20]:
        pair = case.schema, json.loads(case.instances[0])
        before = copy.deepcopy(pair)
        for tried in PASSES:
            fits += any(
                size(one) < size(pair) and admitted(*one) for one in islice(tried(pair), 30)
            )
        assert pair == before
    assert fits > 20


def test_strings_are_renamed_wherever_they_stand():
    schema = {"type": "object", "properties": {"a": {"const": "ab"}}, "required": ["a"]}
    assert renamed(schema, {"a": "t", "ab": ""}) == {
        "type": "object", "properties": {"t": {"const": ""}}, "required": ["t"],
    }  # fmt: skip
    assert strings((ORDER, VALUE))[:2] == ["title", "lines"]


def test_strings_with_one_beginning_change_together():
    pair = {"enum": ["to be", "to be sure", "not to be"]}, "to be"
    assert kindred(pair, "to be", "be") == {"to be": "be", "to be sure": "be sure"}
    assert kindred(pair, "to be sure", "to be sur") == {"to be sure": "to be sur"}
