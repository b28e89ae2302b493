"""The encodings of all beginnings of a piece, as a tree: each stands on that of a shorter one.

The last token of an encoding determines all of it, so the encoding of a beginning is that of a
shorter one, its parent, and one token more. What two beginnings' encodings have in common is that
of their lowest common ancestor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.bpe.tables.derivations import derive
from impls.bpe.tables.plain_pair_validity import plain_sections, valid_pair
from impls.interface import Unsupported
from impls.kernels.layout import (
    AGED_PAIRS,
    BASE_TOKENS,
    EMPTY,
    IDS,
    LENGTHS,
    OUT_OF_ORDER,
    SPLITS,
    TRIE,
    pack,
    section,
)
from impls.kernels.merge_tables import merge_tables
from impls.kernels.trie import child, token_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


@njit
def last_tokens(
    block: NDArray[np.int32], piece: NDArray[np.uint8], lasts: NDArray[np.int32]
) -> bool:
    """Find the last token, by age, of the encoding of each beginning of a piece.

    block: of :func:`impls.bpe.tables.plain_pair_validity.plain_sections`. lasts: one entry more
    than the piece has bytes, all EMPTY; receives that of the beginning of so many bytes. Returns
    whether each byte of the piece is a token. O(n t), where t is the length of the longest token.

    Of the tokens that end at a place just one may stand after the encoding of what is before it
    (docs/algorithms.md, section 1, the third and fourth property), so the first that may is it.
    """
    trie, base_tokens = section(block, TRIE), section(block, BASE_TOKENS)
    pairs, splits = section(block, AGED_PAIRS), section(block, SPLITS)
    for begin in range(len(piece)):
        if base_tokens[piece[begin]] == EMPTY:
            return False
        before = int(lasts[begin])
        slot = 0
        for place in range(begin, len(piece)):
            slot = child(trie, slot, int(piece[place]))
            if slot == EMPTY:
                break
            token = token_at(trie, slot)
            if token == EMPTY or lasts[place + 1] != EMPTY:
                continue
            if begin == 0 or valid_pair(pairs, splits, before, token):
                lasts[place + 1] = token
    return True


class PrefixTrees:
    """The tables of a byte-level vocabulary for trees of its encodings. Raises Unsupported."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        if vocabulary.pieces:
            raise Unsupported(f"the encodings of {vocabulary.id} as a tree: byte-level BPE only")
        tokens = plain_sections(vocabulary)
        self._block = pack(tokens)
        self.ids: list[int] = tokens[IDS].tolist()
        self.lengths: list[int] = tokens[LENGTHS].tolist()
        self.by_id = {token_id: token for token, token_id in enumerate(self.ids)}
        self.out_of_order: tuple[bytes, ...] = ()
        """The spellings of tokens that merge out of order (:mod:`impls.bpe.tables.derivations`)."""
        if OUT_OF_ORDER in tokens:
            # The tables keep their trie alone; nearly no vocabulary has any.
            self.out_of_order = tuple(derive(vocabulary, merge_tables(vocabulary))[1])

    def tree(self, piece: bytes) -> PrefixTree | None:
        """The tree of a piece; None if it has a byte without a token."""
        lasts = np.full(len(piece) + 1, EMPTY, dtype=np.int32)
        if not last_tokens(self._block, np.frombuffer(piece, dtype=np.uint8), lasts):
            return None
        return PrefixTree(self, lasts)

    def admits(self, left: int, right: int) -> bool:
        """Whether token ``right`` may follow token ``left`` (by age)."""
        pairs, splits = section(self._block, AGED_PAIRS), section(self._block, SPLITS)
        return valid_pair(pairs, splits, left, right)


class PrefixTree:
    """The beginnings of one piece. lasts: the last token, by age, of that of each length."""

    def __init__(self, tables: PrefixTrees, lasts: NDArray[np.int32]) -> None:
        self._tables = tables
        self.lasts: list[int] = lasts.tolist()

    @property
    def size(self) -> int:
        """Bytes of the whole piece."""
        return len(self.lasts) - 1

    def parent(self, length: int) -> int:
        """The beginning on which that of ``length`` bytes, more than 0, stands."""
        return length - self._tables.lengths[self.lasts[length]]

    def common(self, one: int, other: int) -> int:
        """The longest beginning whose encoding both begin with."""
        while one != other:
            if one > other:
                one = self.parent(one)
            else:
                other = self.parent(other)
        return one

    def encoding(self, length: int) -> tuple[int, ...]:
        """The ids of a beginning."""
        found = []
        while length:
            found.append(self._tables.ids[self.lasts[length]])
            length = self.parent(length)
        return tuple(reversed(found))

    def may_follow(self, length: int, token_id: int, extension: bytes) -> bool:
        """Whether the token may stand after the beginning of ``length`` bytes."""
        del extension  # the tables know
        token = self._tables.by_id.get(token_id)
        if token is None:
            return False
        return length == 0 or self._tables.admits(self.lasts[length], token)
