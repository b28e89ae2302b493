"""Smaller schemas, each with an instance made smaller alike: what a minimiser tries.

A schema and a value that it admits are cut down together, so that most of what comes out still
fits. Nothing is promised: whoever tries a pair asks the grammar. Each function yields the largest
cuts first.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from corpora.grammars.corpus import compact_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Json = Any
Path = tuple[str | int, ...]
Pair = tuple[Json, Json]
"""A schema, and a value."""

DEFINITIONS = ("$defs", "definitions")

MOST_PARTS = 400
"""Parts of a value that are looked at with their schemas: large documents repeat themselves."""

WORDS = frozenset((*DEFINITIONS, "properties", "required"))
"""Keys whose own cuts keep the value in step, and so are not taken out as they are."""

NOTES = frozenset(
    ("$schema", "$id", "id", "$comment", "title", "description", "default", "examples",
     "deprecated", "readOnly", "writeOnly")
)  # fmt: skip
"""Keywords that admit and refuse nothing."""

SPELLED = frozenset(("required", "enum", "const"))
"""Keywords below which strings are names and values."""

SIMPLEST: tuple[Json, ...] = (0, "", None, {}, [])
"""Values that nearly every schema of their type admits."""


def size(pair: Pair) -> int:
    """Bytes of both as compact JSON."""
    return sum(len(compact_json(one)) for one in pair)


def without_notes(pair: Pair) -> Iterator[Pair]:
    """The schema without the keywords that decide nothing."""

    def plain(node: Json, named: bool) -> Json:
        if isinstance(node, list):
            return [plain(one, False) for one in node]
        if not isinstance(node, dict):
            return node
        # What stands below "properties" are names, not keywords.
        kept = {key: one for key, one in node.items() if named or key not in NOTES}
        return {key: plain(one, key == "properties") for key, one in kept.items()}

    yield plain(pair[0], False), pair[1]


def inner(pair: Pair) -> Iterator[Pair]:
    """Parts of the value, each with its own schema, the smallest first."""
    schema, value = pair
    found = []
    for where, place in aligned(schema, value):
        part = at(schema, where)
        if not place and not where:
            continue
        if isinstance(part, dict) and '"$ref"' in json.dumps(part):
            part = {**part, **{name: schema[name] for name in DEFINITIONS if name in schema}}
        found.append((part, at(value, place)))
    yield from sorted(found, key=size)


def without_names(pair: Pair) -> Iterator[Pair]:
    """Some property names taken out everywhere: half of them, a quarter, down to each one."""
    schema, value = pair
    names = list(dict.fromkeys(_property_names(schema)))
    count = len(names)
    while count:
        for start in range(0, len(names), count):
            gone = frozenset(names[start : start + count])
            yield _schema_without(schema, gone), _value_without(value, gone)
        count //= 2


def simpler_parts(pair: Pair) -> Iterator[Pair]:
    """A part of the value made 0, and its schema one that admits everything."""
    schema, value = pair
    for where, place in aligned(schema, value):
        if where and at(schema, where) != {}:
            yield replaced(schema, where, {}), replaced(value, place, 0)
            yield replaced(schema, where, {}), value


def without_nodes(pair: Pair) -> Iterator[Pair]:
    """The schema without one member or item, wherever it stands; with one member in its place."""
    schema, value = pair
    places = sorted(_places(schema), key=lambda place: -len(compact_json(at(schema, place))))
    for place in places:
        if place[-1] not in WORDS or not at(schema, place):
            yield removed(schema, place), value
        node = at(schema, place)
        if isinstance(node, list) and place[-1] in ("anyOf", "oneOf", "allOf", "type"):
            for one in node:
                if place[-1] == "type":
                    yield replaced(schema, place, one), value
                elif isinstance(one, dict):
                    around = at(schema, place[:-1])
                    plain = {key: kept for key, kept in around.items() if key != place[-1]}
                    yield replaced(schema, place[:-1], {**plain, **one}), value


def smaller_values(pair: Pair) -> Iterator[Pair]:
    """The same schema; of the value one part is taken out, or made as simple as its kind can be."""
    schema, value = pair
    places = sorted(_places(value), key=lambda place: -len(compact_json(at(value, place))))
    for place in places:
        yield schema, removed(value, place)
    for place in [(), *places]:
        for simple in SIMPLEST:
            yield schema, replaced(value, place, simple)


PASSES: tuple[Callable[[Pair], Iterator[Pair]], ...] = (
    without_notes, inner, without_names, simpler_parts, without_nodes, smaller_values,
)  # fmt: skip
"""The passes, in the order in which they are best tried."""


def strings(pair: Pair) -> list[str]:
    """Property names, and strings that a schema or its value spell out; the longest first."""
    found: dict[str, None] = dict.fromkeys(_property_names(pair[0]))
    for node in _nodes(pair[0]):
        if isinstance(node, dict):
            written = [node.get("const"), *(node.get("enum") or ())]
            found.update((one, None) for one in written if isinstance(one, str))
    for node in _nodes(pair[1]):
        if isinstance(node, str):
            found[node] = None
    return sorted(found, key=lambda one: -len(one))


def kindred(pair: Pair, old: str, new: str) -> dict[str, str]:
    """What becomes of the strings that begin like ``old`` if all are changed as it is.

    ``old`` and ``new`` differ in one place; the others with the same beginning, up to the end of
    that place, are changed there, too.
    """
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    after = 0
    while after < min(len(old), len(new)) - same and old[-1 - after] == new[-1 - after]:
        after += 1
    beginning, put = old[: len(old) - after], new[: len(new) - after]
    return {one: put + one[len(beginning) :] for one in strings(pair) if one.startswith(beginning)}


def renamed(pair: Pair, names: Mapping[str, str]) -> Pair | None:
    """Other spellings of names and whole strings; None where two properties would be one."""
    known = set(_property_names(pair[0]))
    if len({names.get(name, name) for name in known}) < len(known):
        return None

    def value(node: Json) -> Json:
        if isinstance(node, dict):
            return {names.get(key, key): value(one) for key, one in node.items()}
        if isinstance(node, list):
            return [value(one) for one in node]
        return names.get(node, node) if isinstance(node, str) else node

    def schema(node: Json) -> Json:
        if isinstance(node, list):
            return [schema(one) for one in node]
        if not isinstance(node, dict):
            return node
        found: dict[str, Json] = {}
        for key, one in node.items():
            if key == "properties" and isinstance(one, dict):
                found[key] = {names.get(name, name): schema(node) for name, node in one.items()}
            else:
                found[key] = (value if key in SPELLED else schema)(one)
        return found

    return schema(pair[0]), value(pair[1])


def aligned(schema: Json, value: Json) -> Iterator[tuple[Path, Path]]:
    """Where the schemas of parts of the value stand, and where the parts: the outer ones first.

    Follows properties, items, alternatives and references within the schema.
    """
    seen: set[tuple[Path, Path]] = set()
    waiting: list[tuple[Path, Path]] = [((), ())]
    while waiting and len(seen) < MOST_PARTS:
        where, place = waiting.pop(0)
        if (where, place) in seen:
            continue
        seen.add((where, place))
        yield where, place
        node = at(schema, where)
        if isinstance(node, dict):
            waiting += _below(schema, node, where, at(value, place), place)


def _below(
    schema: Json, node: dict[str, Json], where: Path, part: Json, place: Path
) -> Iterator[tuple[Path, Path]]:
    target = _pointer(schema, node.get("$ref"))
    if target is not None:
        yield target, place
    for key in ("anyOf", "oneOf", "allOf"):
        for index in range(len(_list(node.get(key)))):
            yield (*where, key, index), place
    if isinstance(part, dict):
        known = node.get("properties")
        known = known if isinstance(known, dict) else {}
        for key in part:
            if key in known:
                yield (*where, "properties", key), (*place, key)
            elif isinstance(node.get("additionalProperties"), dict):
                yield (*where, "additionalProperties"), (*place, key)
    if isinstance(part, list):
        first = len(_list(node.get("prefixItems")))
        for index in range(len(part)):
            if index < first:
                yield (*where, "prefixItems", index), (*place, index)
            elif isinstance(node.get("items"), dict):
                yield (*where, "items"), (*place, index)


def _list(node: Json) -> Sequence[Json]:
    return node if isinstance(node, list) else ()


def _pointer(schema: Json, reference: Json) -> Path | None:
    """The place that a reference within the schema names, if it is there."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    place = tuple(part.replace("~1", "/").replace("~0", "~") for part in reference[2:].split("/"))
    node = schema
    for part in place:
        if not isinstance(node, dict) or part not in node:
            return None
        node = node[part]
    return place


