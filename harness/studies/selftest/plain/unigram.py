"""Unigram by Viterbi's algorithm, the sums in float32 as SentencePiece keeps them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm, PieceType
from harness.studies.selftest.plain.spm import Pieces

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

UNKNOWN_PENALTY = 10.0
"""Below the least score: what an unknown character costs."""

_FLOAT = struct.Struct("f")


def float32(number: float) -> float:
    """The nearest float32."""
    (rounded,) = _FLOAT.unpack(_FLOAT.pack(number))
    return float(rounded)


class PlainUnigram(Pieces):
    """Right. Every method is a rule that a mistake may change."""

    name = "plain.unigram"
    max_input = 2048

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """Unigram."""
        if vocabulary.algorithm is not Algorithm.UNIGRAM:
            return "unigram only"
        return super().runs(vocabulary)

    def prepare(self) -> None:
        """Scores of what can be segmented."""
        super().prepare()
        for user in self.users:
            self.scores[user] = self.user_score(user)
        self.longest = self.longest_piece()
        self.penalty = float32(self.least() - UNKNOWN_PENALTY)

    def longest_piece(self) -> int:
        """Characters of the longest piece that is tried."""
        return max(map(len, self.ids), default=1)

    def user_score(self, text: str) -> float:
        """What a user-defined symbol adds."""
        return float32(0.1 * (len(text.encode()) - 1))

    def least(self) -> float:
        """The least score of an ordinary piece."""
        pieces = self.vocabulary.pieces
        return min(piece.score for piece in pieces if piece.type is PieceType.NORMAL)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids."""
        return self.spelled(self.segmented(self.normalized(data)))

    def segmented(self, text: str) -> list[str]:
        """The segmentation of the greatest sum; of equal sums, whose last piece begins first."""
        size = len(text)
        best: list[float | None] = [0.0, *[None] * size]
        starts = [0] * (size + 1)
        for start in range(size):
            before = best[start]
            if before is None:
                continue
            alone = False
            for end in range(start + 1, min(size, start + self.longest) + 1):
                score = self.scores.get(text[start:end])
                if score is None:
                    continue
                alone = alone or end == start + 1
                self.relax(best, starts, start, end, float32(before + score))
            if not alone:
                self.relax(best, starts, start, start + 1, float32(before + self.penalty))
        parts = []
        end = size
        while end > 0:
            parts.append(text[starts[end] : end])
            end = starts[end]
        return parts[::-1]

    def relax(
        self, best: list[float | None], starts: list[int], start: int, end: int, total: float
    ) -> None:
        """Take a sum if it is better than what there is."""
        known = best[end]
        if known is None or self.better(total, known):
            best[end], starts[end] = total, start

    def better(self, total: float, known: float) -> bool:
        """Whether a later candidate replaces an earlier one."""
        return total > known
