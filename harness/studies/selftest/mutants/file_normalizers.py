"""Mistakes with the normalizers of a tokenizer.json."""

from __future__ import annotations

import re

from harness.studies.selftest.mutants.files import (
    affixes,
    characters,
    misread,
    normalizing,
    reordered,
    subwords,
    unflagged,
    without,
    words,
)

MUTANTS = (
    characters(
        "strips-left-only", "A Strip of both sides strips the left one alone.",
        b"a ", **misread("normalizer", "Strip", strip_right=False),
    ),
    characters(
        "strips-ascii-only", "A Strip strips the white space of ASCII alone.",
        "\u3000a".encode(), **normalizing(0, lambda text: text.strip(" \t\n\r\v\f")),
    ),
    characters(
        "replaces-the-first", "A Replace replaces the first match only.",
        b"ccacc", **normalizing(3, lambda text: text.replace("cc", "c", 1)),
    ),
    characters(
        "replaces-again",
        "A Replace replaces in what it has replaced, until nothing matches.",
        b"cccc", **normalizing(3, lambda text: re.sub("c+", "c", text)),
    ),
    characters(
        "form-first",
        "NFKC is applied before Lowercase, which the file has first: capitals of it are lowered.",
        "\u210b".encode(), **reordered("normalizer", "Strip", "NFKC", "Lowercase"),
    ),
    characters(
        "canonical-only",
        "NFKC is taken for NFC, which leaves ligatures and wide letters as they are.",
        "\ufb01".encode(), **misread("normalizer", "NFKC", type="NFC"),
    ),
    affixes(
        "lowers-ascii-only", "Lowercase lowers the letters of ASCII alone.", "\xc9".encode(),
        **normalizing(0, lambda text: text.encode().lower().decode()),
    ),
    affixes(
        "lowers-final-sigma",
        "Lowercase looks at the word: a capital sigma that ends one becomes another small letter.",
        "a\u03a3".encode(), **normalizing(0, str.lower),
    ),
    characters(
        "prepends-to-nothing", "Prepend puts its text before the empty text, too.", b"",
        "self.encoder.encode(data, mode)",
        "self.encoder.encode(data or b' a', mode)[: None if data else 1]",
    ),
    subwords(
        "chinese-in-words", "BertNormalizer puts no spaces around Chinese characters.",
        "\u65e5\u672c".encode(),
        **misread("normalizer", "BertNormalizer", handle_chinese_chars=False),
    ),
    subwords(
        "keeps-accents",
        "BertNormalizer strips accents where the file says so alone, not where it lowers.",
        "\xe9".encode(), **misread("normalizer", "BertNormalizer", strip_accents=False),
    ),
    subwords(
        "keeps-controls", "BertNormalizer does not clean the text of controls.",
        "a\xadb".encode(), **misread("normalizer", "BertNormalizer", clean_text=False),
    ),
    subwords(
        "skips-nmt", "Nmt does nothing: characters without a width part no words.",
        "a\u200bb".encode(), **without("normalizer", "Nmt"),
    ),
    words(
        "added-as-written",
        "An added token that is to be found in the normalized text is looked for as it is written.",
        b"n-e", **unflagged("normalized"),
    ),
)  # fmt: skip
