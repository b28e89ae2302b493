"""The tables of a SentencePiece BPE vocabulary in one variant.

A *symbol* is a piece's id, or one of the numbers after them for a character that is no piece
itself but part of one. Other characters have no symbol, and merge with nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces
from impls.kernels.merge_tables import EMPTY, hashed_pairs
from impls.kernels.table_cache import arrays_of
from impls.spm.reading import Reading, read_pieces
from impls.unigram.trie import double_array

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.kernels.layout import Bytes, Ints, Longs
    from impls.spm.variants import Variant


class Lexicon(NamedTuple):
    """A vocabulary's tables.

    characters: the double array (impls.kernels.trie) of the characters that have symbols;
    character_symbols: their symbols (int64). pairs: open-addressing hash of pairs of symbols
    (impls.kernels.merge_tables), rows of (left, right, rank, merged). Equal scores have equal
    ranks. emitted: the id of each symbol, EMPTY for what is unknown (int32). unused: 1 for pieces
    that are split again (uint8), no entries where there are none. lengths: the characters of each
    symbol (int32). byte_ids: of each byte for unknown symbols, EMPTY for none (int32); no entries
    without byte fallback. frozen: the double array of the user-defined symbols that never merge,
    without entries if there are none; frozen_ids: their ids (int64). unknown_id: what unknown
    symbols become without byte fallback. pieces: the number of pieces. longest_frozen, depth: see
    Variant.
    """

    characters: Ints
    character_symbols: Longs
    pairs: Ints
    emitted: Ints
    unused: Bytes
    lengths: Ints
    byte_ids: Ints
    frozen: Ints
    frozen_ids: Longs
    unknown_id: int
    pieces: int
    longest_frozen: int
    depth: int
    joins_unknown: bool


ROOMS = ("impls/spm", "impls/kernels", "impls/unigram/trie.py")
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
    tables = arrays_of(
        (pieces, variant, vocabulary.byte_fallback),
        "spm",
        lambda: _tables(vocabulary, variant, read()),
        *ROOMS,
    )
    characters, symbols, pairs, emitted, unused, lengths, byte_ids, frozen, frozen_ids = tables
    return Lexicon(
        characters,
        symbols,
        pairs,
        emitted,
        unused,
        lengths,
        byte_ids,
        frozen,
        frozen_ids,
        next(iter(pieces.of_types(PieceType.UNKNOWN)), EMPTY),
        len(pieces),
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
    left, right, merged = read.rows.T
    return (
        *double_array({text.encode(): symbol for text, symbol in read.symbols.items()}),
        hashed_pairs(np.stack((left, right, read.ranks[merged], merged), axis=1)),
        emitted,
        unused.astype(np.uint8) if unused.any() else np.empty(0, np.uint8),
        lengths,
        _byte_ids(vocabulary, variant, texts),
        *double_array({text.encode(): symbol for text, symbol in read.frozen.items()}),
    )


def _byte_ids(vocabulary: Vocabulary, variant: Variant, texts: Sequence[str]) -> Ints:
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
