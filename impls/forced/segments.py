"""SentencePiece's two algorithms over normalized texts: tokens, and where each of them ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import Normalizer, PieceType
from impls.forced.futures import Token, tokens_of
from impls.interface import Mode, Unsupported
from impls.spm.encoder import SpmEncoder
from impls.spm.lexicon import make_lexicon as make_spm_lexicon
from impls.spm.stages import part_lists
from impls.spm.variants import SENTENCEPIECE as SPM
from impls.unigram.lexicon import make_lexicon
from impls.unigram.trie import NOWHERE
from impls.unigram.variants import SENTENCEPIECE as UNIGRAM
from impls.unigram.viterbi import best_paths

if TYPE_CHECKING:
    from collections.abc import Iterable

    from corpora.vocabularies.model import Vocabulary

REMEMBERED = 256
"""Texts whose tokens are remembered: ends of texts are alike."""


class Segments(ABC):
    """An algorithm on normalized texts."""

    @abstractmethod
    def tokens(self, text: bytes) -> tuple[Token, ...]:
        """The tokens of a text, with their ends there."""

    def encode(self, texts: Iterable[bytes]) -> list[tuple[Token, ...]]:
        """The tokens of many texts."""
        return list(map(self.tokens, texts))

    def boundary(self, text: str) -> int:
        """The last place, in characters, that no token crosses whatever comes; 0: none is known."""
        return 0

    def parted(self, text: bytes, symbol: bytes) -> bool:
        """Whether a token ends with a text after which a user-defined symbol comes for sure.

        Whatever follows that, be it a longer symbol, too; false where it is not known.
        """
        return False


class Unigram(Segments):
    """SentencePiece's unigram. Nothing is apart: rounded sums go on from a text's beginning."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        lexicon = make_lexicon(replace(vocabulary, normalizer=Normalizer()), UNIGRAM)
        self._lexicon = lexicon
        self._ids: list[int] = lexicon.ids.tolist()
        self._bytes: list[int] = lexicon.byte_ids.tolist()
        self._unknown = lexicon.unknown_id

    def tokens(self, text: bytes) -> tuple[Token, ...]:
        """The best path; unknown characters as their bytes, or each run of them as one."""
        starts, pieces = (
            found.tolist() for found in best_paths(self._lexicon, np.frombuffer(text, np.uint8))
        )
        tokens: list[tuple[int, int]] = []
        end, after = len(text), 0
        while end > 0:
            start, piece = starts[end], pieces[end]
            if piece != NOWHERE:
                tokens.append((self._ids[piece], end))
            elif self._bytes:
                tokens += [(self._bytes[text[at]], at + 1) for at in range(end - 1, start - 1, -1)]
            elif after != NOWHERE or not tokens:
                tokens.append((self._unknown, end))
            end, after = start, piece
        return tokens_of(*zip(*reversed(tokens), strict=True)) if tokens else ()


class Merged(Segments):
    """SentencePiece's BPE.

    Raises Unsupported for UNUSED pieces: they are split as they were offered last anywhere in the
    text, so that nothing before its end is ever sure.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        pieces = vocabulary.pieces
        if any(piece.type is PieceType.UNUSED and len(piece.text) > 1 for piece in pieces):
            raise Unsupported(f"forced tokens of {vocabulary.id}: UNUSED pieces, split again")
        plain = replace(vocabulary, normalizer=Normalizer())
        self._encoder = SpmEncoder(plain, SPM)
        self._lexicon = make_spm_lexicon(plain, SPM)
        self._sizes = [len(token or b"") for token in vocabulary.tokens]
        # A run of unknown characters is one token, whose length its id does not tell.
        self._unknown = None if vocabulary.byte_fallback else vocabulary.unk_id
        self._joined = {
            pair
            for piece in pieces
            if piece.type in SPM.merged_types
            for pair in pairwise(piece.text)
        }
        """Characters that stand side by side in some piece: only between them anything merges."""
        self._symbols = [p.text.encode() for p in pieces if p.type is PieceType.USER_DEFINED]
        self._known = {p.text for p in pieces if p.type in SPM.known_types}
        self._remembered = lru_cache(REMEMBERED)(self._tokens)

    def tokens(self, text: bytes) -> tuple[Token, ...]:
        """See :class:`Segments`."""
        return self._remembered(text)

    def _tokens(self, text: bytes) -> tuple[Token, ...]:
        ids = self._encoder.encode(text, Mode())
        if self._unknown not in ids:
            return tokens_of(ids, accumulate(map(self._sizes.__getitem__, ids)))
        # What is unknown is found among what is left of merging.
        _, merged, _ = part_lists(self._lexicon, np.frombuffer(text, dtype=np.uint8))
        found: list[Token] = []
        left, size = iter(ids), 0
        for part in merged:
            size += len(part)
            if part.decode() not in self._known and found and found[-1].id == self._unknown:
                found[-1] = Token(found[-1].id, size)
            else:
                found.append(Token(next(left), size))
        return tuple(found)

    def boundary(self, text: str) -> int:
        """See :class:`Segments`."""
        for place in range(len(text) - 1, 0, -1):
            left, right = text[place - 1], text[place]
            if (left, right) not in self._joined and (
                self._unknown is None or left in self._known or right in self._known
            ):
                return place
        return 0

    def parted(self, text: bytes, symbol: bytes) -> bool:
        """See :class:`Segments`.

        Symbols are found from the left, the longest at each place, and never merge. So a token
        begins with this one, or with a longer one, unless another takes the end of the text and
        some of it.
        """
        return not any(
            text.endswith(other[:size])
            and (other.startswith(symbol, size) or symbol.startswith(other[size:]))
            for other in self._symbols
            for size in range(1, len(other))
        )
