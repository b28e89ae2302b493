"""Word shapes of some thirty scripts and languages, for prose that is not any real text.

A locale says which characters its words are made of (ranges of code points, of which the letters
and marks count), how words are joined, and its punctuation and digits, after the exemplar
characters of Unicode's CLDR.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import msgspec


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


LOCALES = msgspec.toml.decode(
    Path(__file__).with_name("locales.toml").read_bytes(), type=dict[str, tuple[Locale, ...]]
)["locale"]
"""One a language or script; prose is drawn from them in their order."""


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
