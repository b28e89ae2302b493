"""Mistakes before merging: patterns, classes of characters, normalization nobody asked for."""

from __future__ import annotations

import unicodedata
from typing import ClassVar

import regex

from harness.studies.selftest.mutant import planted
from harness.studies.selftest.plain.bpe import PlainBpe

LONGEST_WORD = 16

LOWER_UPPER = " \u0436\u0438\u0432\u043e\u0424\u0421\u0420"
"""Cyrillic, small letters and then capitals."""


class Pattern(PlainBpe):
    """One part of the pattern is another."""

    modes = ("text",)
    there: ClassVar[str] = ""
    instead: ClassVar[str] = ""

    def splits(self) -> tuple[str, ...]:
        right = super().splits()
        wrong = tuple(split.replace(self.there, self.instead) for split in right)
        if wrong == right:
            raise ValueError(f"{self.name}: nothing to change in the pattern; it is planted wrong")
        return wrong


class Rewritten(PlainBpe):
    """The text is changed before it is encoded."""

    modes = ("text",)

    def rewrite(self, text: str) -> str:
        """The text that is encoded."""
        return text

    def pieces(self, text: str) -> list[str]:
        return super().pieces(self.rewrite(text))


class Reclassified(PlainBpe):
    """Characters are taken for others where the text is split."""

    modes = ("text",)

    def taken_for(self, text: str) -> str:
        """A text of the same length that is split instead."""
        return text

    def pieces(self, text: str) -> list[str]:
        found, place = [], 0
        for piece in super().pieces(self.taken_for(text)):
            found.append(text[place : place + len(piece)])
            place += len(piece)
        return found


@planted("equivalence", on="toy_bytes", mode="text", shows=(b"'the",))
class NoContraction(Pattern):
    """The contraction ``'t`` is missing from the pattern."""

    there = "'t|"


@planted("equivalence", on="toy_bytes", mode="text", shows=(b"  the",))
class NoLookahead(Pattern):
    """White space takes the space that belongs to the word after it."""

    there = r"\s+(?!\S)|"


@planted("equivalence", on="toy_bytes", mode="text", shows=(b" the",))
class NoLeadingSpace(Pattern):
    """Words do not take the space before them."""

    there = r" ?\p{L}+"
    instead = r"\p{L}+"


@planted("equivalence", on="toy_bytes", mode="text", shows=(b"123",))
class PairsOfDigits(Pattern):
    """Digits come in twos."""

    there = r"\p{N}+"
    instead = r"\p{N}{1,2}"


@planted("equivalence", on="toy_bytes", mode="text", shows=("\u2019the".encode(),))
class CurlyContraction(Pattern):
    """The typographic apostrophe makes contractions, too."""

    there = "'t"
    instead = "['\u2019]t"


@planted(
    "equivalence",
    on="tekken_240911",
    mode="text",
    shows=(" \u0436\u0438\u0432\u043e\u0424\u0421\u0420".encode(),),
)
class NoCamelCase(Pattern):
    """Words are not split where capitals begin."""

    there = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    instead = r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+"


@planted("equivalence", on="tekken_240911", mode="text", shows=(" \u036ba".encode(),))
class NoMarks(Pattern):
    """Marks are no part of a word."""

    there = r"\p{M}"


@planted("equivalence", on="tekken_240911", mode="text", shows=(" \u02b0".encode(),))
class NoModifierLetters(Pattern):
    """Modifier letters are left out of the class of letters."""

    there = r"\p{Lm}"


@planted("equivalence", on="tekken_240911", mode="text", shows=(b"  \n\nx",))
class LineEndsAlone(Pattern):
    """Line ends do not take the white space before them."""

    there = r"\s*[\r\n]+"
    instead = r"[\r\n]+"


@planted("equivalence", on="tekken_240911", mode="text", shows=(b"_\n",))
class NoSlash(Pattern):
    """Punctuation does not take the slashes and line ends after it."""

    there = r"[\r\n/]*"


@planted("equivalence", on="tekken_240911", mode="text", shows=(b"/A",))
class SpaceBeforeWords(Pattern):
    """Only a space, and not any other character, is taken into the word after it."""

    there = r"[^\r\n\p{L}\p{N}]?"
    instead = " ?"


@planted("equivalence", on="tekken_240911", mode="text", shows=(" \xb2".encode(),))
class AsciiDigits(Pattern):
    """Only the digits 0 to 9 are numbers."""

    there = r"\p{N}"
    instead = "0-9"

    def splits(self) -> tuple[str, ...]:
        return tuple(split.replace("|0-9|", "|[0-9]|") for split in super().splits())


@planted("equivalence", on="tekken_240911", mode="text", shows=(b"a" * 16 + b"x",))
class ShortWords(Pattern):
    """A word ends after sixteen letters."""

    there = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    instead = rf"[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]{{1,{LONGEST_WORD}}}"


@planted("equivalence", on="tekken_240911", mode="text", shows=("\u0d3f\u0d7b".encode(),))
class OldUnicode(Reclassified):
    """Characters are what they were in Unicode 3.2: later ones are unassigned."""

    def taken_for(self, text: str) -> str:
        old = unicodedata.ucd_3_2_0.category
        return "".join("\uffff" if old(one) == "Cn" and ord(one) > 0x21F else one for one in text)


@planted("equivalence", on="tekken_240911", mode="text", shows=("\U0001224e's".encode(),))
class SurrogatesSplit(Reclassified):
    """Characters beyond U+FFFF are no letters, as they are two units of UTF-16."""

    def taken_for(self, text: str) -> str:
        return "".join("\uffff" if one > "\uffff" else one for one in text)


@planted("equivalence", on="tekken_240911", mode="text", shows=(b"        \x1f'S",))
class SeparatorsAreSpaces(Reclassified):
    """The separators U+001C to U+001F are white space, as ``str.isspace`` has it."""

    def taken_for(self, text: str) -> str:
        return regex.sub("[\x1c-\x1f]", " ", text)


@planted("equivalence", on="tekken_240911", mode="text", shows=("\xa0\xa0x".encode(),))
class NoBreakSpace(Reclassified):
    """The no-break space is no white space."""

    def taken_for(self, text: str) -> str:
        return text.replace("\xa0", "$")


@planted("equivalence", on="tekken_240911", mode="text", shows=("e\u0301".encode(),))
class Composes(Rewritten):
    """The text is normalized to NFC, which the vocabulary does not ask for."""

    def rewrite(self, text: str) -> str:
        return unicodedata.normalize("NFC", text)


@planted("equivalence", on="tekken_240911", mode="text", shows=(b"\r\n",))
class UniversalNewlines(Rewritten):
    """Line ends become line feeds, as a file opened for text has them."""

    def rewrite(self, text: str) -> str:
        return text.replace("\r\n", "\n")


@planted("equivalence", on="tekken_240911", mode="text", shows=("\ufeffa".encode(),))
class StripsMark(Rewritten):
    """A byte-order mark at the beginning is taken away."""

    def rewrite(self, text: str) -> str:
        return text.removeprefix("\ufeff")


@planted("equivalence", on="tekken_240911", mode="text", shows=("\u0130".encode(),))
class FoldsDottedI(Rewritten):
    """The dotted capital I is decomposed on the way, as by a change of case and back."""

    def rewrite(self, text: str) -> str:
        return text.replace("\u0130", "I\u0307")
