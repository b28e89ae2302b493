"""JSON Schemas of our own with instances: small, varied, and mean to tokenizers.

Each template makes schemas of one kind, and a number decides which: all are pure functions.
What they are for is where forced bytes end: at the point where sibling keys or values part, after
values that may end or go on, inside a character, inside an escape, after white space.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from corpora.grammars import own_words as words
from corpora.grammars.corpus import SchemaCase, compact_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from corpora.grammars.json_schema import Whitespace

EACH = 12
"""Schemas a template makes."""

Schema = dict[str, Any]
Made = tuple[Schema, list[Any]]
"""A schema, and values that it admits, with the keys of objects in the schema's order."""

VALUES: tuple[tuple[Schema, tuple[Any, ...]], ...] = (
    ({"type": "integer"}, (0, 7, -12, 1234567890)),
    ({"type": "number"}, (0.5, -3, 1e21, 12.25)),
    ({"type": "boolean"}, (True, False)),
    ({"type": "string"}, ("", "x", 'Zoë said "1"', "日本 1")),
    ({"type": "null"}, (None,)),
    ({"type": ["integer", "null"]}, (None, 10)),
    ({"type": "integer", "minimum": 10, "maximum": 199}, (10, 42, 199)),
    ({"enum": ["on", "one", "once"]}, ("on", "one", "once")),
    ({"type": "array", "items": {"type": "integer"}}, ([], [1], [10, 100, 1000])),
    ({"type": "string", "maxLength": 4}, ("", "abcd", "é")),
)
"""Schemas of values, and some of theirs."""


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of schema. make: from the number of the schema and a random state of its own."""

    name: str
    make: Callable[[int, random.Random], Made]

    def case(self, number: int, whitespace: Whitespace) -> SchemaCase:
        """The schema of a number, its instances written as the white space mode allows."""
        schema, values = self.make(number, random.Random(f"{self.name}/{number}"))
        texts = [compact_json(value) for value in values]
        if whitespace == "flexible":
            texts += [_spaced(value, number) for value in values]
        return SchemaCase(f"{self.name}-{number:02}", schema, tuple(dict.fromkeys(texts)))


def own_cases(whitespace: Whitespace) -> tuple[SchemaCase, ...]:
    """All schemas of our own, sorted by name, with instances that the white space mode admits.

    Those for "flexible" are the compact texts and spaced ones; the schemas are the same.
    """
    return _own_cases(whitespace)


@cache
def _own_cases(whitespace: Whitespace) -> tuple[SchemaCase, ...]:
    cases = [each.case(number, whitespace) for each in TEMPLATES for number in range(EACH)]
    return tuple(sorted(cases, key=lambda case: case.name))


def _spaced(value: Any, number: int) -> bytes:
    """JSON with white space between its parts: spaces, lines or tabs, by the number."""
    indent = (None, 2, "\t")[number % 3]
    return json.dumps(value, ensure_ascii=False, indent=indent).encode()


def closed(properties: Schema, required: Sequence[str] | None = None) -> Schema:
    """An object with these keys and no others; all required unless said otherwise."""
    keys = list(properties) if required is None else list(required)
    return {
        "type": "object",
        "properties": properties,
        "required": keys,
        "additionalProperties": False,
    }


def one_of(choices: Sequence[Any], number: int) -> Made:
    """An enum where enums stand: alone, under a key, in an array, as keys, next to an integer."""
    enum: Schema = {"enum": list(choices)}
    match number % 5:
        case 0:
            return closed({"value": enum}), [{"value": choice} for choice in choices]
        case 1:
            items = {"type": "array", "items": enum, "minItems": 1, "maxItems": 3}
            return items, [list(choices[:3]), [choices[-1]]]
        case 2:
            keys = closed({str(choice): {"type": "integer"} for choice in choices}, ())
            first, last = str(choices[0]), str(choices[-1])
            return keys, [{}, {first: 1, last: 22}, {last: 333}]
        case 3:
            return enum, list(choices)
        case _:
            pair = closed({"a": enum, "n": {"type": "integer"}, "b": enum}, ("a", "b"))
            first, last = choices[0], choices[-1]
            return pair, [{"a": first, "n": 5, "b": last}, {"a": last, "b": first}]


def enums(lists: Sequence[Sequence[Any]]) -> Callable[[int, random.Random], Made]:
    """A template of enums of these choices."""
    return lambda number, rng: one_of(lists[number % len(lists)], number)


def optional_keys(number: int, rng: random.Random) -> Made:
    """Optional keys that begin alike, with values of any kind; some objects are open to others."""
    keys = words.STEMS[number]
    drawn = {key: rng.choice(VALUES) for key in keys}
    schema = closed({key: kind for key, (kind, _) in drawn.items()}, ())
    if number % 4 == 3:
        schema["additionalProperties"] = {"type": "integer"}
    values: list[Any] = [{}]
    for size in (1, 2, len(keys)):
        chosen = set(rng.sample(keys, size))
        values.append({key: rng.choice(drawn[key][1]) for key in keys if key in chosen})
    return schema, values


def required_keys(number: int, rng: random.Random) -> Made:
    """Required keys that begin alike, so that long stretches are forced between the values."""
    keys = words.STEMS[-1 - number]
    drawn = {key: rng.choice(VALUES) for key in keys}
    optional = rng.choice(keys)
    schema = closed(
        {key: kind for key, (kind, _) in drawn.items()}, [key for key in keys if key != optional]
    )
    full = [{key: rng.choice(drawn[key][1]) for key in keys} for _ in range(2)]
    return schema, [*full, {key: value for key, value in full[0].items() if key != optional}]


def numbers(number: int, rng: random.Random) -> Made:
    """Numbers of which one begins the other, after white space where that is flexible."""
    if number % 3 == 0:
        tens = [10**k for k in range(3 + number // 3)]
        return closed({"count": {"enum": tens}, "of": {"enum": [-1, -12, 1, 12]}}), [
            {"count": tens[-1], "of": -12},
            {"count": 1, "of": 12},
        ]
    if number % 3 == 1:
        low, high = rng.randrange(100), rng.randrange(100, 100_000)
        bounds = {"type": "integer", "minimum": low, "maximum": high}
        return {"type": "array", "items": bounds}, [[low, high, (low + high) // 2], [high], []]
    year = {"type": "integer", "minimum": 1990, "maximum": 2000 + number}
    ratio = {"type": "number", "minimum": 0, "maximum": 1}
    const = rng.randrange(10**9)
    return closed({"year": year, "ratio": ratio, "n": {"const": const}}), [
        {"year": 1999, "ratio": 0.25, "n": const},
        {"year": 2000 + number, "ratio": 1, "n": const},
    ]


def nested(number: int, rng: random.Random) -> Made:
    """Arrays and objects inside one another, closed together by runs of brackets."""
    schema, leaves = rng.choice(VALUES)
    value: Any = rng.choice(leaves)
    shorter: Any = rng.choice(leaves)
    for depth in range(2 + number % 5):
        keys = words.STEMS[(number + depth) % len(words.STEMS)]
        if (number >> depth) & 1:
            schema = {"type": "array", "items": schema, "minItems": 1, "maxItems": 2 + depth}
            value, shorter = [value, shorter], [shorter]
        else:
            schema = closed({keys[0]: schema, keys[1]: {"type": "boolean"}}, (keys[0],))
            value, shorter = {keys[0]: value, keys[1]: True}, {keys[0]: shorter}
    return schema, [value, shorter]


def consts(number: int, rng: random.Random) -> Made:
    """One value only, long or short: everything is forced."""
    stem = words.STEMS[number]
    const = (
        f"{stem[0]} of {stem[1]}",
        [1, 10, [100, []], {}],
        {stem[0]: {stem[1]: [True, None, False]}, stem[2]: "1.50"},
        rng.randrange(2**53),  # llguidance reads numbers as doubles
        None,
        " ".join(words.LONG[number]),
    )[number % 6]
    optional = closed({"const": {"const": const}, "constant": {"const": True}}, ("constant",))
    if number < 6:
        return {"const": const}, [const]
    return optional, [{"constant": True}, {"const": const, "constant": True}]


def tagged(number: int, rng: random.Random) -> Made:
    """Alternatives with a tag that begins another's, and fields that differ."""
    tags = words.CHAINS[number][-3:]
    keys = words.STEMS[number]
    branches, values = [], []
    for tag, key in zip(tags, keys, strict=False):
        kind, leaves = rng.choice(VALUES)
        branches.append(closed({"type": {"const": tag}, key: kind}))
        values.append({"type": tag, key: rng.choice(leaves)})
    return {"anyOf": branches}, values


