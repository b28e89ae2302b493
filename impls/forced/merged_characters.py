"""SentencePiece BPE over normalized texts: beginnings, and places that no merge ever crosses."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import Normalizer, PieceType
from impls.forced.beginnings import Beginnings
from impls.forced.characters import SHORT
from impls.forced.futures import Token, behind, tokens_of
from impls.forced.remembering import Remembering
from impls.interface import Mode, Unsupported
from impls.spm.encoder import SpmEncoder
from impls.spm.lexicon import make_lexicon
from impls.spm.stages import part_lists
from impls.spm.variants import SENTENCEPIECE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.forced.spellings import Spellings

REMEMBERED = 1 << 14
"""Short texts whose tokens are remembered: words at the ends of texts are alike."""


class MergedCharacters:
    """SentencePiece's BPE over normalized texts.

    Raises Unsupported for UNUSED pieces: they are split as they were offered last anywhere in the
    text, so that nothing before its end is ever sure.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        pieces = vocabulary.pieces
        if any(piece.type is PieceType.UNUSED and len(piece.text) > 1 for piece in pieces):
            raise Unsupported(f"forced tokens of {vocabulary.id}: UNUSED pieces, split again")
        plain = replace(vocabulary, normalizer=Normalizer())
        self._encoder = SpmEncoder(plain, SENTENCEPIECE)
        self._lexicon = make_lexicon(plain, SENTENCEPIECE)
        self._sizes = [len(token or b"") for token in vocabulary.tokens]
        # A run of unknown characters is one token, whose length its id does not tell.
        self._unknown = None if vocabulary.byte_fallback else vocabulary.unk_id
        self._joined = {
            pair
            for piece in pieces
            if piece.type in SENTENCEPIECE.merged_types
            for pair in pairwise(piece.text)
        }
        """Characters that stand side by side in some piece: only between them anything merges."""
        self._symbols = [p.text.encode() for p in pieces if p.type is PieceType.USER_DEFINED]
        self._known = {p.text for p in pieces if p.type in SENTENCEPIECE.known_types}
        self._short = Remembering[bytes, tuple[Token, ...]](self._encode_anew, REMEMBERED)

    def encode(self, texts: Sequence[bytes], start: int = 0) -> list[tuple[Token, ...]]:
        """See :class:`impls.forced.piece_tokenizer.Segments`."""
        short = all(len(text) <= SHORT for text in texts)
        found = self._short(texts) if short else self._encode_anew(texts)
        return [behind(tokens, start) for tokens in found] if start else found

    def lasting(self, text: bytes, longest: int) -> tuple[Token, ...]:
        """None: windows begin where no merge goes over already."""
        return ()

    def _encode_anew(self, texts: Sequence[bytes]) -> list[tuple[Token, ...]]:
        ends = np.array(list(accumulate(map(len, texts))), dtype=np.int64)
        ids, id_ends = self._encoder.encode_batch(b"".join(texts), ends, Mode())
        flat = ids.tolist()
        bounds = pairwise([0, *id_ends.tolist()])
        return [self._placed(text, flat[a:b]) for text, (a, b) in zip(texts, bounds, strict=True)]

    def _placed(self, text: bytes, ids: list[int]) -> tuple[Token, ...]:
        if self._unknown in ids:
            return self._by_stages(text, iter(ids))
        return tokens_of(ids, accumulate(map(self._sizes.__getitem__, ids)))

    def _by_stages(self, text: bytes, ids: Iterator[int]) -> tuple[Token, ...]:
        """The tokens, with what is unknown found among what is left of merging."""
        _, merged, _ = part_lists(self._lexicon, np.frombuffer(text, dtype=np.uint8))
        found: list[Token] = []
        size = 0
        for part in merged:
            size += len(part)
            unknown = part.decode() not in self._known
            if unknown and found and found[-1].id == self._unknown:
                found[-1] = found[-1]._replace(end=size)
            else:
                found.append(Token(next(ids), size))
        return tuple(found)

    def boundary(self, text: str) -> int:
        """The last place, in characters, that no merge and no run of unknown ones crosses; or 0."""
        for place in range(len(text) - 1, 0, -1):
            left, right = text[place - 1], text[place]
            if (left, right) not in self._joined and (
                self._unknown is None or left in self._known or right in self._known
            ):
                return place
        return 0

    def parted(self, text: bytes, symbol: bytes) -> bool:
        """See :class:`impls.forced.piece_tokenizer.Segments`.

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

    def tree(self, text: bytes, pieces: Spellings) -> Beginnings:
        """See :class:`impls.forced.piece_tokenizer.Segments`."""
        whole = text.decode()
        first = len(whole[: self.boundary(whole)].encode())
        [before] = self.encode([text[:first]])

        def encode(texts: Sequence[bytes]) -> list[tuple[Token, ...]]:
            found = self.encode([text[first:] for text in texts])
            return [
                (*before, *(Token(token.id, token.end + first) for token in tokens))
                for tokens in found
            ]

        return Beginnings(encode, text, pieces.starts(text, first))
