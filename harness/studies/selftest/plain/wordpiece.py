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
    """Right. Every method is a rule that a mistake may change."""

    name = "plain.wordpiece"
    modes = ("text",)
    variant: ClassVar[Variant] = BERT

    def runs(self, vocabulary: Vocabulary) -> str | None:
        """WordPiece."""
        return None if vocabulary.algorithm is Algorithm.WORDPIECE else "WordPiece only"

    def prepare(self) -> None:
        """Texts by id, and what becomes of each character."""
        from impls.wordpiece.characters import make_characters  # noqa: PLC0415 (takes 0.3 s)

        self.given = self.vocabulary.wordpiece or WordPieceRules()
        self.rules = self.changed(self.given)
        self.ids = {text: i for i, text in texts_of(self.vocabulary).items()}
        self.unknown = self.vocabulary.unk_id or 0
        self.table = make_characters(self.variant, self.rules)

    def changed(self, rules: WordPieceRules) -> WordPieceRules:
        """The rules."""
        return rules

    def encode(self, data: bytes, mode: Mode) -> list[int]:
        """The ids of all words."""
        return [token_id for word in self.words(text_of(data)) for token_id in self.pieces(word)]

    def symbols(self, text: str) -> list[int]:
        """Packed symbols of the characters; see :mod:`impls.wordpiece.characters`."""
        found: list[int] = []
        for character in text:
            entry = int(self.table.entries[ord(character)])
            if entry == -1:
                continue
            if entry >= 0:
                found.append(entry)
                continue
            at = -2 - entry
            found += self.table.sequences[at + 1 : at + 1 + self.table.sequences[at]].tolist()
        return found

    def words(self, text: str) -> list[str]:
        """The words: parted by white space, punctuation and Chinese each alone."""
        from impls.wordpiece.characters import (  # noqa: PLC0415 - as above
            ALONE,
            CODE_BITS,
            CODE_MASK,
            RANK_SHIFT,
            SEPARATOR,
        )

        symbols = self.symbols(text)
        place = 0
        while place < len(symbols):
            end = place
            while end < len(symbols) and symbols[end] >> RANK_SHIFT:
                end += 1
            symbols[place:end] = sorted(symbols[place:end], key=lambda one: one >> RANK_SHIFT)
            place = end + 1
        words = [""]
        for symbol in symbols:
            kind, character = (symbol >> CODE_BITS) & 3, chr(symbol & CODE_MASK)
            if kind == SEPARATOR:
                words.append("")
            elif kind == ALONE:
                words += [character, ""]
            else:
                words[-1] += character
        return [word for word in words if word]

    def pieces(self, word: str) -> list[int]:
        """The longest token that begins the rest, again and again; else the word is unknown."""
        if len(word) > self.longest():
            return [self.unknown]
        ids: list[int] = []
        start = 0
        while start < len(word):
            end = self.match(word, start)
            if end == start:
                return self.lost(ids, word[start:])
            ids.append(self.ids[self.text(word, start, end)])
            start = end
        return ids

    def longest(self) -> int:
        """Characters of the longest word that is looked at."""
        return self.rules.max_word

    def match(self, word: str, start: int) -> int:
        """Where the token ends that is taken next; ``start`` if there is none."""
        ends = range(len(word), start, -1)
        return next((end for end in ends if self.text(word, start, end) in self.ids), start)

    def text(self, word: str, start: int, end: int) -> str:
        """How the vocabulary writes a part of a word."""
        return (self.rules.prefix if start else "") + word[start:end]

    def lost(self, ids: list[int], rest: str) -> list[int]:
        """The ids of a word of which some part is unknown."""
        return [self.unknown]
