"""Pre-tokenization as of Unicode 16, whatever the `regex` package knows by now.

tiktoken, tokenizers, llguidance and rs-bpe of the versions that tokgate was written against
classify characters by Unicode 16; the `regex` package of 2026 by Unicode 18. A character that was
unassigned then would begin another pre-token here than in all of them. So, before the patterns
run, characters that are newer are replaced by stand-ins that are still what those were.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache
from typing import Literal, cast

import numpy as np

from impls.interface import Unsupported

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

UNICODE_VERSION = 16
"""Decides the pre-tokens, and so is part of the declared version of whoever uses them."""

# Code points assigned in Unicode 17 or 18: the ranges where `\\p{Cn}` of regex 2026.11.15 and of
# tiktoken 0.14.0 (Unicode 16) part. A test compares the two, with the stand-ins, over all scalar
# values, in this and in each property that the patterns name.
_NEWER_RANGES = """
0558 058B-058C 05C8-05C9 088F 0B53-0B54 0C5C 0CDC 1ACF-1AF0 208F 209D-209F 20C1-20C4 2B96
2E60-2E63 A7CE-A7CF A7D2 A7D4 A7DD A7E2 A7F1 AB6C-AB6D FBC3-FBD2 FD90-FD91 FDC8-FDCE
107BB-107BF 10940-10959 10EC5-10EC7 10EC9-10EEE 10EF0-10EFB 11B0A 11B60-11B67 11DB0-11DDB
11DE0-11DE9 11DF0-11DF1 1246F 12475-1247F 12550-12686 16EA0-16EB8 16EBB-16ED3 16FF2-16FF6
187F8-187FF 18CD6-18CDA 18D09-18D20 18D80-18DF2 18E00-19191 191A0-191D2 1B123-1B128 1B168
1CCFA-1CCFC 1CEBA-1CED0 1CED2-1CED4 1CEDD-1CEFD 1D127-1D128 1D1EB-1D1FF 1D250-1D281 1D6A6
1DB00-1DB1C 1DF1F-1DF24 1DF2B-1DF81 1DF90-1DF96 1DFCD-1DFFF 1E6C0-1E6DE 1E6E0-1E6F5
1E6FE-1E6FF 1F1AE 1F6D8-1F6D9 1F777-1F77A 1F7DA-1F7DB 1F7F1-1F7FF 1F8D0-1F8D8 1FA54-1FA57
1FA8A-1FA8E 1FAC8 1FACC-1FACD 1FADD 1FAEA-1FAEB 1FAEF 1FAF9-1FAFA 1FBFA 2B73A-2B73F 2B81E
2CEA2-2CEAD 323B0-33479 3D000-3FC3F
"""

_UNASSIGNED = "\uffff"
"""A noncharacter, and so unassigned for ever."""

_UNASSIGNED_EAST_ASIAN = "\u2fe0"
"""Unassigned, too, and inside the range that DeepSeek's pattern takes for Chinese and Japanese."""

_LATIN_SMALL_LETTER_TURNED_A = "\u0250"
"""Stands for U+0295, which Unicode 17 made an uncased letter: a small letter like it was."""


def _stand_ins() -> dict[str, str]:
    found = {"\u0295": _LATIN_SMALL_LETTER_TURNED_A}
    for part in _NEWER_RANGES.split():
        first, _, last = part.partition("-")
        for code in range(int(first, 16), int(last or first, 16) + 1):
            east_asian = 0x0800 <= code <= 0x4E00
            found[chr(code)] = _UNASSIGNED_EAST_ASIAN if east_asian else _UNASSIGNED
    return found


_STAND_INS = _stand_ins()
_NEWER = frozenset(_STAND_INS)
"""18,000 characters: testing a text against a set is four times as fast as a character class."""


def as_of_unicode_16(text: str) -> str:
    """``text``, or a text of the same number of characters with stand-ins for the newer ones."""
    if text.isascii() or _NEWER.isdisjoint(text):
        return text
    return "".join([_STAND_INS.get(character, character) for character in text])


@lru_cache(maxsize=1)
def all_code_points_as_of_unicode_16() -> str:
    """A text of 0x110000 characters: each code point in order, or the stand-in for it."""
    codes = np.arange(sys.maxunicode + 1, dtype="<u4")
    codes[[ord(newer) for newer in _STAND_INS]] = [
        ord(stand_in) for stand_in in _STAND_INS.values()
    ]
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


@lru_cache(maxsize=1)
def versioned() -> re.Pattern[str]:
    """Characters of which normalization makes other texts in other versions of Unicode.

    Those that came after Unicode 3.2, the oldest that Python has tables of, and decompose, combine,
    or are what such a one decomposes to. The libraries have tables of different ages: tokenizers
    leaves U+32FF, of 2019, as it is. That is no mistake of anybody's whom the answer would blame.
    """
    old, found = unicodedata.ucd_3_2_0, set()
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if old.category(character) != "Cn":
            continue
        parts = unicodedata.decomposition(character).split()
        if parts or unicodedata.combining(character):
            found.add(character)
            texts = (chr(int(part, 16)) for part in parts if not part.startswith("<"))
            found.update(text for text in texts if old.category(text) == "Cn")
    return re.compile(f"[{''.join(map(re.escape, sorted(found)))}]")


def in_form(text: str, form: str) -> str:
    """The text in a normalization form. Unsupported where that depends on Unicode's version."""
    if not text.isascii() and versioned().search(text):
        raise Unsupported(f"{form} of this text depends on the version of Unicode")
    return unicodedata.normalize(cast("Form", form), text)
