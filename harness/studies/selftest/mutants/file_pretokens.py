"""Mistakes with the pre-tokenizers and the added tokens of a tokenizer.json."""

from __future__ import annotations

import re

from harness.studies.selftest.mutants.files import (
    affixes,
    misread,
    scores,
    splitting,
    subwords,
    unflagged,
    without,
    words,
)

PART = "pre_tokenizer"

LENGTH = 4
"""Of the pieces of FixedLength in ``toy_file_affixes``."""


def of_bytes(piece: str, length: int) -> list[str]:
    """A piece in parts of so many bytes, each of which ends where a character does."""
    parts = [""]
    for one in piece:
        if parts[-1] and len((parts[-1] + one).encode()) > length:
            parts.append("")
        parts[-1] += one
    return parts


MUTANTS = (
    words(
        "joins-the-next",
        "A match that is to join what stands before it joins what stands after it.",
        b"bab", **misread(PART, "Split", "MergedWithPrevious", behavior="MergedWithNext"),
    ),
    words(
        "isolates-matches", "A match that is to join what stands before it is a piece of its own.",
        b"ba", **misread(PART, "Split", "MergedWithPrevious", behavior="Isolated"),
    ),
    words(
        "joins-matches-in-a-row",
        "Matches in a row are one piece where each is to join what stands before.",
        b"aab", **misread(PART, "Split", "MergedWithPrevious", behavior="Contiguous"),
    ),
    words(
        "keeps-what-is-removed", "What a Split is to remove is kept as a piece.",
        b"a\n", **misread(PART, "Split", "Removed", behavior="Isolated"),
    ),
    words(
        "ignores-invert",
        "A Split that is inverted removes its matches, not what stands between them.",
        b"a", **misread(PART, "Split", "Removed", invert=False),
    ),
    words(
        "joins-punctuation",
        "Marks of punctuation in a row are one piece, though the file isolates each.",
        b"..", **misread(PART, "Punctuation", behavior="Contiguous"),
    ),
    words(
        "joins-digits", "Digits in a row are one piece, though the file has them individual.",
        b"12", **misread(PART, "Digits", individual_digits=False),
    ),
    words(
        "keeps-the-delimiter", "CharDelimiterSplit keeps the delimiter as a piece.",
        b"a-b", **misread(
            PART, "CharDelimiterSplit", type="Split", pattern={"String": "-"}, behavior="Isolated"
        ),
    ),
    subwords(
        "punctuation-in-words", "BertPreTokenizer parts words at white space alone.",
        b"a.", **misread(PART, "BertPreTokenizer", type="WhitespaceSplit"),
    ),
    scores(
        "marks-every-part",
        'A Metaspace of the scheme "first" puts its mark after each added token, too.',
        b"<x>a", **misread(PART, "Metaspace", prepend_scheme="always"),
    ),
    scores(
        "marks-nothing", 'A Metaspace of the scheme "first" puts its mark nowhere.',
        b"a", **misread(PART, "Metaspace", prepend_scheme="never"),
    ),
    scores(
        "parts-no-words",
        "A Metaspace leaves the text in one piece, though the file parts it at each mark.",
        b"b b", **misread(PART, "Metaspace", split=False),
    ),
    affixes(
        "ignores-scripts", "UnicodeScripts parts nothing.",
        "\u65e5a".encode(), **without(PART, "UnicodeScripts"),
    ),
    affixes(
        "parts-kana-from-han", "UnicodeScripts parts kana from Chinese characters.",
        "\u65e5\u3042".encode(), **splitting(
            1, lambda pieces: [part for one in pieces for part in re.split("(\u3042+)", one)]
        ),
    ),
    affixes(
        "fixed-length-of-bytes",
        "FixedLength counts bytes, and ends a piece where a character goes beyond.",
        "ab\xe9ab".encode(), **splitting(
            2, lambda pieces: of_bytes("".join(pieces), LENGTH)
        ),
    ),
    words(
        "added-in-words",
        "An added token that is to be a word of its own is found inside words, too.",
        b"abcab", **unflagged("single_word"),
    ),
    words(
        "keeps-space-before",
        "An added token does not take the white space before it, though the file says lstrip.",
        b" <l>", **unflagged("lstrip"),
    ),
    words(
        "keeps-space-after",
        "An added token does not take the white space after it, though the file says rstrip.",
        b"<r> b", **unflagged("rstrip"),
    ),
)  # fmt: skip