def tool_call(number: int, rng: random.Random) -> Made:
    """Calls of tools with like names, as models are asked to write them."""
    verb, noun = (
        ("get", "list", "create", "find")[number % 4],
        ("weather", "order", "user")[number % 3],
    )
    names = [f"{verb}_{noun}", f"{verb}_{noun}s", f"{verb}_{noun}_by_id", f"{verb}_{noun}_forecast"]
    branches, values = [], []
    for name in names[: 2 + number % 3]:
        key = rng.choice(words.STEMS)[0]
        kind, leaves = rng.choice(VALUES)
        arguments = closed({key: kind, "limit": {"type": "integer"}}, (key,))
        branches.append(closed({"name": {"const": name}, "arguments": arguments}))
        values.append({"name": name, "arguments": {key: rng.choice(leaves), "limit": 10}})
    return {"type": "array", "items": {"anyOf": branches}, "minItems": 1}, [values, values[-1:]]


def patterns(number: int, rng: random.Random) -> Made:
    """Strings of a pattern with a fixed beginning, middle or end."""
    pattern, *texts = (
        (r"^ORD-[0-9]{4}$", "ORD-0001", "ORD-9999"),
        (r"^https://example\.(com|org)/$", "https://example.com/", "https://example.org/"),
        (r"^[A-Z]{2}-(alpha|alphabet)$", "DE-alpha", "FR-alphabet"),
        (r"^v[0-9]+\.[0-9]+$", "v1.0", "v12.34"),
        (r"^(foo|foobar|foobarbaz)+$", "foofoobar", "foobarbaz"),
        (r"^#[0-9a-f]{6}$", "#00ff7f", "#123456"),
        (r"^user:[a-z]+@example$", "user:a@example", "user:zoe@example"),
        (r"^(é|è){1,3}$", "é", "èéè"),
        (r"^sha256:(00|ff){4}$", "sha256:00ff00ff", "sha256:ffffffff"),
        (r"^20[0-9]{2}-(0[1-9]|1[0-2])$", "2024-01", "2099-12"),
        (r"^a*b$", "b", "aaaaab"),
        (r"^ {2,8}x$", "  x", "        x"),
    )[number]
    key = rng.choice(words.STEMS[number])
    schema = closed({key: {"type": "string", "pattern": pattern}, "ok": {"const": True}}, (key,))
    return schema, [{key: texts[0]}, {key: texts[1], "ok": True}]


