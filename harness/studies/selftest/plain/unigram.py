"""Unigram by Viterbi's algorithm, the sums in float32 as SentencePiece keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import Algorithm, PieceType
from harness.studies.selftest.plain.spm import Pieces

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

UNKNOWN_PENALTY = 10.0
"""Below the least score: what an unknown character costs."""


def float32(number: float) -> float:
    """The nearest float32."""
    return float(np.float32(number))


class PlainUnigram(Pieces):
    """Right."""

    name = "plain.unigram"
    max_input = 2048

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """Unigram."""
        if vocabulary.algorithm is not Algorithm.UNIGRAM:
            return "unigram only"
        return super().runs(vocabulary)

    def prepare(self) -> None:
        """Scores of what can be segmented."""
        Pieces.prepare(self)
        for user in self.users:
            self.scores[user] = float32(0.1 * (len(user.encode()) - 1))
        normal = [one.score for one in self.vocabulary.pieces if one.type is PieceType.NORMAL]
        self.penalty = float32(min(normal) - UNKNOWN_PENALTY)
        self.longest = max(map(len, self.ids), default=1)

    def parts(self, text: str) -> list[str]:
        """Those of the greatest sum; of equal sums, whose last part begins first."""
        size = len(text)
        best: list[float | None] = [0.0, *[None] * size]
        starts = [0] * (size + 1)
        for start in range(size):
            for end in range(start + 1, min(size, start + self.longest) + 1):
                score = self.scores.get(text[start:end])
                if score is None and end == start + 1:
                    score = self.penalty
                before, known = best[start], best[end]
                if score is None or before is None:
                    continue
                total = float32(before + score)
                if known is None or total > known:
                    best[end], starts[end] = total, start
        parts = []
        while size > 0:
            parts.append(text[starts[size] : size])
            size = starts[size]
        return parts[::-1]
