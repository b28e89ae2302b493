"""Pre-tokens of a text, found apart from any implementation."""

from __future__ import annotations

from itertools import accumulate, chain, pairwise

import regex

from corpora.vocabularies.model import Vocabulary


def piece_ends(vocabulary: Vocabulary, data: bytes) -> set[int]:
    """Where the pre-tokens of a text end, by the ``regex`` package; empty for invalid UTF-8."""
    try:
        pieces = [data.decode()]
    except UnicodeDecodeError:
        return set()
    for pattern in vocabulary.splits:
        pieces = [
            piece[start:end]
            for piece in pieces
            for start, end in pairwise(
                sorted({0, len(piece), *chain(*(m.span() for m in regex.finditer(pattern, piece)))})
            )
        ]
    return set(accumulate(len(piece.encode()) for piece in pieces))
