"""Long texts of short cells: wherever a library cuts them for its threads, it is a bad place.

Some libraries cut a text of 64 KiB, or of a megabyte, and encode its parts on several threads. A
cut is right only where no token may go over it, and next to nothing shows a wrong one: running text
has harmless places nearby. A cell is a few characters of line ends, spaces, digits, punctuation and
letters, in short runs, inside which a cut shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.generators.base import FunctionGenerator

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from corpora.vocabularies.model import Vocabulary

NAME = "cells"

CERTAIN = 2
"""Texts that are asked near the start of a timed run."""

SIZES = (70_000, 300_000, 70_000, 70_000, 300_000, 70_000, 1_000_000, 4_000_000)
"""Characters, in turn: beyond 64 KiB, where it begins, and beyond a megabyte."""

WHITE = (("\n",), ("\n", "\r\n"), (" ",), (" ", "\t"))
OTHERS = (("1", "12"), tuple(".,/(-';"), ("a", "B", "\u00e9", "\u4e2d", "the"))
"""What a run in a cell repeats, by its class. Each cell has a run of white space and another one: a
million bytes of white space alone are too many for the pattern engines of several libraries, which
is known (:data:`corpora.generators.long_runs.LONGEST`)."""

LONGEST = 6
"""Of a run: its repeats; a cut inside it shows."""


def _cells(vocabulary: Vocabulary, rng: random.Random) -> Iterator[bytes]:
    """Two in three are a cell over and over; in the others the cells stand in any order."""
    if vocabulary.byte_alphabet is not None:
        return

    def cell() -> str:
        runs = rng.sample(WHITE, k=rng.randint(1, 2)) + rng.sample(OTHERS, k=rng.randint(1, 2))
        rng.shuffle(runs)
        return "".join(rng.choice(run) * rng.randint(1, LONGEST) for run in runs)

    number = 0
    while True:
        size = SIZES[number % len(SIZES)] + rng.randrange(4096)
        cells = [cell() for _ in range(1 if number % 3 else 64)]
        text = "".join(rng.choices(cells, k=256))
        yield (text * (size // len(text) + 1))[:size].encode()  # half of it ends anywhere
        number += 1


GENERATOR = FunctionGenerator(
    NAME, "70,000 bytes to 4 MB of short cells: texts that are cut for threads", _cells
)
"""Not in the catalog, as :mod:`corpora.generators.long_runs`."""