def at(tree: Json, place: Path) -> Json:
    """The node at a place."""
    for step in place:
        tree = tree[step]
    return tree


def replaced(tree: Json, place: Path, node: Json) -> Json:
    """The tree with another node at a place."""
    if not place:
        return node
    step, rest = place[0], place[1:]
    if isinstance(tree, dict):
        return {key: replaced(one, rest, node) if key == step else one for key, one in tree.items()}
    return [replaced(one, rest, node) if key == step else one for key, one in enumerate(tree)]


def removed(tree: Json, place: Path) -> Json:
    """The tree without the node at a place, which is not the root."""
    *above, last = place
    around = at(tree, tuple(above))
    if isinstance(around, dict):
        kept: Json = {key: one for key, one in around.items() if key != last}
    else:
        kept = [one for key, one in enumerate(around) if key != last]
    return replaced(tree, tuple(above), kept)


def _places(tree: Json, place: Path = ()) -> Iterator[Path]:
    """Where the nodes of a tree stand, but for the root."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(_list(tree))
    for key, one in pairs:
        yield (*place, key)
        yield from _places(one, (*place, key))


def _nodes(tree: Json) -> Iterator[Json]:
    yield tree
    for place in _places(tree):
        yield at(tree, place)


def _property_names(schema: Json) -> Iterator[str]:
    for node in _nodes(schema):
        if isinstance(node, dict) and isinstance(node.get("properties"), dict):
            yield from node["properties"]


def _schema_without(schema: Json, gone: frozenset[str]) -> Json:
    """Without properties of these names, required ones among them."""
    if isinstance(schema, list):
        return [_schema_without(one, gone) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found: dict[str, Json] = {}
    for key, one in schema.items():
        if key == "properties" and isinstance(one, dict):
            one = {name: kept for name, kept in one.items() if name not in gone}
        elif key == "required" and isinstance(one, list):
            one = [name for name in one if name not in gone]
        found[key] = _schema_without(one, gone)
    return found


def _value_without(value: Json, gone: frozenset[str]) -> Json:
    """Without members of these names, at any depth."""
    if isinstance(value, list):
        return [_value_without(one, gone) for one in value]
    if isinstance(value, dict):
        return {key: _value_without(one, gone) for key, one in value.items() if key not in gone}
    return value
