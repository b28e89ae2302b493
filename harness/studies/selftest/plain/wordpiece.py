"""WordPiece as BERT has it: characters by a table, words, and the longest match first."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from corpora.vocabularies.model import Algorithm, WordPieceRules
from corpora.vocabularies.wordpiece_file import texts_of
from harness.studies.selftest.plain.base import Plain, text_of
from impls.wordpiece.variants import BERT

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary
    from impls.interface import Mode
    from impls.wordpiece.variants import Variant


class PlainWordPiece(Plain):
    """Right."""

    name = "plain.wordpiece"
    modes = ("text",)
    variant: ClassVar[Variant] = BERT

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """WordPiece."""
        return None if vocabulary.algorithm is Algorithm.WORDPIECE else "WordPiece only"

    def prepare(self) -> None:
        """Texts by id, and what becomes of each character."""
        from impls.wordpiece.characters import make_characters  # noqa: PLC0415 (takes 0.3 s)

        self.rules = self.vocabulary.wordpiece or WordPieceRules()
        self.ids = {text: i for i, text in texts_of(self.vocabulary).items()}
        self.unknown = self.vocabulary.unk_id or 0
        self.table = make_characters(self.variant, self.rules)

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids of all words."""
        return [token_id for word in self.words(text_of(data)) for token_id in self.pieces(word)]

    def symbols(self, text: str) -> list[int]:
        """Packed symbols of the characters; see :mod:`impls.wordpiece.characters`."""
        found: list[int] = []
        for character in text:
            entry = int(self.table.entries[ord(character)])
            if entry >= 0:
                found.append(entry)
            elif entry < -1:
                at = -2 - entry
                found += self.table.sequences[at + 1 : at + 1 + self.table.sequences[at]].tolist()
        return found

    def words(self, text: str) -> list[str]:
        """The words: parted by white space, punctuation and Chinese each alone."""
        from impls.wordpiece import characters as packed  # noqa: PLC0415 - as above

        symbols = self.symbols(text)
        place = 0
        while place < len(symbols):  # marks in a row are in order of their ranks
            end = place
            while end < len(symbols) and symbols[end] >> packed.RANK_SHIFT:
                end += 1
            symbols[place:end] = sorted(symbols[place:end], key=lambda s: s >> packed.RANK_SHIFT)
            place = end + 1
        parted = ""
        for symbol in symbols:
            kind, character = symbol >> packed.CODE_BITS & 3, chr(symbol & packed.CODE_MASK)
            if kind == packed.ALONE:
                character = f"\n{character}\n"
            parted += "\n" if kind == packed.SEPARATOR else character
        return [word for word in parted.split("\n") if word]

    def pieces(self, word: str) -> list[int]:
        """The longest token that begins the rest, again and again; else the word is unknown."""
        if len(word) > self.rules.max_word:
            return [self.unknown]
        ids: list[int] = []
        start = 0
        while start < len(word):
            texts = {
                end: (self.rules.prefix if start else "") + word[start:end]
                for end in range(len(word), start, -1)
            }
            end = next((end for end, text in texts.items() if text in self.ids), None)
            if end is None:
                return [self.unknown]
            ids.append(self.ids[texts[end]])
            start = end
        return ids
