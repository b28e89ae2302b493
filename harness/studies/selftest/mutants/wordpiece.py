"""Mistakes of WordPiece: words, matching, the unknown word, casing and accents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.wordpiece import PlainWordPiece
from impls.wordpiece.variants import BERT, CharacterClass

if TYPE_CHECKING:
    from corpora.vocabularies.model import WordPieceRules

ON = "toy_wordpiece"


@planted("equivalence", on=ON, mode="text", shows=(b"abab",))
class ShortestMatch(PlainWordPiece):
    """The shortest token that begins the rest is taken, not the longest."""

    def match(self, word: str, start: int) -> int:
        ends = range(start + 1, len(word) + 1)
        return next((end for end in ends if self.text(word, start, end) in self.ids), start)


@planted("equivalence", on=ON, mode="text", shows=(b"abac",))
class KeepsParts(PlainWordPiece):
    """Of an unknown word the parts that were matched are kept."""

    def lost(self, ids: list[int], rest: str) -> list[int]:
        return [*ids, self.unknown]


@planted("equivalence", on=ON, mode="text", stages=("unknown",), shows=("\uac00".encode(),))
class UnknownEach(PlainWordPiece):
    """An unknown word has an unknown token for each character that is left."""

    def lost(self, ids: list[int], rest: str) -> list[int]:
        return [self.unknown] * len(rest)


@planted("equivalence", on=ON, mode="text", shows=(b"ab" * 6,))
class LimitOffByOne(PlainWordPiece):
    """A word as long as the limit is unknown."""

    def longest(self) -> int:
        return super().longest() - 1


@planted("equivalence", on=ON, mode="text", shows=(b"ab" * 7,))
class NoLimit(PlainWordPiece):
    """Words of any length are matched."""

    def longest(self) -> int:
        return 1 << 20


@planted("equivalence", on=ON, mode="text", shows=("un\xe9sthe".encode(),))
class NoPrefix(PlainWordPiece):
    """Parts of a word are looked up as if they began one, where there is no other."""

    def text(self, word: str, start: int, end: int) -> str:
        right = super().text(word, start, end)
        return right if right in self.ids else word[start:end]


@planted("equivalence", on=ON, mode="text", shows=(b"AB",))
class KeepsCase(PlainWordPiece):
    """Capitals stay capitals."""

    def changed(self, rules: WordPieceRules) -> WordPieceRules:
        return replace(rules, lowercase=False)


@planted("equivalence", on=ON, mode="text", shows=("e\u0301".encode(),))
class KeepsAccents(PlainWordPiece):
    """Accents are not stripped."""

    def changed(self, rules: WordPieceRules) -> WordPieceRules:
        return replace(rules, strip_accents=False)


@planted("equivalence", on=ON, mode="text", shows=("\u65e5a".encode(),))
class ChineseInWords(PlainWordPiece):
    """Chinese characters are not parted from what stands beside them."""

    def changed(self, rules: WordPieceRules) -> WordPieceRules:
        return replace(rules, handle_chinese_chars=False)


@planted("equivalence", on=ON, mode="text", shows=(b"a\x01b",))
class KeepsControls(PlainWordPiece):
    """Control characters are not dropped."""

    def changed(self, rules: WordPieceRules) -> WordPieceRules:
        return replace(rules, clean_text=False)


@planted("equivalence", on=ON, mode="text", shows=(b"a$b",))
class SymbolsInWords(PlainWordPiece):
    """The symbols of ASCII are no punctuation, since Unicode says so."""

    variant = replace(BERT, punctuation=CharacterClass(r"\p{P}"))


@planted("equivalence", on=ON, mode="text", shows=("i\u03a3".encode(),))
class FinalSigma(PlainWordPiece):
    """A capital sigma that ends a word becomes the small letter for that place."""

    def words(self, text: str) -> list[str]:
        return super().words(text.lower())


@planted("equivalence", on=ON, mode="text", shows=("a\u3000b".encode(),))
class AsciiSpaces(PlainWordPiece):
    """Only the white space of ASCII parts words."""

    def words(self, text: str) -> list[str]:
        return super().words(text.replace("\u3000", "x").replace("\xa0", "x"))
