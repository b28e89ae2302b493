"""The tables of a SentencePiece BPE vocabulary in one variant.

A *symbol* is a piece's id, or one of the numbers after them for a character that is no piece
itself but part of one. Other characters have no symbol, and merge with nothing.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.jit import njit
from corpora.vocabularies.model import PieceType, VocabularyError
from corpora.vocabularies.sentencepiece_model import byte_of
from impls.kernels.merge_tables import EMPTY, capacity, pair_hash
from impls.kernels.trie import build_trie

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.spm.variants import Variant

LONGEST_PIECE = 8000
"""Bytes from which on SentencePiece refuses a piece."""

LEFT, RIGHT = 1, 2


class Lexicon(NamedTuple):
    """A vocabulary's tables.

    characters: open-addressing hash of the characters that have symbols: rows of (UTF-8 bytes as
    one big-endian number, symbol), int64, the number of rows a power of two. pairs: the same of
    pairs of symbols, flat rows of (left, right, rank, merged), int32. Equal scores have equal
    ranks. Pairs of characters that stand side by side in some piece without merging have a row,
    too: its merged is EMPTY. sides: LEFT where a symbol is the left one of some row of pairs, RIGHT
    likewise (uint8). emitted: the id of each symbol, EMPTY for what is unknown (int32). unused: 1
    for pieces that are split again (uint8), no entries where there are none. lengths: the
    characters of each symbol (int32). byte_ids: of each byte for unknown symbols, EMPTY for none
    (int32); no entries without byte fallback. unknown_id: what unknown symbols become without byte
    fallback. pieces: the number of pieces. frozen: the double array (impls.kernels.trie) of the
    user-defined symbols that never merge, without entries if there are none; frozen_ids: their ids
    (int64). longest_frozen, depth: see Variant.
    """

    characters: NDArray[np.int64]
    pairs: NDArray[np.int32]
    sides: NDArray[np.uint8]
    emitted: NDArray[np.int32]
    unused: NDArray[np.uint8]
    lengths: NDArray[np.int32]
    byte_ids: NDArray[np.int32]
    unknown_id: int
    pieces: int
    frozen: NDArray[np.int32]
    frozen_ids: NDArray[np.int64]
    longest_frozen: int
    depth: int
    joins_unknown: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """The pieces of a vocabulary as an engine reads them.

    texts: of each piece. rows: the merges (left, right, id of the piece). joins: the pairs of
    characters that stand side by side in some piece that merges build. symbols: of each
    character that is a piece or part of one. ranks: of each piece, 0 for the best score; equal
    scores have equal ranks. frozen: the user-defined symbols that never merge, with their ids.
    mergeable: the ids of the pieces that two neighbours may merge to.
    """

    texts: list[str]
    rows: list[tuple[str, str, int]]
    joins: set[tuple[str, str]]
    symbols: dict[str, int]
    ranks: list[int]
    frozen: dict[str, int]
    mergeable: dict[str, int]


def read_pieces(vocabulary: Vocabulary, variant: Variant) -> Reading:
    """Read them. Raises VocabularyError where the engine refuses or aborts (see piece_texts)."""
    pieces = vocabulary.pieces
    texts = piece_texts(vocabulary, variant)
    mergeable = {
        text: i
        for i, (text, piece) in enumerate(zip(texts, pieces, strict=True))
        if piece.type in variant.merged_types
    }
    rows, joins = _splits(mergeable)
    symbols = {text: i for i, text in enumerate(texts) if len(text) == 1}
    others = sorted({character for pair in joins for character in pair} - symbols.keys())
    symbols.update(zip(others, range(len(texts), len(texts) + len(others)), strict=True))
    frozen = {
        text: i
        for i, (text, piece) in enumerate(zip(texts, pieces, strict=True))
        if variant.freezes and piece.type is PieceType.USER_DEFINED
    }
    ranks = _ranks(vocabulary, variant)
    return Reading(texts, rows, joins, symbols, ranks, frozen, mergeable)


def make_lexicon(
    vocabulary: Vocabulary, variant: Variant, reading: Reading | None = None
) -> Lexicon:
    """The tables. Raises VocabularyError where the engine refuses or aborts (see piece_texts)."""
    read = reading or read_pieces(vocabulary, variant)
    pieces, texts, rows, joins = vocabulary.pieces, read.texts, read.rows, read.joins
    symbols, ranks, frozen = read.symbols, read.ranks, read.frozen
    size = max([len(texts), *(symbol + 1 for symbol in symbols.values())])

    emitted = np.full(size, EMPTY, dtype=np.int32)
    unused = np.zeros(size, dtype=np.uint8)
    lengths = np.ones(size, dtype=np.int32)
    for i, (text, piece) in enumerate(zip(texts, pieces, strict=True)):
        lengths[i] = len(text)
        resegmented = variant.resegments and piece.type is PieceType.UNUSED and len(text) > 1
        if piece.type in variant.known_types or resegmented:
            emitted[i] = i
        unused[i] = resegmented
    named = {**read.mergeable, **symbols}
    table = [(named[left], named[right], ranks[merged], merged) for left, right, merged in rows]
    merging = {(left, right) for left, right, _ in rows}
    table += [
        (symbols[left], symbols[right], 0, EMPTY)
        for left, right in sorted(joins)
        if (left, right) not in merging
    ]
    sides = np.zeros(size, dtype=np.uint8)
    for left_symbol, right_symbol, _, _ in table:
        sides[left_symbol] |= LEFT
        sides[right_symbol] |= RIGHT
    return Lexicon(
        _character_table(symbols),
        _pair_table(table),
        sides,
        emitted,
        unused if unused.any() else unused[:0],
        lengths,
        _byte_ids(vocabulary, variant, texts),
        next((i for i, p in enumerate(pieces) if p.type is PieceType.UNKNOWN), EMPTY),
        len(pieces),
        build_trie([text.encode() for text in frozen])[0] if frozen else np.empty(0, np.int32),
        np.array(list(frozen.values()), dtype=np.int64),
        variant.longest_frozen or len(pieces),
        variant.resegment_depth,
        variant.joins_unknown,
    )


def piece_texts(vocabulary: Vocabulary, variant: Variant) -> list[str]:
    """The texts of the pieces as the engine has them.

    Raises VocabularyError for what it refuses or dies of: a text that two pieces share, and see
    ``checks``, ``names_empty`` and ``orders_by_bits`` of the variant.
    """

    def refuse(fault: str, mend: str) -> VocabularyError:
        return VocabularyError(vocabulary.id, f"{fault} ({variant.name} refuses it)", mend)

    texts = [piece.text for piece in vocabulary.pieces]
    for i, text in enumerate(texts):
        if not text:
            if variant.names_empty is None:
                raise refuse(f"pieces[{i}] is empty", "give it a text")
            texts[i] = variant.names_empty.format(i)
    twice = next((text for text, count in Counter(texts).items() if count > 1), None)
    if twice is not None:
        raise refuse(f"the piece {twice!r} stands more than once", "remove all but one")
    if not variant.orders_by_bits:
        odd = next((p.text for p in vocabulary.pieces if math.isnan(p.score)), None)
        if odd is not None:
            raise VocabularyError(
                vocabulary.id,
                f"the score of the piece {odd!r} is NaN, which {variant.name} cannot order",
                "give it a number",
            )
    if variant.checks:
        _check(vocabulary, refuse)
    return texts


def _check(vocabulary: Vocabulary, refuse: Callable[[str, str], VocabularyError]) -> None:
    """What SentencePiece looks at when it loads a model."""
    unknown = sum(piece.type is PieceType.UNKNOWN for piece in vocabulary.pieces)
    if unknown != 1:
        raise refuse(f"it has {unknown} pieces of type UNKNOWN", "it must have one")
    found = set()
    for i, piece in enumerate(vocabulary.pieces):
        if len(piece.text.encode()) >= LONGEST_PIECE:
            raise refuse(f"pieces[{i}] has {LONGEST_PIECE} bytes or more", "shorten it")
        if "\0" in piece.text:
            raise refuse(f"pieces[{i}] holds a NUL character", "remove it")
        if piece.type is PieceType.BYTE:
            byte = byte_of(piece.text)
            if not vocabulary.byte_fallback:
                raise refuse(f"pieces[{i}] is a byte piece without byte_fallback", "turn it on")
            if byte is None or piece.text != f"<0x{byte:02X}>":
                raise refuse(f"pieces[{i}] {piece.text!r} is no byte piece", "call it <0x00> etc.")
            found.add(byte)
    if vocabulary.byte_fallback and len(found) < 256:
        raise refuse(f"byte_fallback with {len(found)} byte pieces", "there must be 256")


def _splits(mergeable: dict[str, int]) -> tuple[list[tuple[str, str, int]], set[tuple[str, str]]]:
    """The merges (left, right, merged id), and the pairs of characters inside what they build.

    Pieces that no merges build are left out, since nothing is ever merged to them.
    """
    rows: list[tuple[str, str, int]] = []
    joins: set[tuple[str, str]] = set()
    built: set[str] = set()
    for text in sorted(mergeable, key=len):
        merged = mergeable[text]
        found = False
        for cut in range(1, len(text)):
            left, right = text[:cut], text[cut:]
            if (cut == 1 or left in built) and (len(right) == 1 or right in built):
                rows.append((left, right, merged))
                found = True
        if found:
            built.add(text)
            joins.update(pairwise(text))
    return rows, joins


def _ranks(vocabulary: Vocabulary, variant: Variant) -> list[int]:
    """0 for the best score; equal scores have equal ranks."""
    scores = np.array([piece.score for piece in vocabulary.pieces], dtype=np.float32)
    keys: NDArray[np.int64] | NDArray[np.float32]
    if variant.orders_by_bits:
        bits = scores.view(np.int32).astype(np.int64)
        # Of negative ones the greater magnitude is the worse; -0.0 comes just below 0.0.
        keys = np.where(bits < 0, -(bits & 0x7FFFFFFF) - 1, bits)
    else:
        keys = scores
    _, inverse = np.unique(-keys, return_inverse=True)
    ranks: list[int] = inverse.tolist()
    return ranks


def _byte_ids(vocabulary: Vocabulary, variant: Variant, texts: Sequence[str]) -> NDArray[np.int32]:
    if not (variant.falls_back_to_bytes or vocabulary.byte_fallback):
        return np.empty(0, dtype=np.int32)
    ids = {text: i for i, text in enumerate(texts)}
    byte_ids = np.full(256, EMPTY, dtype=np.int32)
    for byte in range(256):
        found = ids.get(f"<0x{byte:02X}>")
        if found is None and 0 < byte < 128:
            found = ids.get(chr(byte))  # only reached where a variant does not check
        if found is not None:
            byte_ids[byte] = found
    return byte_ids


@njit
def character_slot(key: int) -> int:
    """Where the search for a character in ``Lexicon.characters`` begins; its low bits count."""
    return key ^ (key >> 7) ^ (key >> 15)


def _character_table(symbols: dict[str, int]) -> NDArray[np.int64]:
    characters = np.full((capacity(len(symbols)), 2), EMPTY, dtype=np.int64)
    mask = len(characters) - 1
    for text, symbol in symbols.items():
        key = int.from_bytes(text.encode(), "big")
        row = character_slot(key) & mask
        while characters[row, 0] != EMPTY:
            row = (row + 1) & mask
        characters[row] = key, symbol
    return characters


def _pair_table(table: list[tuple[int, int, int, int]]) -> NDArray[np.int32]:
    pairs = np.full(4 * capacity(len(table)), EMPTY, dtype=np.int32)
    _fill(pairs, np.array(table, dtype=np.int32).reshape(-1, 4))
    return pairs


@njit
def _fill(pairs: NDArray[np.int32], rows: NDArray[np.int32]) -> None:
    """Enter rows, no two of one pair, where ``pair_row`` of ``merge_tables`` looks for them."""
    mask = len(pairs) - 1
    for index in range(len(rows)):
        row = (pair_hash(rows[index, 0], rows[index, 1]) << 2) & mask
        while pairs[row] != EMPTY:
            row = (row + 4) & mask
        pairs[row : row + 4] = rows[index]
