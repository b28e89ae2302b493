"""The symbols that llama.cpp cuts out of an input before anything else: its special tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.vocabularies.gguf_controls import TELLING, controls_of
from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces
from impls.unigram.splitting import longest_first

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.spm.variants import Variant
    from impls.unigram.splitting import Split

_SPECIAL = frozenset({PieceType.CONTROL, PieceType.UNKNOWN, PieceType.USER_DEFINED})


def symbol_splits(vocabulary: Vocabulary, variant: Variant) -> dict[bool, Split | None]:
    """What cuts symbols out of an input, None where nothing is cut out.

    That for True is of inputs with special tokens: it cuts out control and unknown tokens as well.
    """
    if variant.freezes:
        return {False: None, True: None}
    pieces = Pieces.of(vocabulary.pieces)
    ids = {text: pieces.find(text) for text in TELLING}
    controls = controls_of(text for text, found in ids.items() if found).texts
    control = {i for text in controls for i in ids[text]}

    def split(found: set[int]) -> Split | None:
        symbols = {pieces[i].text.encode(): i for i in sorted(found)}
        return longest_first(symbols) if any(symbols) else None

    return {
        False: split({*pieces.of_types(PieceType.USER_DEFINED)} - control),
        True: split({*pieces.of_types(*_SPECIAL)} | control),
    }
