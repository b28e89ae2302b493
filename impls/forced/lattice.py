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
from impls.forced.futures import Token
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


class Lattices:
    """SentencePiece's unigram over normalized texts."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        lexicon = make_lexicon(replace(vocabulary, normalizer=Normalizer()), SENTENCEPIECE)
        self._tables = (
            lexicon.trie, lexicon.scores, lexicon.unknown_scores, lexicon.sums,
            lexicon.rebase_above, lexicon.unreached,
        )  # fmt: skip
        self._ids: list[int] = lexicon.ids.tolist()
        self._bytes: list[int] = lexicon.byte_ids.tolist()
        self._unknown = lexicon.unknown_id

    def lattice(self, text: bytes, reaching: Sequence[int] = ()) -> Lattice:
        """The best paths of a text. reaching: see ``Lattice.starts``."""
        starts, pieces = best_paths(*self._tables, np.frombuffer(text, dtype=np.uint8))
        return Lattice(self, text, starts.tolist(), pieces.tolist(), reaching)

    def tree(self, text: bytes, starts: Sequence[int]) -> Lattice:
        """See :class:`impls.forced.piece_tokenizer.Segments`."""
        return self.lattice(text, starts)

    def encode(self, texts: Sequence[bytes]) -> list[tuple[Token, ...]]:
        """The tokens of texts."""
        return [self.lattice(text).tokens(len(text)) for text in texts]

    def token(self, piece: int) -> int:
        """The id of a piece; of the unknown one for NOWHERE."""
        return self._unknown if piece == NOWHERE else self._ids[piece]

    def finished(self, text: bytes, path: Sequence[tuple[int, int]]) -> tuple[Token, ...]:
        """The tokens of a path of (id, end): unknown characters as their bytes, or runs as one."""
        found: list[Token] = []
        start = 0
        for token_id, end in path:
            if token_id != self._unknown:
                found.append(Token(token_id, end))
            elif self._bytes:
                found += [Token(self._bytes[text[i]], i + 1) for i in range(start, end)]
            else:
                if found and found[-1].id == token_id:
                    found.pop()
                found.append(Token(token_id, end))
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
        came: list[int],
        pieces: list[int],
        starts: Sequence[int],
    ) -> None:
        self.starts = starts
        self._tables = tables
        self._text = text
        self._came = came
        self._pieces = pieces
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
        return self._came[-1], self._tables.token(self._pieces[-1])

    def tokens(self, length: int) -> tuple[Token, ...]:
        """The tokens of a beginning."""
        path: list[tuple[int, int]] = []
        while length:
            path.append((self._tables.token(self._pieces[length]), length))
            length = self._came[length]
        return self._tables.finished(self._text, path[::-1])

    def may_follow(self, length: int, token_id: int, extension: bytes) -> bool:
        """See :class:`impls.forced.beginnings.Tree`."""
        found = self._extended.get(extension)
        if found is None:
            found = self._tables.lattice(self._text + extension).last()
            self._extended[extension] = found
        return found == (length, token_id)
