"""llama.cpp's way with user-defined symbols: cut out of the input before anything else.

Each symbol in turn, the longest text first, is looked for in what is still text, from the left
(``tokenizer_st_partition`` in ``src/llama-vocab.cpp``). Of texts of one length the lower id comes
first, as in llama.cpp where it has at most 16 special tokens: with more, its unstable sort decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from corpora.vocabularies.model import PieceType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.spm.dialects import Dialect


class Fragment(NamedTuple):
    """A part of an input: ``data[start:end]``, and the id that it becomes, or None for text."""

    start: int
    end: int
    token: int | None = None


def separate_symbols(vocabulary: Vocabulary, dialect: Dialect) -> list[tuple[bytes, int]]:
    """Texts and ids of the symbols to cut out, in the order in which they are looked for."""
    if dialect.freezes:
        return []
    found = [
        (piece.text.encode(), i)
        for i, piece in enumerate(vocabulary.pieces)
        if piece.type is PieceType.USER_DEFINED
        and piece.text not in dialect.controls
        and piece.text
    ]
    return sorted(found, key=lambda symbol: -len(symbol[0]))


def partition(symbols: Sequence[tuple[bytes, int]], data: bytes) -> list[Fragment]:
    """The fragments of an input, in order; none for an empty one."""
    fragments = [Fragment(0, len(data))] if data else []
    for text, token in symbols:
        if text in data:
            fragments = [part for whole in fragments for part in _cut(text, token, data, whole)]
    return fragments


def _cut(text: bytes, token: int, data: bytes, whole: Fragment) -> list[Fragment]:
    if whole.token is not None:
        return [whole]
    parts = []
    start = whole.start
    while (found := data.find(text, start, whole.end)) >= 0:
        if found > start:
            parts.append(Fragment(start, found))
        start = found + len(text)
        parts.append(Fragment(found, start, token))
    if start < whole.end:
        parts.append(Fragment(start, whole.end))
    return parts
