"""JSON Schemas of our own with instances: small, varied, and mean to tokenizers.

They lie in ``own_schemas.jsonl``, one in a line, in the form of the files of any corpus. There are
twelve of each kind, named by it: ``optional-keys``, ``enum-chains``, ``inside-characters`` and so
on. What they are for is where forced bytes end: at the point where sibling keys or values
part, after values that may end or go on, inside a character, inside an escape, after white space.
"""

from __future__ import annotations

import importlib.resources
import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from corpora.grammars.corpus import SchemaCase, case_of

if TYPE_CHECKING:
    from corpora.grammars.json_schema import Whitespace

INDENTS = (None, 2, "\t")
"""How the instances of a schema are spaced where that is admitted, by its number."""


@cache
def own_cases(whitespace: Whitespace) -> tuple[SchemaCase, ...]:
    """All schemas of our own, sorted by name, with instances that the white space mode admits.

    Those for "flexible" are the compact texts and spaced ones; the schemas are the same.
    """
    file = importlib.resources.files("corpora.grammars") / "own_schemas.jsonl"
    documents = map(json.loads, file.read_text("utf-8").split("\n")[:-1])
    cases = [case_of(one["name"], one, file.name) for one in documents]
    return tuple(map(_spaced, cases)) if whitespace == "flexible" else tuple(cases)


def _spaced(case: SchemaCase) -> SchemaCase:
    """The case, with its instances spaced besides."""
    indent = INDENTS[int(case.name[-2:]) % len(INDENTS)]
    spaced = (
        json.dumps(json.loads(text), ensure_ascii=False, indent=indent).encode()
        for text in case.instances
    )
    return replace(case, instances=tuple(dict.fromkeys((*case.instances, *spaced))))
