"""SentencePiece BPE: characters merged pairwise, the best score first; bytes for the unknown."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm, Normalizer, PieceType
from harness.studies.selftest.plain.base import Plain, characters
from harness.studies.selftest.plain.row import Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

SPACE = "\u2581"


class Pieces(Plain):
    """What the two algorithms over pieces share: normalization without a charsmap, and ids.

    Of the flags only those that the embedded vocabularies without a charsmap have.
    """

    modes = ("text",)

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """Vocabularies of pieces whose normalizer has no charsmap and removes nothing."""
        plain = Normalizer(
            add_dummy_prefix=vocabulary.normalizer.add_dummy_prefix, escape_whitespaces=True
        )
        if not vocabulary.pieces or vocabulary.normalizer != plain:
            return "pieces, with a dummy prefix and escaped spaces at most"
        return None

    def prepare(self) -> None:
        """Pieces by text."""
        pieces = self.vocabulary.pieces
        kinds = {PieceType.NORMAL, PieceType.USER_DEFINED}
        self.ids = {piece.text: i for i, piece in enumerate(pieces) if piece.type in kinds}
        self.scores = {text: pieces[i].score for text, i in self.ids.items()}
        self.byte_ids = [i for i, piece in enumerate(pieces) if piece.type is PieceType.BYTE]
        users = [p.text for p in pieces if p.type is PieceType.USER_DEFINED]
        self.users = sorted(users, key=len, reverse=True)
        self.unknown = self.vocabulary.unk_id or 0

    def normalized(self, data: bytes) -> str:
        """The text that is segmented."""
        if not data:
            return ""
        text = "".join(characters(data))
        return self.escaped(self.prefixed(text))

    def prefixed(self, text: str) -> str:
        """The dummy space before the text, if the vocabulary has it."""
        return f" {text}" if self.vocabulary.normalizer.add_dummy_prefix else text

    def escaped(self, text: str) -> str:
        """Spaces as U+2581."""
        return text.replace(" ", SPACE)

    def spelled(self, parts: Sequence[str]) -> list[int]:
        """The ids of segments; runs of unknown ones as bytes, or as one token."""
        ids: list[int] = []
        unknown = False
        for part in parts:
            found = self.ids.get(part)
            if found is not None:
                ids.append(found)
            elif self.vocabulary.byte_fallback:
                ids += self.bytes_of(part)
            elif not (unknown and self.joins_unknown):
                ids.append(self.unknown)
            unknown = found is None
        return ids

    joins_unknown = True
    """If true, a run of unknown characters is one token."""

    def bytes_of(self, part: str) -> list[int]:
        """The byte pieces of a character."""
        return [self.byte_ids[byte] for byte in part.encode()]


class PlainSpm(Pieces):
    """Right for vocabularies without UNUSED pieces, whose resegmentation it lacks."""

    name = "plain.spm"

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """SentencePiece BPE."""
        if vocabulary.algorithm is not Algorithm.BPE:
            return "SentencePiece BPE only"
        if any(piece.type is PieceType.UNUSED for piece in vocabulary.pieces):
            return "no UNUSED pieces"
        return super().runs(vocabulary)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids."""
        return self.spelled(self.merge(self.symbols(self.normalized(data))))

    def symbols(self, text: str) -> list[str]:
        """Characters, and user-defined symbols, the longest at each place."""
        found = []
        place = 0
        while place < len(text):
            user = next((user for user in self.users if text.startswith(user, place)), None)
            found.append(user or text[place])
            place += len(found[-1])
        return found

    def merge(self, symbols: list[str]) -> list[str]:
        """The pair of the best score first, of equal ones the leftmost."""
        row = Row.of(symbols)
        heap: list[tuple[tuple[float, int], int, tuple[str, str]]] = []

        def offer(place: int) -> None:
            pair = row.pair(place)
            if pair is not None and self.mergeable(*pair):
                heapq.heappush(heap, (self.priority(pair[0] + pair[1], place), place, pair))

        for place in range(len(symbols) - 1):
            offer(place)
        while heap:
            _, place, pair = heapq.heappop(heap)
            if row.pair(place) != pair:
                continue
            row.join(place, pair[0] + pair[1])
            offer(place)
            offer(row.before[place])
        return row.left()

    def mergeable(self, left: str, right: str) -> bool:
        """Whether two symbols make a piece; user-defined ones stay as they are."""
        return left not in self.users and right not in self.users and left + right in self.ids

    def priority(self, merged: str, place: int) -> tuple[float, int]:
        """The least is merged first."""
        return -self.scores[merged], place
