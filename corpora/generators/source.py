"""Source code: slices of the installed standard library."""

from __future__ import annotations

import sysconfig
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator
from corpora.generators.drawing import LENGTHS, encodable, picker

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

# Slices taken from one file before the next is read: reading costs about as much as this many.
_SLICES_A_FILE = 256

# Of a larger file only the beginning: a few are megabytes of tables.
_READ = 200_000

# Third-party and generated files, and tests, which are many and alike.
_LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "__pycache__", "lib2to3", "idlelib"}


@cache
def source_files() -> tuple[Path, ...]:
    """The Python files of the standard library, two levels deep, in order of their names.

    Where an installation ships no sources, this package's own.
    """
    for root in (Path(sysconfig.get_path("stdlib")), Path(__file__).parent):
        found = [*root.glob("*.py"), *root.glob("*/*.py")]
        kept = [path for path in found if path.parent.name not in _LEFT_OUT and path.is_file()]
        if kept:
            return tuple(sorted(kept))
    return ()


def read_source(path: Path) -> str:
    """The beginning of a file, at most 200,000 characters; bytes that are not UTF-8 replaced."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        return file.read(_READ)


def _source(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    pick, length, draw = picker(rng, source_files()), picker(rng, LENGTHS), rng.random
    while True:
        text = read_source(pick())
        if not text:
            continue
        for _ in range(_SLICES_A_FILE):
            size = length()
            at = int(draw() * max(len(text) - size, 1))
            if draw() < 0.5:
                # From the beginning of a line: indentation follows a line end, or nothing.
                at = text.rfind("\n", 0, at) + 1
            yield text[at : at + size].encode()


GENERATOR = FunctionGenerator(
    "source",
    "slices of the standard library's sources: indentation, identifiers, operators, line ends",
    encodable(_source),
)
