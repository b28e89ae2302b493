"""Smaller schemas, each with an instance made smaller alike: what a minimiser tries.

A schema and a value that it admits are cut down together, so that most of what comes out still
fits. Nothing is promised: whoever tries a pair asks the grammar. Each function yields the largest
cuts first.
"""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING, Any

from corpora.grammars.base import alike
from corpora.grammars.corpus import compact_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Json = Any
Path = tuple[str | int, ...]
Pair = tuple[Json, Json]
"""A schema, and a value."""

DEFINITIONS = ("$defs", "definitions")

ALTERNATIVES = ("anyOf", "oneOf", "allOf")

SIMPLEST: tuple[Json, ...] = (0, "", None, {}, [])
"""Values that nearly every schema of their type admits."""


def size(pair: Pair) -> int:
    """Bytes of both as compact JSON."""
    return sum(len(compact_json(one)) for one in pair)


def parts(pair: Pair) -> Iterator[Pair]:
    """Parts of the value, each with its own schema, the smallest first.

    The parts of these come in their turn, where one of these is taken.
    """
    root, value = pair
    found: list[Pair] = []
    for node in _readings(root):
        found.append((node, value))
        kind, rest = "properties", "additionalProperties"
        if isinstance(value, list):
            kind, rest = "prefixItems", "items"
        known = dict(_members(node.get(kind)))
        found += [(known.get(key, node.get(rest)), one) for key, one in _members(value)]
    definitions = {name: root[name] for name in DEFINITIONS if name in root} if found else {}
    for part, one in sorted(found, key=size):
        if isinstance(part, dict):
            whole = {**part, **definitions} if '"$ref"' in json.dumps(part) else part
            yield whole, one


def _readings(root: Json) -> list[dict[str, Json]]:
    """The schemas of a value: its own, their alternatives, and those within it that they name."""
    found: list[dict[str, Json]] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict) or node in found:
            continue
        found.append(node)
        waiting += (one for name in ALTERNATIVES for one in _list(node.get(name)))
        if isinstance(reference := node.get("$ref"), str) and reference.startswith("#/"):
            steps = reference[2:].split("/")
            target = tuple(step.replace("~1", "/").replace("~0", "~") for step in steps)
            with contextlib.suppress(KeyError, TypeError):  # where it leads nowhere
                waiting.append(at(root, target))
    return found


def without_nodes(pair: Pair) -> Iterator[Pair]:
    """The schema without one member or item, wherever it stands; with one member in its place."""
    schema, value = pair
    for place in _places(schema):
        yield removed(schema, place), value
        node, key = at(schema, place), place[-1]
        if isinstance(node, dict):
            yield replaced(schema, place, {}), value
        for one in node if isinstance(node, list) else ():
            if key == "type":
                yield replaced(schema, place, one), value
            elif key in ALTERNATIVES and isinstance(one, dict):
                around = {**at(schema, place[:-1]), **one}
                yield replaced(schema, place[:-1], removed(around, (key,))), value


def smaller_values(pair: Pair) -> Iterator[Pair]:
    """The same schema; of the value one part is taken out, or made as simple as its kind can be."""
    schema, value = pair
    places = _places(value)
    yield from ((schema, removed(value, place)) for place in places)
    yield from (
        (schema, replaced(value, place, simple)) for place in [(), *places] for simple in SIMPLEST
    )


PASSES: tuple[Callable[[Pair], Iterator[Pair]], ...] = (parts, without_nodes, smaller_values)
"""The passes, in the order in which they are best tried."""


def strings(pair: Pair) -> list[str]:
    """Property names, and strings that a schema or its value spell out; the longest first."""
    found: list[Json] = []
    for node in _nodes(pair[0]):
        if isinstance(node, dict):
            known = node.get("properties")
            found += known if isinstance(known, dict) else ()
            found += (node.get("const"), *_list(node.get("enum")))
    found += _nodes(pair[1])
    texts = dict.fromkeys(one for one in found if isinstance(one, str))
    return sorted(texts, key=lambda one: -len(one))


def kindred(pair: Pair, old: str, new: str) -> dict[str, str]:
    """What becomes of the strings that begin like ``old`` if all are changed as it is.

    ``old`` and ``new`` differ in one place; the others with the same beginning, up to the end of
    that place, are changed there, too.
    """
    same = alike(old, new)
    after = alike(old[same:][::-1], new[same:][::-1])
    beginning, put = old[: len(old) - after], new[: len(new) - after]
    return {one: put + one[len(beginning) :] for one in strings(pair) if one.startswith(beginning)}


def renamed(tree: Json, names: Mapping[str, str]) -> Json:
    """A tree with other spellings of keys and strings, whatever they stand for."""
    if isinstance(tree, dict):
        return {names.get(key, key): renamed(one, names) for key, one in tree.items()}
    if isinstance(tree, list):
        return [renamed(one, names) for one in tree]
    return names.get(tree, tree) if isinstance(tree, str) else tree


def _list(node: Json) -> list[Json]:
    return node if isinstance(node, list) else []


def at(tree: Json, place: Path) -> Json:
    """The node at a place."""
    for step in place:
        tree = tree[step]
    return tree


def _members(tree: Json) -> list[tuple[str | int, Json]]:
    return list(tree.items() if isinstance(tree, dict) else enumerate(_list(tree)))


def _of(tree: Json, members: list[tuple[str | int, Json]]) -> Json:
    """A node of the kind of another, with these members."""
    return dict(members) if isinstance(tree, dict) else [one for _, one in members]


def replaced(tree: Json, place: Path, node: Json) -> Json:
    """The tree with another node at a place."""
    if not place:
        return node
    step, rest = place[0], place[1:]
    made = [(key, replaced(one, rest, node) if key == step else one) for key, one in _members(tree)]
    return _of(tree, made)


def removed(tree: Json, place: Path) -> Json:
    """The tree without the node at a place, which is not the root."""
    *above, last = place
    around = at(tree, tuple(above))
    kept = _of(around, [member for member in _members(around) if member[0] != last])
    return replaced(tree, tuple(above), kept)


def _places(tree: Json) -> list[Path]:
    """Where the nodes of a tree stand, but for the root; the largest first."""

    def below(node: Json, place: Path) -> Iterator[Path]:
        for key, one in _members(node):
            yield (*place, key)
            yield from below(one, (*place, key))

    return sorted(below(tree, ()), key=lambda place: -len(compact_json(at(tree, place))))


def _nodes(tree: Json) -> Iterator[Json]:
    yield tree
    for _, one in _members(tree):
        yield from _nodes(one)
