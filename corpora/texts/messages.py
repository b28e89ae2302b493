"""What people wrote in many languages: the translated messages of a package that carries them.

Django says the same few thousand things to its users in about a hundred languages, translated by
people, so that whole sentences of all scripts are there. It is read as data and never imported.
"""

from __future__ import annotations

import importlib.util
import random
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = "django"

_MESSAGE = re.compile(r'^msgstr(?:\[\d+\])?((?:\s+"(?:[^"\\\n]|\\.)*")+)', re.MULTILINE)
"""A translation in the format of gettext: one or more quoted strings, each on a line."""

_QUOTED = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
_ESCAPES = {'\\"': '"', "\\\\": "\\", "\\n": "\n", "\\t": "\t"}
_ESCAPE = re.compile(r"\\.")


def translations(catalog: str) -> list[str]:
    """The messages of a ``.po`` file that are translated; the first, its header, is none."""
    found = []
    for block in _MESSAGE.findall(catalog):
        text = "".join(_QUOTED.findall(block))
        found.append(_ESCAPE.sub(lambda one: _ESCAPES.get(one[0], one[0]), text))
    return [text for text in found[1:] if text]


def folder() -> Path | None:
    """Where the package lies; None where it is not installed."""
    spec = importlib.util.find_spec(PACKAGE)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


@cache
def languages() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Each language's messages in the order of its files; the languages by name."""
    root = folder()
    by_language: dict[str, dict[str, None]] = {}
    for path in sorted(root.rglob("locale/*/LC_MESSAGES/*.po")) if root is not None else ():
        language = path.parts[-3]
        if not language.startswith("en"):
            found = translations(path.read_text(encoding="utf-8"))
            by_language.setdefault(language, {}).update(dict.fromkeys(found))
    return tuple((name, tuple(texts)) for name, texts in sorted(by_language.items()) if texts)


def filled(size: int, parts: Iterator[bytes]) -> bytes:
    """The first of the parts, of which there is no end, that have more than ``size`` bytes."""
    found: list[bytes] = []
    missing = size
    while missing >= 0:
        found.append(next(parts))
        missing -= len(found[-1])
    return b"".join(found)


def text(size: int, seed: int) -> bytes:
    """More than ``size`` bytes: a few messages of a language, then of another, by the seed."""
    rng = random.Random(f"messages {seed}")

    def some() -> Iterator[bytes]:
        while True:
            _, messages = rng.choice(languages())
            at = rng.randrange(len(messages))
            yield ("\n".join(messages[at : at + rng.randint(3, 30)]) + "\n").encode()

    return filled(size, some())
