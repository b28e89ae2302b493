"""llama.cpp's way with user-defined symbols: cut out of the input before anything else.

Each symbol in turn, the longest text first, is looked for in what is still text, from the left
(``tokenizer_st_partition`` in ``src/llama-vocab.cpp``). Of texts of one length the lower id comes
first, as in llama.cpp where it has at most 16 special tokens: with more, its unstable sort decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from corpora.vocabularies.gguf_controls import TELLING, controls_of
from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.spm.variants import Variant

_SPECIAL = frozenset({PieceType.CONTROL, PieceType.UNKNOWN, PieceType.USER_DEFINED})

NO_TOKEN = -1

Symbol = tuple[bytes, int]
"""A text that is cut out of inputs, and its id."""


class Fragment(NamedTuple):
    """A part of an input that ends at ``end``: text, or the token of a symbol.

    spaced: whether the vocabulary's dummy space comes before it: at the beginning, and after a
    symbol.
    """

    end: int
    token: int
    spaced: bool


def separate_symbols(vocabulary: Vocabulary, variant: Variant) -> dict[bool, list[Symbol]]:
    """Texts and ids of the symbols to cut out, in the order in which they are looked for.

    Those for True are cut out where special tokens are, too: control and unknown tokens as well.
    """
    if variant.freezes:
        return {False: [], True: []}
    pieces = Pieces.of(vocabulary.pieces)
    ids = {text: pieces.find(text) for text in TELLING}
    controls = controls_of(text for text, found in ids.items() if found).texts
    control = {i for text in controls for i in ids[text]}
    ordinary = {*pieces.of_types(PieceType.USER_DEFINED)} - control
    special = {*pieces.of_types(*_SPECIAL)} | control

    def longest_first(found: set[int]) -> list[Symbol]:
        symbols = [(pieces[i].text.encode(), i) for i in sorted(found)]
        return sorted(symbols, key=lambda symbol: -len(symbol[0]))

    return {False: longest_first(ordinary), True: longest_first(special)}


def partition(symbols: Sequence[Symbol], data: bytes) -> list[Fragment]:
    """The fragments of an input, in order; none for an empty one."""
    parts = [(0, len(data), NO_TOKEN)] if data else []
    for text, token in symbols:
        if text and text in data:
            parts = [part for whole in parts for part in _cut(text, token, data, *whole)]
    tokens = [token for _, _, token in parts]
    return [
        Fragment(end, token, token == NO_TOKEN and before != NO_TOKEN)
        for (_, end, token), before in zip(parts, [0, *tokens], strict=False)
    ]


def _cut(
    text: bytes, token: int, data: bytes, start: int, end: int, given: int
) -> list[tuple[int, int, int]]:
    if given != NO_TOKEN:
        return [(start, end, given)]
    parts = []
    while (found := data.find(text, start, end)) >= 0:
        if found > start:
            parts.append((start, found, NO_TOKEN))
        start = found + len(text)
        parts.append((found, start, token))
    if start < end:
        parts.append((start, end, NO_TOKEN))
    return parts
