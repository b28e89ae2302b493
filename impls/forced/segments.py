"""SentencePiece's two algorithms over normalized texts: tokens, and where each of them ends."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm, Normalizer, Piece, PieceType
from corpora.vocabularies.sentencepiece_model import byte_of
from impls.forced.futures import Token, tokens_of
from impls.interface import Mode, Unsupported
from impls.spm.encoder import SENTENCEPIECE as SPM
from impls.unigram.encoder import SENTENCEPIECE as UNIGRAM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from corpora.vocabularies.model import Vocabulary

REMEMBERED = 256
"""Texts whose tokens are remembered: ends of texts are alike."""

BYTES = range(256)


class Segments:
    """A vocabulary's algorithm on normalized texts.

    How long a run of unknown characters is its one token does not tell. So a vocabulary without
    byte fallback is given it: in bytes such a run has its length.

    Raises Unsupported for pieces with the names of bytes where there is no byte fallback, and for
    UNUSED pieces of BPE: they are split as they were offered last anywhere in the text, so that
    nothing before its end is ever sure.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        pieces = vocabulary.pieces
        self._unigram = vocabulary.algorithm is Algorithm.UNIGRAM
        self._unknown = None if vocabulary.byte_fallback else vocabulary.unk_id
        tokens = vocabulary.tokens
        if self._unknown is not None:
            if any(byte_of(one.text) is not None for one in pieces):
                raise Unsupported(
                    f"forced tokens of {vocabulary.id}: pieces that only look like bytes"
                )
            added = [Piece(f"<0x{byte:02X}>", 0.0, PieceType.BYTE) for byte in BYTES]
            pieces, tokens = [*pieces, *added], (*tokens, *(bytes((byte,)) for byte in BYTES))
        bare = replace(
            vocabulary, pieces=pieces, tokens=tokens, byte_fallback=True, normalizer=Normalizer()
        )
        unused = any(one.type is PieceType.UNUSED and len(one.text) > 1 for one in pieces)
        if unused and not self._unigram:
            raise Unsupported(f"forced tokens of {vocabulary.id}: UNUSED pieces, split again")
        self._encoder = (UNIGRAM if self._unigram else SPM).load(bare)
        self._sizes = [
            1 if piece.type is PieceType.BYTE else len(token or b"")
            for piece, token in zip(pieces, tokens, strict=True)
        ]
        known, merged = SPM.variant.known_types, SPM.variant.merged_types
        self._known = {piece.text for piece in vocabulary.pieces if piece.type in known}
        self._joined = {pair for p in pieces if p.type in merged for pair in pairwise(p.text)}
        """Characters that stand side by side in some piece: only between them anything merges."""
        self._symbols = [p.text.encode() for p in pieces if p.type is PieceType.USER_DEFINED]
        self.tokens = lru_cache(REMEMBERED)(self._tokens)
        """The tokens of a text, with their ends there; each run of unknown characters is one."""

    def _tokens(self, text: bytes) -> tuple[Token, ...]:
        ids = self._encoder.encode(text, Mode())
        ends = accumulate(map(self._sizes.__getitem__, ids))
        if self._unknown is None:
            return tokens_of(ids, ends)
        found: list[Token] = []
        added = len(self._sizes) - len(BYTES)
        for one, end in zip(ids, ends, strict=True):
            if one < added:
                found.append(Token(one, end))
                continue
            if found and found[-1].id == self._unknown:
                found.pop()
            found.append(Token(self._unknown, end))
        return tuple(found)

    def encode(self, texts: Iterable[bytes]) -> list[tuple[Token, ...]]:
        """The tokens of many texts."""
        return list(map(self.tokens, texts))

    def boundary(self, text: str) -> int:
        """The last place, in characters, that no token crosses whatever comes; 0: none is known.

        None is known of unigram: its rounded sums go on from a text's beginning.
        """
        for place in range(0 if self._unigram else len(text) - 1, 0, -1):
            left, right = text[place - 1], text[place]
            if (left, right) not in self._joined and (
                self._unknown is None or left in self._known or right in self._known
            ):
                return place
        return 0

    def parted(self, text: bytes, symbol: bytes) -> bool:
        """Whether a token ends with a text after which a user-defined symbol comes for sure.

        Whatever follows that, be it a longer symbol, too; false where it is not known. Symbols of
        BPE are found from the left, the longest at each place, and never merge. So a token begins
        with this one, or with a longer one, unless another takes the end of the text and some of
        it.
        """
        return not self._unigram and not any(
            text.endswith(other[:size])
            and (other.startswith(symbol, size) or symbol.startswith(other[size:]))
            for other in self._symbols
            for size in range(1, len(other))
        )
