"""What a variant makes of each character, in one table.

A character becomes symbols: characters with their class and place in canonical order, packed as
``rank << 23 | class << 21 | code point``.
"""

from __future__ import annotations

import sys
import unicodedata
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import regex

from corpora.vocabularies.tables_on_disk import kept_arrays
from impls.kernels.table_cache import digest_of, source_of
from impls.pretokenize.unicode_version import all_code_points_as_of_unicode_16
from impls.wordpiece.variants import CJK, WHITE_SPACE, CharacterClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from corpora.vocabularies.model import WordPieceRules
    from impls.kernels.layout import Flags, Ints, Longs
    from impls.wordpiece.variants import Variant

CODE_BITS = 21
CODE_MASK = (1 << CODE_BITS) - 1
RANK_SHIFT = 23

WORD = 0
"""Part of a word."""
SEPARATOR = 1
"""White space: ends a word."""
ALONE = 2
"""Punctuation and Chinese: a word of its own."""

NOTHING = -1
"""The entry of a character that is dropped."""

_BLOCK = 128
"""Characters looked at together when searching for the few that change."""


class Characters(NamedTuple):
    """The table.

    entries: int32, 0x110000: a symbol, NOTHING, or ``-2 - i`` for several symbols, which stand in
    ``sequences[i + 1:]``, their number in ``sequences[i]``.
    growth: no byte of UTF-8 makes more symbols, nor more bytes of UTF-8, than this.
    """

    entries: Ints
    sequences: Ints
    growth: int


def make_characters(variant: Variant, rules: WordPieceRules) -> Characters:
    """The table of a variant under a vocabulary's rules: about 0.3 s, then it is kept on disk."""
    # Prefix and limit do not matter here.
    return _make_characters(variant, replace(rules, prefix="##", max_word=100))


@lru_cache(maxsize=8)
def _make_characters(variant: Variant, rules: WordPieceRules) -> Characters:
    # What characters are is had from Unicode as these two know it.
    unicode = (unicodedata.unidata_version, regex.__version__)
    entries, sequences, growth = kept_arrays(
        f"{digest_of((variant, rules, *unicode))}-characters",
        lambda: _tables(variant, rules),
        source_of("impls/wordpiece", "impls/pretokenize/unicode_version.py"),
    )
    return Characters(entries, sequences, int(growth[0]))


def _tables(variant: Variant, rules: WordPieceRules) -> tuple[Ints, Ints, Longs]:
    """Of the table: entries, sequences, and the growth as the one entry of an array."""
    size = sys.maxunicode + 1
    classes = np.zeros(size, dtype=np.int32)
    classes[_members(variant.punctuation)] = ALONE
    classes[_members(CharacterClass(WHITE_SPACE))] = SEPARATOR
    marks = _members(variant.marks)
    lowered = _lowered(variant) if rules.lowercase else {}
    decomposed = _decomposed(variant) if rules.strip_accents else {}
    ranks = _ranks(variant) if rules.strip_accents else {}
    entries = np.arange(size, dtype=np.int32) | classes << CODE_BITS
    for code, rank in ranks.items():
        entries[code] |= rank << RANK_SHIFT
    if rules.handle_chinese_chars:
        for first, last in _ranges(CJK):
            entries[first : last + 1] &= CODE_MASK
            entries[first : last + 1] |= ALONE << CODE_BITS
    sequences: list[int] = []
    growth = 1
    for code in sorted({*lowered, *decomposed}):
        symbols = [
            small | int(classes[small]) << CODE_BITS | ranks.get(small, 0) << RANK_SHIFT
            for part in decomposed.get(code, (code,))
            if not (rules.strip_accents and marks[part])
            for small in lowered.get(part, (part,))
        ]
        if int(entries[code]) >> CODE_BITS == ALONE and symbols:
            symbols = [symbol & CODE_MASK | ALONE << CODE_BITS for symbol in symbols]
        entries[code] = _entry(symbols, sequences)
        made = sum(len(chr(symbol & CODE_MASK).encode()) for symbol in symbols)
        growth = max(growth, -(-made // len(chr(code).encode())))
    if rules.strip_accents:
        entries[marks] = NOTHING
    if rules.clean_text:
        entries[_members(variant.controls)] = NOTHING
    return (
        entries,
        np.array(sequences or [0], dtype=np.int32),
        np.array([growth], dtype=np.int64),
    )


def _entry(symbols: list[int], sequences: list[int]) -> int:
    if not symbols:
        return NOTHING
    if len(symbols) == 1:
        return symbols[0]
    at = len(sequences)
    sequences += [len(symbols), *symbols]
    return -2 - at


def _ranges(text: str) -> Iterator[tuple[int, int]]:
    for part in text.split():
        first, _, last = part.partition("-")
        yield int(first, 16), int(last or first, 16)


def _members(wanted: CharacterClass) -> Flags:
    found = np.zeros(sys.maxunicode + 1, dtype=np.bool_)
    text = all_code_points_as_of_unicode_16()
    for run in regex.finditer(f"(?:{wanted.expression})+", text):
        found[run.start() : run.end()] = True
    for first, last in _ranges(wanted.without):
        found[first : last + 1] = False
    for first, last in _ranges(wanted.besides):
        found[first : last + 1] = True
    return found


def _changed(change: Callable[[str], str]) -> dict[int, tuple[int, ...]]:
    """The code points that a change of single characters changes, as of Unicode 16."""
    text = all_code_points_as_of_unicode_16()
    found: dict[int, tuple[int, ...]] = {}
    for start in range(0, len(text), _BLOCK):
        block = text[start : start + _BLOCK]
        if change(block) == block:
            continue
        for code, character in enumerate(block, start):
            if ord(character) == code and change(character) != character:
                found[code] = tuple(map(ord, change(character)))
    return found


def _lowered(variant: Variant) -> dict[int, tuple[int, ...]]:
    found = _changed(str.lower)
    if variant.simple_lowercase:
        found = {code: letters[:1] for code, letters in found.items()}
    for entry in variant.lowercase.split():
        capitals, _, small = entry.partition("=")
        for first, last in _ranges(capitals):
            found.update({c: (int(small, 16) + c - first,) for c in range(first, last + 1)})
    return _without(found, variant.uncased)


def _decomposed(variant: Variant) -> dict[int, tuple[int, ...]]:
    found = _changed(lambda text: unicodedata.normalize("NFD", text))
    if not variant.whole_decomposition:
        found = {code: parts[:1] for code, parts in found.items()}
    return _without(found, variant.undecomposed)


def _without(found: dict[int, tuple[int, ...]], text: str) -> dict[int, tuple[int, ...]]:
    gone = {code for first, last in _ranges(text) for code in range(first, last + 1)}
    return {code: parts for code, parts in found.items() if code not in gone}


def _ranks(variant: Variant) -> dict[int, int]:
    """The places of marks in canonical order: 1, 2, .. for the combining classes that occur."""
    codes = [c for first, last in _ranges(variant.reordered) for c in range(first, last + 1)]
    of = {code: unicodedata.combining(chr(code)) for code in codes}
    order = {combining: rank for rank, combining in enumerate(sorted(set(of.values())), 1)}
    return {code: order[combining] for code, combining in of.items()}
