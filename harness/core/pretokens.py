"""Pre-tokens of a text, found apart from any implementation."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import regex

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary


def piece_ends(vocabulary: Vocabulary, data: bytes) -> set[int]:
    """Where the pre-tokens of a text end, by the ``regex`` package; empty for invalid UTF-8."""
    try:
        pieces = [data.decode()]
    except UnicodeDecodeError:
        return set()
    for pattern in vocabulary.splits:
        finer: list[str] = []
        for piece in pieces:
            place = 0
            for match in regex.finditer(pattern, piece):
                finer += [piece[place : match.start()], match.group()]
                place = match.end()
            finer.append(piece[place:])
        pieces = [piece for piece in finer if piece]
    return set(accumulate(len(piece.encode()) for piece in pieces))
