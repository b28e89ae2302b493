"""The algorithms over SentencePiece's pieces: the models of a tokenizer.json, with its rules.

Merging is that of :class:`impls.pipeline.models.Bpe`, of texts by their scores; the best sum is
found as by :class:`impls.pipeline.models.Unigram`, in float32, as SentencePiece keeps it.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from corpora.vocabularies.model import Algorithm, Normalizer, PieceType
from harness.studies.selftest.plain.base import Compiled, Plain, text_of
from impls.interface import Capability
from impls.pipeline.models import PENALTY, Bpe, Unigram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

SPACE = "\u2581"

SEGMENTED = {PieceType.NORMAL, PieceType.USER_DEFINED}


class Pieces(Plain):
    """Normalization without a charsmap, and ids.

    Of the flags only those that the embedded vocabularies without a charsmap have.
    """

    modes = ("text",)
    algorithm: Algorithm

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """Vocabularies of pieces whose normalizer has no charsmap and removes nothing."""
        prefix = vocabulary.normalizer.add_dummy_prefix
        plain = Normalizer(add_dummy_prefix=prefix, escape_whitespaces=True)
        if vocabulary.algorithm is not self.algorithm or not vocabulary.pieces:
            return f"{self.algorithm} over pieces only"
        if any(piece.type is PieceType.UNUSED for piece in vocabulary.pieces):
            return "no UNUSED pieces, which are split again"
        return None if vocabulary.normalizer == plain else "a dummy prefix and escaped spaces only"

    def prepare(self) -> None:
        """Pieces by text."""
        pieces = self.vocabulary.pieces
        users = [one.text for one in pieces if one.type is PieceType.USER_DEFINED]
        self.users = sorted(users, key=len, reverse=True)
        self.vocab = {one.text: i for i, one in enumerate(pieces) if one.type in SEGMENTED}
        self.byte_ids = [i for i, one in enumerate(pieces) if one.type is PieceType.BYTE]
        self.unknown = self.vocabulary.unk_id or 0

    def normalized(self, data: bytes) -> str:
        """The text that is segmented."""
        text = text_of(data)
        if self.vocabulary.normalizer.add_dummy_prefix:
            text = f" {text}"
        return text.replace(" ", SPACE)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids of the parts of the normalized text."""
        return self.spelled(self.parts(self.normalized(data)) if data else [])

    def parts(self, text: str) -> Sequence[str]:
        """The parts of a text."""
        raise NotImplementedError

    def spelled(self, parts: Sequence[str]) -> list[int]:
        """The ids of parts; an unknown one as its bytes, or a run of them as one token."""
        ids: list[int] = []
        unknown = False
        for part in parts:
            found = self.vocab.get(part)
            if found is not None:
                ids.append(found)
            elif self.vocabulary.byte_fallback:
                ids += [self.byte_ids[byte] for byte in part.encode()]
            elif not unknown:
                ids.append(self.unknown)
            unknown = found is None
        return ids


class PlainSpm(Pieces, Bpe):
    """SentencePiece BPE: characters merged pairwise, the best score first; bytes for the unknown.

    Right for vocabularies without UNUSED pieces, whose resegmentation it lacks.
    """

    name = "plain.spm"
    algorithm = Algorithm.BPE

    def prepare(self) -> None:
        """What two texts merge to is looked up as a merge is by ranks."""
        super().prepare()
        self._merges = SimpleNamespace(get=self.joined)  # type: ignore[assignment]

    def parts(self, text: str) -> Any:
        """Characters, and the longest user-defined symbols, merged."""
        symbols: Any = re.findall("|".join([*map(re.escape, self.users), "."]), text, re.DOTALL)
        return self._merged(symbols)

    def joined(self, pair: tuple[str, str]) -> tuple[float, str] | None:
        """Two symbols that make a piece, by its score; user-defined ones stay as they are."""
        whole = "".join(pair)
        if whole not in self.vocab or {*self.users} & {*pair}:
            return None
        return -self.vocabulary.pieces[self.vocab[whole]].score, whole


class PlainUnigram(Pieces, Unigram):
    """Unigram by Viterbi's algorithm."""

    name = "plain.unigram"
    algorithm = Algorithm.UNIGRAM
    max_input = 2048

    def prepare(self) -> None:
        """Scores of what can be segmented; a user-defined piece is better the longer it is."""
        Pieces.prepare(self)
        scores = np.array([one.score for one in self.vocabulary.pieces], dtype=np.float32)
        normal = [one.score for one in self.vocabulary.pieces if one.type is PieceType.NORMAL]
        for user in self.users:
            scores[self.vocab[user]] = 0.1 * (len(user.encode()) - 1)
        self._scores = [*scores]
        self._lowest = np.float32(min(normal) - PENALTY)  # type: ignore[assignment]
        self._unknown = self.unknown

    def parts(self, text: str) -> list[str]:
        """Those of the greatest sum; of equal sums, whose last part begins first."""
        return [text[start:end] for start, end, _ in self._path(text)]


class CompiledUnigram(Compiled):
    """Unigram with a charsmap, whose normalizer is what a mistake changes."""

    engine = "unigram.sentencepiece"
    modes = ("text",)


class LocatedUnigram(CompiledUnigram):
    """With offsets of which little is said: each is the range of the whole text."""

    name = "plain.located"
    capabilities = frozenset({Capability.DECODE, Capability.OFFSETS})

    def decode(self, ids: Sequence[int]) -> bytes:
        """The text of the pieces."""
        return self.compiled.decode(ids)  # type: ignore[attr-defined,no-any-return]

    def encode_with_offsets(
        self, data: bytes, mode: Mode
    ) -> tuple[Sequence[int], Sequence[tuple[int, int]]]:
        """The ids, each with all of the text."""
        ids = self.encode(data, mode)
        return ids, [(0, len(data))] * len(ids)
