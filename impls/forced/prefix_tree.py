"""The encodings of all beginnings of a piece, as a tree: each stands on that of a shorter one.

The last token of an encoding determines all of it, so the encoding of a beginning is that of a
shorter one, its parent, and one token more. What two beginnings' encodings have in common is that
of their lowest common ancestor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.derivations import derive
from impls.bpe.layout import IDS, LATE, LENGTHS
from impls.bpe.linear import spelled_tokens, suffix_sections, token_sections
from impls.bpe.services.prefixes import LAST, extend, growing_block, new_memo, new_rows
from impls.bpe.tables import merge_tables
from impls.bpe.validity import Pairs
from impls.interface import Unsupported

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


class PrefixTrees:
    """The tables of a byte-level vocabulary for trees of its encodings. Raises Unsupported."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        if vocabulary.pieces:
            raise Unsupported(f"the encodings of {vocabulary.id} as a tree: byte-level BPE only")
        tokens = token_sections(vocabulary)
        self._block = growing_block({**tokens, **suffix_sections(vocabulary, tokens)})
        self._memo = new_memo()
        self._pairs = Pairs(tokens, spelled_tokens(vocabulary, tokens[IDS]))
        self.ids: list[int] = tokens[IDS].tolist()
        self.lengths: list[int] = tokens[LENGTHS].tolist()
        self.by_id = {token_id: token for token, token_id in enumerate(self.ids)}
        self.late: tuple[bytes, ...] = ()
        """The spellings of tokens that merge out of order (:mod:`impls.bpe.derivations`)."""
        if LATE in tokens:
            # The tables keep their trie alone; nearly no vocabulary has any.
            self.late = tuple(derive(vocabulary, merge_tables(vocabulary))[1])

    def tree(self, piece: bytes) -> PrefixTree | None:
        """The tree of a piece; None if it has a byte without a token."""
        rows = new_rows(len(piece))
        data = np.frombuffer(piece, dtype=np.uint8)
        if extend(self._block, self._memo, rows, 0, data, False) < 0:
            return None
        return PrefixTree(self, rows[:, LAST])

    def admits(self, left: int, right: int) -> bool:
        """Whether token ``right`` may follow token ``left`` (by age)."""
        return self._pairs.valid(left, right)


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
