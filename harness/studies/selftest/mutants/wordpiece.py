"""Mistakes of WordPiece: words, matching, the unknown word, casing and accents."""

from __future__ import annotations

import re
from typing import Any

import regex

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.mutants.files import first, misread, put, running
from harness.studies.selftest.plain.pipeline import PlainWordPiece
from impls.pipeline.models import WordPiece

toy = Mutant("equivalence", "toy_wordpiece", PlainWordPiece, "text")

LIMIT = "len(piece) > self._longest:"
LOST = "if end == start:\n            return self._unknown"
LONGEST = "min(len(piece), start + self._longest_token)"
KNOWN = "prefix + piece[start:end] not in self.vocab"
FOUND = "self.vocab[prefix + piece[start:end]]"


def bert(**fields: Any) -> dict[str, object]:
    """The normalizer has other rules."""
    return misread("normalizer", "BertNormalizer", **fields)


MUTANTS = (
    toy(
        "shortest-match", "The shortest token that begins the rest is taken, not the longest.",
        b"abab", **running(
            WordPiece, LONGEST, "start + 1", KNOWN, f"end <= len(piece) and {KNOWN}",
            "end -= 1", "end += 1", "if end == start:", "if end > len(piece):",
        ),
    ),
    toy(
        "keeps-parts", "Of an unknown word the parts that were matched are kept.",
        b"abac", **running(WordPiece, LOST, LOST.replace("return", "return ids +")),
    ),
    toy(
        "unknown-each",
        "An unknown word has an unknown token for each character that is left.",
        "\uac00".encode(), **running(WordPiece, LOST, "@ * len(piece[start:])"), stage="unknown",
    ),
    toy(
        "limit-off-by-one", "A word as long as the limit is unknown.",
        b"ab" * 6, **running(WordPiece, LIMIT, "len(piece) >= self._longest:"),
    ),
    toy(
        "no-limit", "Words of any length are matched.",
        b"ab" * 7, **running(WordPiece, LIMIT, "False:"),
    ),
    toy(
        "no-prefix",
        "Parts of a word are looked up as if they began one, where there is no other.",
        "un\xe9sthe".encode(), **running(
            WordPiece, KNOWN, "@ and piece[start:end] not in self.vocab",
            FOUND, "self.vocab.get(prefix + piece[start:end], self.vocab.get(piece[start:end]))",
        ),
    ),
    toy("keeps-case", "Capitals stay capitals.", b"AB", **bert(lowercase=False)),
    toy(
        "keeps-accents", "Accents are not stripped.",
        "e\u0301".encode(), **bert(strip_accents=False),
    ),
    toy(
        "chinese-in-words",
        "Chinese characters are not parted from what stands beside them.",
        "\u65e5a".encode(), **bert(handle_chinese_chars=False),
    ),
    toy(
        "keeps-controls", "Control characters are not dropped.",
        b"a\x01b", **bert(clean_text=False),
    ),
    toy(
        "symbols-in-words", "The symbols of ASCII are no punctuation, since Unicode says so.",
        b"a$b", **put(splitters=[lambda text, _: regex.findall(r"\p{P}|[^\s\p{P}]+", text)]),
    ),
    toy(
        "final-sigma", "A capital sigma that ends a word becomes the small letter for that place.",
        "i\u03a3".encode(), **first(str.lower),
    ),
    toy(
        "ascii-spaces", "Only the white space of ASCII parts words.",
        "a\u3000b".encode(), **first(lambda text: re.sub("[\u3000\xa0]", "x", text)),
    ),
)  # fmt: skip
