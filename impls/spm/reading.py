"""The pieces of a SentencePiece BPE vocabulary as an engine reads them: what merges to what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.merges import halves, rows_of
from corpora.vocabularies.model import PieceType, VocabularyError
from corpora.vocabularies.pieces import Pieces
from corpora.vocabularies.sentencepiece_model import byte_of
from impls.compiled.jit import njit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.kernels.layout import Flags, Ints, Longs
    from impls.spm.variants import Variant

LONGEST_PIECE = 8000
"""Bytes from which on SentencePiece refuses a piece."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The pieces of a vocabulary as an engine reads them.

    texts: of each piece. symbols: of each character that is a piece or part of one that merges
    build. rows: the merges, as symbols (left, right, merged); a piece is its own symbol, as no two
    have one text. ranks: of each piece, 0 for the best score; equal scores have equal
    ranks. frozen: the user-defined symbols that never merge, with their ids.
    """

    texts: list[str]
    symbols: dict[str, int]
    rows: Ints
    ranks: Longs
    frozen: dict[str, int]


def read_pieces(vocabulary: Vocabulary, variant: Variant) -> Reading:
    """Read them. Raises VocabularyError where the engine refuses or aborts (see piece_texts)."""
    pieces = Pieces.of(vocabulary.pieces)
    texts = piece_texts(vocabulary, variant)
    rows, built = _merges(pieces, texts, variant)
    symbols = {text: i for i, text in enumerate(texts) if len(text) == 1}
    whole = "".join(texts[i] for i in built.tolist())
    others = sorted(set(whole) - symbols.keys())
    symbols.update(zip(others, range(len(texts), len(texts) + len(others)), strict=True))
    for column, place in ((1, 0), (2, -1)):
        # A half that is no piece to merge is a character, which may be none.
        for row in np.flatnonzero(rows[:, column] < 0).tolist():
            rows[row, column] = symbols[texts[int(rows[row, 0])][place]]
    frozen = {}
    if variant.freezes:
        frozen = {texts[i]: i for i in pieces.of_types(PieceType.USER_DEFINED)}
    return Reading(texts, symbols, rows[:, [1, 2, 0]], _ranks(vocabulary, variant), frozen)


def _merges(pieces: Pieces, texts: list[str], variant: Variant) -> tuple[Ints, Longs]:
    """The merges, as rows (merged, left, right), and the pieces that they build.

    A half is -1 where it is a character that is no piece to merge. Pieces that no merges build are
    left out, since nothing is ever merged to them.
    """
    merged = set(pieces.of_types(*variant.merged_types))
    mergeable = (text if i in merged else None for i, text in enumerate(texts))
    rows = rows_of(halves(mergeable, characters=True))
    rows = rows[np.argsort(rows[:, 3] + rows[:, 4], kind="stable")]
    built = np.zeros(len(pieces), dtype=np.bool_)
    acting = np.zeros(len(rows), dtype=np.bool_)
    _build(rows, built, acting)
    return np.ascontiguousarray(rows[acting, :3]), np.flatnonzero(built)


@njit
def _build(rows: Ints, built: Flags, acting: Flags) -> None:
    """Mark the rows whose halves are characters or built, and what these build.

    rows: of :func:`corpora.vocabularies.merges.halves`, of shorter pieces first.
    """
    for row in range(len(rows)):
        left, right = rows[row, 1], rows[row, 2]
        if (rows[row, 3] == 1 or built[left]) and (rows[row, 4] == 1 or built[right]):
            acting[row] = True
            built[rows[row, 0]] = True


def piece_texts(vocabulary: Vocabulary, variant: Variant) -> list[str]:
    """The texts of the pieces as the engine has them.

    Raises VocabularyError for what it refuses or dies of: a text that two pieces share, and see
    ``checks``, ``names_empty`` and ``orders_by_bits`` of the variant.
    """

    def refuse(fault: str, mend: str) -> VocabularyError:
        return VocabularyError(vocabulary.id, f"{fault} ({variant.name} refuses it)", mend)

    pieces = Pieces.of(vocabulary.pieces)
    texts = pieces.texts
    for i in np.flatnonzero(pieces.sizes == 0).tolist():
        if variant.names_empty is None:
            raise refuse(f"pieces[{i}] is empty", "give it a text")
        texts[i] = variant.names_empty.format(i)
    for i in pieces.holes if variant.checks else ():
        texts[i] = f"\0{i}\0"  # which nothing merges to
    if len(set(texts)) < len(texts):
        twice = next(text for text, count in Counter(texts).items() if count > 1)
        raise refuse(f"the piece {twice!r} stands more than once", "remove all but one")
    if not variant.orders_by_bits:
        for i in np.flatnonzero(np.isnan(pieces.score_column)).tolist():
            raise VocabularyError(
                vocabulary.id,
                f"the score of the piece {texts[i]!r} is NaN, which {variant.name} cannot order",
                "give it a number",
            )
    if variant.checks:
        _check(pieces, vocabulary.byte_fallback, refuse)
    return texts


def _check(
    pieces: Pieces, byte_fallback: bool, refuse: Callable[[str, str], VocabularyError]
) -> None:
    """What SentencePiece looks at when it loads a model."""
    unknown = len(pieces.of_types(PieceType.UNKNOWN))
    if unknown != 1:
        raise refuse(f"it has {unknown} pieces of type UNKNOWN", "it must have one")
    for i in np.flatnonzero(pieces.sizes >= LONGEST_PIECE).tolist():
        raise refuse(f"pieces[{i}] has {LONGEST_PIECE} bytes or more", "shorten it")
    holes = {*pieces.holes}
    for i, spelled in enumerate(pieces.spelled):
        if b"\0" in spelled and i not in holes:
            raise refuse(f"pieces[{i}] holds a NUL character", "remove it")
    found = set()
    for i in pieces.of_types(PieceType.BYTE):
        text = pieces[i].text
        byte = byte_of(text)
        if not byte_fallback:
            raise refuse(f"pieces[{i}] is a byte piece without byte_fallback", "turn it on")
        if byte is None or text != f"<0x{byte:02X}>":
            raise refuse(f"pieces[{i}] {text!r} is no byte piece", "call it <0x00> etc.")
        found.add(byte)
    if byte_fallback and len(found) < 256:
        raise refuse(f"byte_fallback with {len(found)} byte pieces", "there must be 256")


def _ranks(vocabulary: Vocabulary, variant: Variant) -> Longs:
    """0 for the best score; equal scores have equal ranks."""
    scores = Pieces.of(vocabulary.pieces).score_column.astype(np.float32)
    keys: Longs | NDArray[np.float32]
    if variant.orders_by_bits:
        bits = scores.view(np.int32).astype(np.int64)
        # Of negative ones the greater magnitude is the worse; -0.0 comes just below 0.0.
        keys = np.where(bits < 0, -(bits & 0x7FFFFFFF) - 1, bits)
    else:
        keys = scores
    _, inverse = np.unique(-keys, return_inverse=True)
    return inverse.astype(np.int64)
