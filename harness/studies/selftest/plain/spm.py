"""SentencePiece BPE: characters merged pairwise, the best score first; bytes for the unknown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from corpora.vocabularies.model import Algorithm, Normalizer, PieceType
from harness.studies.selftest.plain.base import Merging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode

SPACE = "\u2581"


class Pieces(Merging):
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
        pieces = list(enumerate(self.vocabulary.pieces))
        users = [one.text for _, one in pieces if one.type is PieceType.USER_DEFINED]
        self.users = sorted(users, key=len, reverse=True)
        kinds = {PieceType.NORMAL, PieceType.USER_DEFINED}
        self.ids = {one.text: i for i, one in pieces if one.type in kinds}
        self.scores = {text: self.vocabulary.pieces[i].score for text, i in self.ids.items()}
        self.byte_ids = [i for i, one in pieces if one.type is PieceType.BYTE]
        self.unknown = self.vocabulary.unk_id or 0

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids of the parts of the normalized text."""
        return self.spelled(self.parts(self.normalized(data)) if data else [])

    def normalized(self, data: bytes) -> str:
        """The text that is segmented."""
        text = characters(data)
        if self.vocabulary.normalizer.add_dummy_prefix:
            text = f" {text}"
        return text.replace(" ", SPACE)

    def parts(self, text: str) -> Sequence[str]:
        """The parts of a text."""
        raise NotImplementedError

    def spelled(self, parts: Sequence[str]) -> list[int]:
        """The ids of parts; an unknown one as its bytes, or a run of them as one token."""
        ids: list[int] = []
        unknown = False
        for part in parts:
            found = self.ids.get(part)
            if found is not None:
                ids.append(found)
            elif self.vocabulary.byte_fallback:
                ids += [self.byte_ids[byte] for byte in part.encode()]
            elif not unknown:
                ids.append(self.unknown)
            unknown = found is None
        return ids


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

    def parts(self, text: str) -> list[str]:
        """Characters, and the longest user-defined symbols, merged."""
        symbols = re.findall("|".join([*map(re.escape, self.users), "."]), text, re.DOTALL)
        return self.merge(symbols)

    def joined(self, pair: tuple[str, str]) -> tuple[float, str] | None:
        """Two symbols that make a piece, by its score; user-defined ones stay as they are."""
        whole = pair[0] + pair[1]
        if whole not in self.ids or pair[0] in self.users or pair[1] in self.users:
            return None
        return -self.scores[whole], whole


def characters(data: bytes) -> str:
    """The text, with U+FFFD for each byte that begins no character."""
    found = ""
    while data:
        try:
            return found + data.decode()
        except UnicodeDecodeError as error:
            found += data[: error.start].decode() + "\ufffd"
            data = data[error.start + 1 :]
    return found
