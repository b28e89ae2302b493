"""JSON: random nested documents, compact, spaced and indented."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.generators.characters import CONTRACTIONS, ODD_UNITS, WORDS
from corpora.generators.drawing import encodable, picker, sizes

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

KEYS = (
    "id", "name", "orderId", "orderName", "created_at", "$ref", "type", "items", "x", "", "a b",
    "price", "tags", "is-valid", "URL", "\u540d\u524d", "\u00fcber", "0", "null", "@context",
)  # fmt: skip
"""Names of members: in several styles, some the prefix of another."""

SCALARS = (
    "null", "true", "false", "0", "-1", "1.0", "3.14159", "1e-10", "6.02E+23",
    "12345678901234567890",
    '""', "[]", "{}", '"a"', '"2024-02-29T12:00:00Z"', '"https://example.org/a?b=c&d=%20"',
    '"\\u00e9\\ud83d\\ude00"', '"line\\nbreak\\ttab"', '"\\"quoted\\" \\\\ back"', '"</script>"',
    '"550e8400-e29b-41d4-a716-446655440000"', '"aGVsbG8gd29ybGQ="', '"+49 (0) 30 1234"',
)  # fmt: skip
"""Values without members, as they are spelt."""

_TEXTS = (*WORDS, *CONTRACTIONS, *ODD_UNITS["emoji"], *ODD_UNITS["casing"], *" " * 40)

# Separators of a level: compact, Python's default, and each member on a line of its own.
STYLES = (
    (",", ":"),
    (", ", ": "),
    (",\n  ", ": "),
    (",\n\t", ":"),
    (",\r\n  ", ": "),
    (" ,", " : "),
)

_MEMBERS = sizes(2, 24, spread=0.8)
_WORDS = sizes(3, 40)

# Documents so far that later ones may contain; a longer one is not kept, or they would only grow.
_POOL, _KEPT_LENGTH = 128, 80


def spelt_string(text: str, ascii_only: bool) -> str:
    """``text`` as a JSON string, other characters than ASCII escaped or as they are."""
    return json.dumps(text, ensure_ascii=ascii_only)


def container(members: list[tuple[str | None, str]], style: tuple[str, str]) -> str:
    """An object of ``(spelt key, document)`` pairs; an array if the first key is None."""
    comma, colon = style
    line = comma[1:] if "\n" in comma else ""
    array = not members or members[0][0] is None
    parts = [value if key is None else f"{key}{colon}{value}" for key, value in members]
    text = comma.join(parts)
    if line:
        # Raw line ends occur only between members, so indenting them all keeps the document.
        text = line + text.replace("\n", "\n  ") + line.rstrip(" \t")
    return f"[{text}]" if array else f"{{{text}}}"


def _json(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    draw, style, scalar = rng.random, picker(rng, STYLES), picker(rng, SCALARS)
    members, words = picker(rng, _MEMBERS), picker(rng, _WORDS)
    keys = [spelt_string(key, plain) for key in KEYS for plain in (True, False)]
    pool = [scalar() for _ in range(_POOL)]
    yield from (text.encode() for text in SCALARS)
    while True:
        slot = int(draw() * _POOL)
        if draw() < 0.3:
            # Renew a leaf, so that the pool does not become all containers.
            if draw() < 0.5:
                pool[slot] = scalar()
            else:
                text = "".join(rng.choices(_TEXTS, k=words()))
                pool[slot] = spelt_string(text, draw() < 0.3)
        count = members()
        values = rng.choices(pool, k=count)
        names: list[str] | list[None] = [None] * count
        if draw() < 0.7:
            names = rng.choices(keys, k=count)
        document = container(list(zip(names, values, strict=True)), style())
        if len(document) <= _KEPT_LENGTH:
            pool[slot] = document
        yield document.encode()


GENERATOR = FunctionGenerator(
    "json",
    "random JSON documents, compact to indented: punctuation runs, escapes, nested quotes",
    encodable(_json),
)
