"""Mistakes before merging: patterns, classes of characters, normalization nobody asked for."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.studies.selftest.catalog import Mutant
from harness.studies.selftest.plain.bpe import PlainBpe

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

toy = Mutant("equivalence", "toy_bytes", PlainBpe, "text")
# What is split in place of the text is as long as the text.
dated = Mutant("equivalence", "tekken_240911", PlainBpe, "text", at="as_of_unicode_16(text)")
tekken = Mutant("equivalence", "tekken_240911", PlainBpe, "text", at="self.pieces(part)")


def pattern(there: str, instead: str = "") -> dict[str, Any]:
    """A change of the vocabulary's pattern. Raises ValueError where there is nothing to change."""

    def read(_: PlainBpe, vocabulary: Vocabulary) -> Vocabulary:
        wrong = tuple(split.replace(there, instead) for split in vocabulary.splits)
        if wrong == vocabulary.splits:
            raise ValueError(f"nothing to change in the pattern: {there}")
        return replace(vocabulary, splits=wrong)

    return {"read": read}


def as_of_unicode_3(text: str) -> str:
    """The text with an unassigned character for each that Unicode 3.2 did not have."""
    old = unicodedata.ucd_3_2_0.category
    return "".join("\uffff" if old(one) == "Cn" and ord(one) > 0x21F else one for one in text)


MUTANTS = (
    toy(
        "no-contraction", "The contraction ``'t`` is missing from the pattern.",
        b"'the", **pattern("'t|"),
    ),
    toy(
        "no-lookahead", "White space takes the space that belongs to the word after it.",
        b"  the", **pattern(r"\s+(?!\S)|"),
    ),
    toy(
        "no-leading-space", "Words do not take the space before them.",
        b" the", **pattern(r" ?\p{L}+", r"\p{L}+"),
    ),
    toy(
        "pairs-of-digits", "Digits come in twos.",
        b"123", **pattern(r"\p{N}+", r"\p{N}{1,2}"),
    ),
    toy(
        "curly-contraction", "The typographic apostrophe makes contractions, too.",
        "\u2019the".encode(), **pattern("'t", "['\u2019]t"),
    ),
    tekken(
        "no-camel-case", "Words are not split where capitals begin.",
        " \u0436\u0438\u0432\u043e\u0424\u0421\u0420".encode(),
        **pattern(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
            r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+",
        ),
    ),
    tekken("no-marks", "Marks are no part of a word.", " \u036ba".encode(), **pattern(r"\p{M}")),
    tekken(
        "no-modifier-letters", "Modifier letters are left out of the class of letters.",
        " \u02b0".encode(), **pattern(r"\p{Lm}"),
    ),
    tekken(
        "line-ends-alone", "Line ends do not take the white space before them.",
        b"  \n\nx", **pattern(r"\s*[\r\n]+", r"[\r\n]+"),
    ),
    tekken(
        "no-slash", "Punctuation does not take the slashes and line ends after it.",
        b"_\n", **pattern(r"[\r\n/]*"),
    ),
    tekken(
        "space-before-words",
        "Only a space, and not any other character, is taken into the word after it.",
        b"/A", **pattern(r"[^\r\n\p{L}\p{N}]?", " ?"),
    ),
    tekken(
        "ascii-digits", "Only the digits 0 to 9 are numbers.",
        " \xb2".encode(), "regex.compile(split)",
        r"regex.compile(split.replace(r'\p{N}', '0-9').replace('|0-9|', '|[0-9]|'))",
    ),
    tekken(
        "short-words", "A word ends after sixteen letters.", b"a" * 16 + b"x",
        **pattern(r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]{1,16}"),
    ),
    dated(
        "old-unicode", "Characters are what they were in Unicode 3.2: later ones are unassigned.",
        "\u0d3f\u0d7b".encode(), "as_of_unicode_3(text)",
    ),
    dated(
        "surrogates-split",
        "Characters beyond U+FFFF are no letters, as they are two units of UTF-16.",
        "\U0001224e's".encode(), r"regex.sub('[\U00010000-\U0010ffff]', '\uffff', @)",
    ),
    dated(
        "separators-are-spaces",
        "The separators U+001C to U+001F are white space, as ``str.isspace`` has it.",
        b"        \x1f'S", r"regex.sub('[\x1c-\x1f]', ' ', @)",
    ),
    dated(
        "no-break-space", "The no-break space is no white space.",
        "\xa0\xa0x".encode(), r"@.replace('\xa0', '$')",
    ),
    tekken(
        "composes", "The text is normalized to NFC, which the vocabulary does not ask for.",
        "e\u0301".encode(), "self.pieces(unicodedata.normalize('NFC', part))",
    ),
    tekken(
        "universal-newlines", "Line ends become line feeds, as a file opened for text has them.",
        b"\r\n", r"self.pieces(part.replace('\r\n', '\n'))",
    ),
    tekken(
        "strips-mark", "A byte-order mark at the beginning is taken away.",
        "\ufeffa".encode(), r"self.pieces(part.removeprefix('\ufeff'))",
    ),
    tekken(
        "folds-dotted-i",
        "The dotted capital I is decomposed on the way, as by a change of case and back.",
        "\u0130".encode(), r"self.pieces(part.replace('\u0130', 'I\u0307'))",
    ),
)  # fmt: skip
