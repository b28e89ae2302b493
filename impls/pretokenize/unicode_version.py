"""Pre-tokenization as of Unicode 16, whatever the `regex` package knows by now.

tiktoken, tokenizers, llguidance and rs-bpe of the versions that tokgate was written against
classify characters by Unicode 16; the `regex` package of 2026 by Unicode 18. A character that was
unassigned then would begin another pre-token here than in all of them. So, before the patterns
run, characters that are newer are replaced by stand-ins that are still what those were. A test
compares `regex` 2026.11.15 and tiktoken 0.14.0, with the stand-ins, over all scalar values, in each
property that the patterns name.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import lru_cache
from typing import Literal, cast

import numpy as np

from corpora.vocabularies.unicode_ages import assigned
from impls.interface import Unsupported

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]

UNICODE_VERSION = 16
"""Decides the pre-tokens, and so is part of the declared version of whoever uses them."""

_UNASSIGNED = "\uffff"
"""A noncharacter, and so unassigned for ever."""

_UNASSIGNED_EAST_ASIAN = "\u2fe0"
"""Unassigned, too, and inside the range that DeepSeek's pattern takes for Chinese and Japanese."""

_LATIN_SMALL_LETTER_TURNED_A = "\u0250"
"""Stands for U+0295, which Unicode 17 made an uncased letter: a small letter like it was."""


def _stand_ins() -> dict[str, str]:
    found = {"\u0295": _LATIN_SMALL_LETTER_TURNED_A}
    for version, those in assigned().items():
        if float(version) > UNICODE_VERSION:
            for one in those:
                east_asian = "\u0800" <= one <= "\u4e00"
                found[one] = _UNASSIGNED_EAST_ASIAN if east_asian else _UNASSIGNED
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
