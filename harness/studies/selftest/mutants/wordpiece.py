"""Mistakes of WordPiece: words, matching, the unknown word, casing and accents."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.studies.selftest.mutant import Mutant
from harness.studies.selftest.plain.wordpiece import PlainWordPiece
from impls.wordpiece.variants import BERT, CharacterClass

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

toy = Mutant("equivalence", "toy_wordpiece", PlainWordPiece, "text")

ENDS = "range(len(word), start, -1)"
LIMIT = "len(word) > self.rules.max_word"
LOST = "if end is None:\n            return [self.unknown]"
SYMBOLS = "symbols = self.symbols(text)"


def rules(**fields: bool) -> dict[str, Any]:
    """A change of the vocabulary's rules."""

    def read(_: PlainWordPiece, vocabulary: Vocabulary) -> Vocabulary:
        assert vocabulary.wordpiece is not None
        return replace(vocabulary, wordpiece=replace(vocabulary.wordpiece, **fields))  # type: ignore[arg-type]

    return {"read": read}


MUTANTS = (
    toy(
        "shortest-match", "The shortest token that begins the rest is taken, not the longest.",
        b"abab", ENDS, "range(start + 1, len(word) + 1)",
    ),
    toy(
        "keeps-parts", "Of an unknown word the parts that were matched are kept.",
        b"abac", LOST, LOST.replace("[self", "[*ids, self"),
    ),
    replace(toy, stages=("unknown",))(
        "unknown-each",
        "An unknown word has an unknown token for each character that is left.",
        "\uac00".encode(), LOST, f"{LOST} * len(word[start:])",
    ),
    toy(
        "limit-off-by-one", "A word as long as the limit is unknown.",
        b"ab" * 6, LIMIT, "len(word) >= self.rules.max_word",
    ),
    toy("no-limit", "Words of any length are matched.", b"ab" * 7, LIMIT, "False"),
    toy(
        "no-prefix",
        "Parts of a word are looked up as if they began one, where there is no other.",
        "un\xe9sthe".encode(), '(self.rules.prefix if start else "")',
        "(self.rules.prefix if start and self.rules.prefix + word[start:end] in self.ids else '')",
    ),
    toy("keeps-case", "Capitals stay capitals.", b"AB", **rules(lowercase=False)),
    toy(
        "keeps-accents", "Accents are not stripped.",
        "e\u0301".encode(), **rules(strip_accents=False),
    ),
    toy(
        "chinese-in-words",
        "Chinese characters are not parted from what stands beside them.",
        "\u65e5a".encode(), **rules(handle_chinese_chars=False),
    ),
    toy(
        "keeps-controls", "Control characters are not dropped.",
        b"a\x01b", **rules(clean_text=False),
    ),
    toy(
        "symbols-in-words", "The symbols of ASCII are no punctuation, since Unicode says so.",
        b"a$b", variant=replace(BERT, punctuation=CharacterClass(r"\p{P}")),
    ),
    toy(
        "final-sigma", "A capital sigma that ends a word becomes the small letter for that place.",
        "i\u03a3".encode(), SYMBOLS, "symbols = self.symbols(text.lower())",
    ),
    toy(
        "ascii-spaces", "Only the white space of ASCII parts words.",
        "a\u3000b".encode(), SYMBOLS,
        r"symbols = self.symbols(text.replace('\u3000', 'x').replace('\xa0', 'x'))",
    ),
)  # fmt: skip
