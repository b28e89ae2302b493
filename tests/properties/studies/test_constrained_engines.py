"""Whole engines as policies of ``tokgate forced``: planted ones are told apart, real ones walk."""

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from corpora.grammars.json_schema import JsonSchemaGrammar
from corpora.vocabularies.sources import resolve
from harness.engine.selection import SelectionError
from harness.studies.forced.policies import ENGINES, Policies, named
from harness.studies.forced.walk import Walk
from impls.constrained import MOST_FORCED, only_ways

FILE = Path(__file__).parents[2] / "doubles" / "constrained_engines.py"
SCHEMA = {
    "type": "object",
    "properties": {"identifier": {"type": "integer"}, "description": {"type": "string"}},
    "required": ["identifier", "description"],
    "additionalProperties": False,
}
TEXT = json.dumps({"identifier": 12, "description": "a word"}, separators=(",", ":")).encode()


@cache
def policies_of(vocabulary):
    return Policies(resolve(vocabulary))


def tally(spec, vocabulary="tekken_240911"):
    """What a walk of one instance counts of a policy."""
    policies = policies_of(vocabulary)
    made = policies.of_schema(["exact", spec], SCHEMA, "compact")
    walk = Walk(policies.tokenizer, JsonSchemaGrammar(SCHEMA, "compact"), made, "schema")
    walk.instance(TEXT)
    return walk.finished().tallies[spec]


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("Right", set()),
        ("Lacking", {"not_admitted"}),
        ("ByteWise", {"non_canonical"}),
        ("Outside", {"outside_mask"}),
    ],
)
def test_each_mistake_is_named(name, wrong):
    counted = tally(f"{FILE}:{name}")
    faults = ("not_admitted", "outside_mask", "non_canonical", "gave_up")
    assert {fault for fault in faults if getattr(counted, fault)} == wrong
    assert (counted.forced_tokens > 0) == (name != "Outside")


def test_tokens_without_an_alternative():
    ways = {0: [5], 1: [6], 2: [7, 8]}
    assert only_ways(0, ways.__getitem__, lambda state, one: state + 1) == [5, 6]
    assert len(only_ways(0, lambda state: [1], lambda state, one: state)) == MOST_FORCED


def test_what_is_not_installed_and_what_neither_heals_nor_constrains_are_named(
    monkeypatch, tmp_path
):
    monkeypatch.setattr("harness.studies.forced.policies.find_spec", lambda name: None)
    for name in ENGINES:
        with pytest.raises(SelectionError, match=r"pip install 'tokgate\[engines\]'"):
            named([name], resolve("toy_bytes"))
    (tmp_path / "other.py").write_text(
        "from tests.doubles.constrained_engines import Right\n"
        "from impls.interface import About\n"
        "class Mine(Right):\n    about = About('mine', '1')\n"
    )
    with pytest.raises(SelectionError, match="neither the capability 'heal' nor 'constrain'"):
        named([f"{tmp_path}/other.py:Mine"])


@pytest.mark.thorough  # indexes of regular expressions
@pytest.mark.parametrize("name", ENGINES)
def test_real_engines(name):
    if find_spec(ENGINES[name][0]) is None:
        pytest.skip(f"{name} is not installed: the extra 'engines'")
    counted = tally(name, "toy_bytes")
    assert (counted.gave_up, counted.outside_mask) == (0, 0)