def tuples(number: int, rng: random.Random) -> Made:
    """Arrays of a fixed length whose places have choices of their own."""
    places = [rng.choice((*words.CHAINS, *words.CUTS, *words.RUNS)) for _ in range(2 + number % 3)]
    schema = {
        "type": "array",
        "prefixItems": [{"enum": list(place)} for place in places],
        "minItems": len(places),
        "items": False,
    }
    return schema, [[place[k % len(place)] for place in places] for k in range(3)]


def recursive(number: int, rng: random.Random) -> Made:
    """A tree by reference to itself."""
    keys = words.STEMS[number]
    kind, leaves = rng.choice(VALUES)
    node = closed(
        {keys[0]: kind, keys[1]: {"type": "array", "items": {"$ref": "#/$defs/node"}}}, (keys[0],)
    )
    leaf = {keys[0]: rng.choice(leaves)}
    tree = {keys[0]: rng.choice(leaves), keys[1]: [leaf, {**leaf, keys[1]: []}]}
    return {"$ref": "#/$defs/node", "$defs": {"node": node}}, [leaf, tree]


def record(number: int, rng: random.Random) -> Made:
    """A record as interfaces have them: identity, dates, choices, lists of parts."""
    chain, cut = words.CHAINS[number], words.CUTS[number]
    part = closed(
        {
            "sku": {"type": "string", "pattern": "^[A-Z]{3}-[0-9]+$"},
            "quantity": {"type": "integer", "minimum": 1},
        }
    )
    properties: Schema = {
        "$id": {"type": "string"},
        "date": {"type": "string", "format": "date"},
        "dateModified": {"type": "string", "format": "date-time"},
        "category": {"enum": list(chain)},
        "category_label": {"enum": list(cut)},
        "parts": {"type": "array", "items": part, "maxItems": 4},
        words.LONG[number][0]: {"type": "boolean"},
    }
    keys = list(properties)
    schema = closed(properties, rng.sample(keys, 3))
    value = {
        "$id": f"urn:{number}",
        "date": f"2024-0{1 + number % 9}-29",
        "dateModified": "2024-02-29T23:59:59Z",
        "category": rng.choice(chain),
        "category_label": rng.choice(cut),
        "parts": [{"sku": "ABC-1", "quantity": 1}, {"sku": "XYZ-20", "quantity": 300}],
        keys[-1]: True,
    }
    least = {key: value[key] for key in keys if key in schema["required"]}
    return schema, [value, least]


TEMPLATES: tuple[Template, ...] = (
    Template("optional-keys", optional_keys),
    Template("required-keys", required_keys),
    Template("enum-chains", enums(words.CHAINS)),
    Template("inside-characters", enums(words.CUTS)),
    Template("long-words", enums(words.LONG)),
    Template("emoji", enums(words.EMOJI)),
    Template("escapes", enums(words.ESCAPES)),
    Template("white-space", enums(words.SPACES)),
    Template("contractions", enums(words.CONTRACTIONS)),
    Template("runs", enums(words.RUNS)),
    Template("numbers", numbers),
    Template("nested", nested),
    Template("consts", consts),
    Template("tagged", tagged),
    Template("tool-calls", tool_call),
    Template("patterns", patterns),
    Template("tuples", tuples),
    Template("recursive", recursive),
    Template("records", record),
)
"""All kinds; each makes :data:`EACH` schemas."""
