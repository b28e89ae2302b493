"""Unigram's best paths to every place of a text, as a tree.

The best path to a place is decided by the text before it alone. So what a text x keeps when it goes
on is the best path to the last place within x at which the new best path has a boundary, and a
piece x[s:] + e comes next, which must be the last one of the best path to the end of x + e.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from corpora.vocabularies.model import Normalizer
from impls.forced.futures import Token, tokens_of
from impls.unigram.lexicon import make_lexicon
from impls.unigram.trie import NOWHERE
from impls.unigram.variants import SENTENCEPIECE
from impls.unigram.viterbi_kernel import segment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


@njit
def best_paths(
    trie: NDArray[np.int32],
    scores: NDArray[np.floating],
    unknown_scores: NDArray[np.floating],
    sums: NDArray[np.floating],
    rebase_above: float,
    unreached: float,
    text: NDArray[np.uint8],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """For each place of a text: where its best last piece starts, and which it is.

    NOWHERE for places that nothing reaches, and for the unknown piece.
    """
    size = len(text)
    best = np.full(size + 1, unreached, dtype=sums.dtype)
    starts = np.full(size + 1, NOWHERE, dtype=np.int32)
    pieces = np.full(size + 1, NOWHERE, dtype=np.int32)
    best[0] = 0
    segment(trie, scores, unknown_scores[0], rebase_above, text, 0, size, best, starts, pieces)
    return starts, pieces


@njit
def path(
    starts: NDArray[np.int32], pieces: NDArray[np.int32], length: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The pieces of the best path to a place, and where each of them ends."""
    size, place = 0, length
    while place:
        place = starts[place]
        size += 1
    found, ends = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    while length:
        size -= 1
        found[size], ends[size] = pieces[length], length
        length = starts[length]
    return found, ends


class Lattices:
    """SentencePiece's unigram over normalized texts."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        lexicon = make_lexicon(replace(vocabulary, normalizer=Normalizer()), SENTENCEPIECE)
        self._tables = (
            lexicon.trie, lexicon.scores, lexicon.unknown_scores, lexicon.sums,
            lexicon.rebase_above, lexicon.unreached,
        )  # fmt: skip
        self._piece_ids = lexicon.ids
        self._ids: list[int] = lexicon.ids.tolist()
        self._bytes: list[int] = lexicon.byte_ids.tolist()
        self._unknown = lexicon.unknown_id

    def lattice(self, text: bytes, reaching: Sequence[int] = ()) -> Lattice:
        """The best paths of a text. reaching: see ``Lattice.starts``."""
        starts, pieces = best_paths(*self._tables, np.frombuffer(text, dtype=np.uint8))
        return Lattice(self, text, starts, pieces, reaching)

    def tree(self, text: bytes, starts: Sequence[int]) -> Lattice:
        """See :class:`impls.forced.piece_tokenizer.Segments`."""
        return self.lattice(text, starts)

    def encode(self, texts: Sequence[bytes]) -> list[tuple[Token, ...]]:
        """The tokens of texts."""
        return [self.lattice(text).tokens(len(text)) for text in texts]

    def token(self, piece: int) -> int:
        """The id of a piece; of the unknown one for NOWHERE."""
        return self._unknown if piece == NOWHERE else self._ids[piece]

    def tokens(
        self, text: bytes, pieces: NDArray[np.int32], ends: NDArray[np.int32]
    ) -> tuple[Token, ...]:
        """The tokens of a path: unknown characters as their bytes, or runs as one."""
        unknown = pieces == NOWHERE
        if not unknown.any():
            return tokens_of(self._piece_ids[pieces].tolist(), ends.tolist())
        if self._bytes:
            return self._with_bytes(text, pieces, ends)
        ids = np.where(unknown, self._unknown, self._piece_ids[pieces])
        last = ~unknown
        last[:-1] |= ~unknown[1:]
        last[-1] = True
        return tokens_of(ids[last].tolist(), ends[last].tolist())

    def _with_bytes(
        self, text: bytes, pieces: NDArray[np.int32], ends: NDArray[np.int32]
    ) -> tuple[Token, ...]:
        found: list[Token] = []
        start = 0
        for piece, end in zip(pieces.tolist(), ends.tolist(), strict=True):
            if piece == NOWHERE:
                found += [Token(self._bytes[text[i]], i + 1) for i in range(start, end)]
            else:
                found.append(Token(self._ids[piece], end))
            start = end
        return tuple(found)


class Lattice:
    """See :class:`impls.forced.beginnings.TokenTree`.

    came: where the last piece of the best path to each place starts. pieces: which it is.
    """

    def __init__(
        self,
        tables: Lattices,
        text: bytes,
        came: NDArray[np.int32],
        pieces: NDArray[np.int32],
        starts: Sequence[int],
    ) -> None:
        self.starts = starts
        self._tables = tables
        self._text = text
        self._reached = came, pieces
        self._came: list[int] = came.tolist()
        self._extended: dict[bytes, tuple[int, int]] = {}

    @property
    def size(self) -> int:
        """Bytes of the whole text."""
        return len(self._text)

    def common(self, one: int, other: int) -> int:
        """The longest beginning whose best path both begin with."""
        while one != other:
            if one > other:
                one = self._came[one]
            else:
                other = self._came[other]
        return one

    def last(self) -> tuple[int, int]:
        """Where the last piece of the whole text starts, and its id."""
        return self._came[-1], self._tables.token(int(self._reached[1][-1]))

    def tokens(self, length: int) -> tuple[Token, ...]:
        """The tokens of a beginning."""
        return self._tables.tokens(self._text, *path(*self._reached, length))

    def may_follow(self, length: int, token_id: int, extension: bytes) -> bool:
        """See :class:`impls.forced.beginnings.Tree`."""
        found = self._extended.get(extension)
        if found is None:
            found = self._tables.lattice(self._text + extension).last()
            self._extended[extension] = found
        return found == (length, token_id)
