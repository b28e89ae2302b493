"""Word shapes of some thirty scripts and languages, for prose that is not any real text.

A locale says which characters its words are made of (ranges of code points, of which the letters
and marks count), how words are joined, and its punctuation and digits, after the exemplar
characters of Unicode's CLDR.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Locale:
    """How text of one language or script looks.

    ranges: first and last code points of its letters and marks; unassigned ones are passed over.
    joiner: what stands between words ("" where words are not separated).
    stops: ends of a clause, spaces included. quotes: an opening and a closing mark.
    zero: the digit nought, the others following it. casing: words may begin with a capital.
    extra: letters or sequences outside the ranges, as whole syllables.
    """

    name: str
    ranges: tuple[tuple[int, int], ...]
    joiner: str = " "
    stops: tuple[str, ...] = (". ", ", ", "? ", "; ", "\n")
    quotes: tuple[str, str] = ("\u201c", "\u201d")
    zero: str = "0"
    casing: bool = False
    extra: tuple[str, ...] = ()


_LATIN = (0x61, 0x7A)
_DANDA = ("\u0964 ", ", ", "\u0965\n", "? ", "\n")
_CJK_STOPS = ("\u3002", "\uff0c", "\u3001", "\uff1f", "\uff01", "\n")
_ARABIC_STOPS = (". ", "\u060c ", "\u061f ", "\u061b ", "\n")
_GUILLEMETS = ("\u00ab\u00a0", "\u00a0\u00bb")
_CORNERS = ("\u300c", "\u300d")

LOCALES = (
    Locale("english", (_LATIN,), casing=True, extra=("th", "'s ", "n't ", "-")),
    Locale("german", (_LATIN,), quotes=("\u201e", "\u201c"), casing=True,
           extra=("\u00e4", "\u00f6", "\u00fc", "\u00df", "sch")),
    Locale("french", (_LATIN,), quotes=_GUILLEMETS, stops=(". ", ", ", "\u202f? ", "\u00a0: "),
           casing=True, extra=("\u00e9", "\u00e8", "\u00e7", "\u0153", "l\u2019", "qu'")),
    Locale("spanish", (_LATIN,), quotes=("\u00bf", "?"), casing=True,
           extra=("\u00f1", "\u00e1", "\u00ed", "\u00f3", "\u00ba")),
    Locale("turkish", (_LATIN,), casing=True,
           extra=("\u0131", "\u0130", "\u015f", "\u011f", "\u00e7", "i\u0307")),
    Locale("polish", (_LATIN, (0x104, 0x107), (0x141, 0x144), (0x179, 0x17C)), casing=True),
    Locale("vietnamese", (_LATIN, (0x1EA0, 0x1EF9)), casing=True,
           extra=("\u01b0\u01a1", "\u0111", "e\u0302\u0301", "o\u031b\u0300", "ng")),
    Locale("greek", ((0x3AC, 0x3CE), (0x1F00, 0x1F15)), quotes=_GUILLEMETS, casing=True,
           stops=(". ", ", ", "\u037e ", "\u0387 "), extra=("\u03c2 ",)),
    Locale("russian", ((0x430, 0x451),), quotes=("\u00ab", "\u00bb"), casing=True),
    Locale("ukrainian", ((0x430, 0x44F),), casing=True,
           extra=("\u0456", "\u0457", "\u0454", "\u0491", "\u2019", "\u0438\u0306")),
    Locale("armenian", ((0x561, 0x587),), stops=("\u0589 ", ", ", "\u055e ", "\n"), casing=True),
    Locale("georgian", ((0x10D0, 0x10F0),)),
    Locale("hebrew", ((0x5D0, 0x5EA), (0x5B0, 0x5BC)), extra=("\u05be", "\u05f4", "\u05d9\u05b0")),
    Locale("arabic", ((0x620, 0x64A), (0x64B, 0x652)), stops=_ARABIC_STOPS, zero="\u0660",
           extra=("\u0627\u0644", "\u0644\u0627", "\u0640")),
    Locale("persian", ((0x627, 0x64A),), stops=_ARABIC_STOPS, zero="\u06f0",
           extra=("\u06a9", "\u06cc", "\u067e", "\u200c\u0647\u0627")),
    Locale("hindi", ((0x905, 0x939), (0x93E, 0x94D)), stops=_DANDA, zero="\u0966",
           extra=("\u0915\u094d\u0937", "\u094d\u200d", "\u0928\u093c")),
    Locale("bengali", ((0x985, 0x9B9), (0x9BE, 0x9CD)), stops=_DANDA, zero="\u09e6"),
    Locale("punjabi", ((0xA05, 0xA39), (0xA3E, 0xA4D), (0xA70, 0xA71)), stops=_DANDA,
           zero="\u0a66"),
    Locale("gujarati", ((0xA85, 0xAB9), (0xABE, 0xACD)), zero="\u0ae6"),
    Locale("tamil", ((0xB85, 0xBB9), (0xBBE, 0xBCD)), zero="\u0be6"),
    Locale("telugu", ((0xC05, 0xC39), (0xC3E, 0xC4D)), zero="\u0c66"),
    Locale("kannada", ((0xC85, 0xCB9), (0xCBE, 0xCCD)), zero="\u0ce6"),
    Locale("malayalam", ((0xD05, 0xD39), (0xD3E, 0xD4D), (0xD7A, 0xD7F))),
    Locale("sinhala", ((0xD85, 0xDC6), (0xDCA, 0xDDF)), extra=("\u0dca\u200d\u0dbb",)),
    Locale("thai", ((0xE01, 0xE2E), (0xE30, 0xE4D)), joiner="", stops=(" ", "\u0e2f ", "\u0e46 "),
           zero="\u0e50", extra=("\u0e33", "\u0e40\u0e01")),
    Locale("lao", ((0xE81, 0xEAE), (0xEB0, 0xECD)), joiner="", stops=(" ", "\n"), zero="\u0ed0"),
    Locale("tibetan", ((0xF40, 0xF6C), (0xF71, 0xF7D), (0xF90, 0xFBC)), joiner="\u0f0b",
           stops=("\u0f0d ", "\u0f0d\u0f0d\n"), zero="\u0f20"),
    Locale("burmese", ((0x1000, 0x102A), (0x102B, 0x103E)), joiner="", stops=("\u104a ", "\u104b "),
           zero="\u1040"),
    Locale("amharic", ((0x1200, 0x135A),), stops=("\u1362 ", "\u1363 ", "\u1361")),
    Locale("cherokee", ((0x13A0, 0x13F4), (0xAB70, 0xABBF))),
    Locale("khmer", ((0x1780, 0x17A2), (0x17B6, 0x17D2)), joiner="\u200b", stops=("\u17d4 ", " "),
           zero="\u17e0"),
    Locale("mongolian", ((0x1820, 0x1842),), stops=("\u1803 ", "\u1802 "), extra=("\u180e\u1820",)),
    Locale("korean", ((0xAC00, 0xD7A3),),
           extra=("\uc740 ", "\ub294 ", "\uc744 ", "\ud569\ub2c8\ub2e4")),
    Locale("japanese", ((0x3041, 0x3093), (0x30A1, 0x30F6), (0x4E00, 0x4FFF)), joiner="",
           stops=_CJK_STOPS, quotes=_CORNERS, zero="\uff10",
           extra=("\u30fc", "\u3067\u3059", "\u3005")),
    Locale("chinese", ((0x4E00, 0x9FA5),), joiner="", stops=_CJK_STOPS,
           quotes=("\u300a", "\u300b")),
    Locale("deseret", ((0x10428, 0x1044F),), casing=True),
    Locale("gothic", ((0x10330, 0x1034A),), stops=("\u00b7 ",)),
)  # fmt: skip
"""One a language or script; order does not matter."""


@cache
def letters(locale: Locale) -> tuple[str, ...]:
    """The assigned letters and marks of a locale, and its extra sequences four times each."""
    found = [
        chr(code)
        for first, last in locale.ranges
        for code in range(first, last + 1)
        if unicodedata.category(chr(code))[0] in "LM"
    ]
    return (*found, *locale.extra * 4)
