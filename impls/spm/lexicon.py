"""The tables of a SentencePiece BPE vocabulary in one variant.

A *symbol* is a piece's id, or one of the numbers after them for a character that is no piece
itself but part of one. Other characters have no symbol, and merge with nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces
from impls.compiled.jit import njit
from impls.kernels.merge_tables import EMPTY, capacity, pair_hash
from impls.kernels.table_cache import arrays_of
from impls.kernels.trie import build_trie
from impls.spm.reading import Reading, read_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.spm.variants import Variant


class Lexicon(NamedTuple):
    """A vocabulary's tables.

    characters: open-addressing hash of the characters that have symbols: rows of (UTF-8 bytes as
    one big-endian number, symbol), int64, the number of rows a power of two. pairs: the same of
    pairs of symbols, flat rows of (left, right, rank, merged), int32. Equal scores have equal
    ranks. emitted: the id of each symbol, EMPTY for what is unknown (int32). unused: 1
    for pieces that are split again (uint8), no entries where there are none. lengths: the
    characters of each symbol (int32). byte_ids: of each byte for unknown symbols, EMPTY for none
    (int32); no entries without byte fallback. unknown_id: what unknown symbols become without byte
    fallback. pieces: the number of pieces. frozen: the double array (impls.kernels.trie) of the
    user-defined symbols that never merge, without entries if there are none; frozen_ids: their ids
    (int64). longest_frozen, depth: see Variant.
    """

    characters: NDArray[np.int64]
    pairs: NDArray[np.int32]
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


ROOMS = ("impls/spm", "impls/kernels")
"""The folders of all modules that have a part in the making of the tables."""


def make_lexicon(
    vocabulary: Vocabulary, variant: Variant, reading: Callable[[], Reading] | None = None
) -> Lexicon:
    """The tables. Raises VocabularyError where the engine refuses or aborts (see piece_texts).

    Those of a large vocabulary are kept on disk. reading: reads its pieces, where that is wanted
    elsewhere, too.
    """
    pieces = Pieces.of(vocabulary.pieces)
    read = reading or (lambda: read_pieces(vocabulary, variant))
    characters, pairs, emitted, unused, lengths, byte_ids, frozen, frozen_ids = arrays_of(
        (pieces, variant, vocabulary.byte_fallback),
        "spm",
        lambda: _tables(vocabulary, variant, read()),
        *ROOMS,
    )
    return Lexicon(
        characters,
        pairs,
        emitted,
        unused,
        lengths,
        byte_ids,
        next(iter(pieces.of_types(PieceType.UNKNOWN)), EMPTY),
        len(pieces),
        frozen,
        frozen_ids,
        variant.longest_frozen or len(pieces),
        variant.resegment_depth,
        variant.joins_unknown,
    )


def _tables(
    vocabulary: Vocabulary, variant: Variant, read: Reading
) -> tuple[NDArray[np.generic], ...]:
    """The arrays of the lexicon, in its order."""
    texts = read.texts
    size = max([len(texts), *(symbol + 1 for symbol in read.symbols.values())])
    types = np.zeros(size, dtype=np.uint8)
    types[: len(texts)] = np.frombuffer(Pieces.of(vocabulary.pieces).types, dtype=np.uint8)
    lengths = np.ones(size, dtype=np.int32)
    lengths[: len(texts)] = list(map(len, texts))
    unused = (types == PieceType.UNUSED) & (lengths > 1) & variant.resegments
    known = np.isin(types, list(variant.known_types)) | unused
    emitted = np.where(known, np.arange(size, dtype=np.int32), np.int32(EMPTY))
    frozen = read.frozen
    return (
        _character_table(read.symbols),
        _pair_table(read),
        emitted,
        unused.astype(np.uint8) if unused.any() else np.empty(0, np.uint8),
        lengths,
        _byte_ids(vocabulary, variant, texts),
        build_trie([text.encode() for text in frozen])[0] if frozen else np.empty(0, np.int32),
        np.array(list(frozen.values()), dtype=np.int64),
    )


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


def _pair_table(read: Reading) -> NDArray[np.int32]:
    left, right, merged = read.rows.T
    table = np.stack((left, right, read.ranks[merged], merged), axis=1)
    pairs = np.full(4 * capacity(len(table)), EMPTY, dtype=np.int32)
    _fill(pairs, table.astype(np.int32))
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
