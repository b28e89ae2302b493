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
    from impls.forced.spellings import Spellings


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
    starts: NDArray[np.int32],
    pieces: NDArray[np.int32],
    ids: NDArray[np.int64],
    unknown: int,
    start: int,
    end: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The ids of the best path from one of its places to another, and where each of them ends.

    ids: by piece. unknown: the id of unknown characters, of which a run has one; or NOWHERE, so
    that each of them has that.
    """
    found, ends = np.empty(end - start, dtype=np.int64), np.empty(end - start, dtype=np.int64)
    first, place = end - start, end
    unknown_before = False
    while place > start:
        is_unknown = pieces[place] == NOWHERE
        if not (is_unknown and unknown_before):
            first -= 1
            found[first] = unknown if is_unknown else ids[pieces[place]]
            ends[first] = place
        unknown_before = is_unknown and unknown != NOWHERE
        place = starts[place]
    return found[first:], ends[first:]


@njit
def meeting(starts: NDArray[np.int32], first: int) -> int:
    """The last place that the best paths to all places of a text have in common, from ``first``."""
    found = len(starts) - 1
    for place in range(first, len(starts)):
        if starts[place] == NOWHERE and place:
            continue  # inside a character
        other = place
        while found != other:
            if found > other:
                found = starts[found]
            else:
                other = starts[other]
    return found


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

    def tree(self, text: bytes, pieces: Spellings) -> Lattice:
        """See :class:`impls.forced.piece_tokenizer.Segments`."""
        return self.lattice(text, pieces.starts(text, 0))

    def encode(self, texts: Sequence[bytes], start: int = 0) -> list[tuple[Token, ...]]:
        """See :class:`impls.forced.piece_tokenizer.Segments`."""
        return [self.lattice(text).tokens(len(text), start) for text in texts]

    def parted(self, text: bytes, symbol: bytes) -> bool:
        """See :class:`impls.forced.piece_tokenizer.Segments`: pieces go over symbols."""
        return False

    def token(self, piece: int) -> int:
        """The id of a piece; of the unknown one for NOWHERE."""
        return self._unknown if piece == NOWHERE else self._ids[piece]

    def tokens(
        self,
        text: bytes,
        starts: NDArray[np.int32],
        pieces: NDArray[np.int32],
        start: int,
        end: int,
    ) -> tuple[Token, ...]:
        """The tokens of a path: unknown characters as their bytes, or runs as one."""
        unknown = NOWHERE if self._bytes else self._unknown
        found = path(starts, pieces, self._piece_ids, unknown, start, end)
        ids, ends = found[0].tolist(), found[1].tolist()
        if unknown != NOWHERE or NOWHERE not in ids:
            return tokens_of(ids, ends)
        tokens: list[Token] = []
        for token_id, stop in zip(ids, ends, strict=True):
            if token_id == NOWHERE:
                tokens += [Token(self._bytes[text[i]], i + 1) for i in range(start, stop)]
            else:
                tokens.append(Token(token_id, stop))
            start = stop
        return tuple(tokens)

    def lasting(self, text: bytes, longest: int) -> tuple[Token, ...]:
        """The tokens at its beginning that a text keeps whatever follows.

        longest: bytes of the longest piece. A text that goes on has a boundary at the end of this
        one, or where a piece begins that reaches over it; the best path to there is this text's.
        """
        lattice = self.lattice(text)
        found = lattice.tokens(lattice.meeting(max(0, len(text) - longest + 1)))
        # Unknown characters may go on.
        return found[:-1] if found and found[-1].id == self._unknown else found


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

    def tokens(self, length: int, start: int = 0) -> tuple[Token, ...]:
        """See :class:`impls.forced.beginnings.TokenTree`."""
        return self._tables.tokens(self._text, *self._reached, start, length)

    def meeting(self, first: int) -> int:
        """The last place that the best paths to all places from ``first`` have in common."""
        return meeting(self._reached[0], first)

    def may_follow(self, length: int, token_id: int, extension: bytes) -> bool:
        """See :class:`impls.forced.beginnings.Tree`."""
        found = self._extended.get(extension)
        if found is None:
            found = self._tables.lattice(self._text + extension).last()
            self._extended[extension] = found
        return found == (length, token_id)
