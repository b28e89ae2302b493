"""The patterns as one automaton each: what every character means after what came before it.

All the patterns have this form, with U for ``[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]``, W for
``[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]``, C for ``(?i:'s|'t|'re|'ve|'m|'ll|'d)``::

    C                              cl100k, Llama 3, Qwen2; GPT-2 as it is spelled
    [^\\r\\n\\p{L}\\p{N}]?\\p{L}+       likewise; GPT-2: a space at most before
    [^\\r\\n\\p{L}\\p{N}]?U*W+C?        o200k, without C? tekken
    [^\\r\\n\\p{L}\\p{N}]?U+W*C?        likewise
    \\p{N}{1,3}                     Qwen2, tekken: {1}; GPT-2: a space and any number of them
     ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*      o200k, tekken: [\\r\\n/]*; GPT-2: without it
    \\s*[\\r\\n]+                    not GPT-2
    \\s+(?!\\S)|\\s+

A piece nearly always ends before the character that cannot be of it, or, of white space, before the
last character; so the automaton says of each character which of these two ends there are, and reads
it but once. The rest is marked for the kernel to see to (:mod:`impls.pretokenize.scanner_kernel`):
contractions, capitals that are given back, and line ends after which more white space came.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from impls.pretokenize.character_classes import (
    APOSTROPHE,
    BLANK,
    CLASSES,
    LINE_END,
    LOWER,
    MARK,
    NUMBER,
    OTHER,
    SLASH,
    SPACE,
    UNCASED,
    UPPER,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LETTERS = (UPPER, LOWER, UNCASED)
_WHITE = (SPACE, BLANK, LINE_END)
_ODD = (OTHER, APOSTROPHE, SLASH, MARK)

# What the piece is so far.
START = 0
"""The state before any character of the piece."""
CAPITALS = 1
"""The state after capitals of U and none of W, with a character before them or not."""
MAY_END = 2
"""The state after characters of U, the last of W, too, so that the word may end here."""
CAPITALS_AFTER = 3
"""The state after characters of U, one of W among them, but not the last: it is given back if
nothing of W follows."""
WORD = 4
"""The state after letters that W+ or ``\\p{L}+`` take."""
DIGITS = 5
"""The state after one digit; the next two states are those after two and three digits."""
ODD_ONE = 8
"""The state after one character that is no white space, letter or number: a word may follow."""
QUOTE = 9
"""The state after one other character that is an apostrophe, where a contraction is a piece."""
ODDS = 10
"""The state after several such characters, or some after a space."""
AFTER_ODDS = 11
"""The state after line ends (and slashes) that follow such characters."""
BLANK_ONE = 12
"""The state after a space."""
WHITE_ONE = 13
"""The state after one character of white space that is neither a space nor a line end."""
BLANKS = 14
"""The state after several characters of white space, the last a space, with no line ends."""
WHITES = 15
"""The state after several characters of white space, the last no space, with no line ends."""
LINE_ENDS = 16
"""The state after white space of which the last character is a line end."""
ON_NEXT_LINE = 17
"""From here on come the states BLANK_ONE to WHITES after line ends. The piece up to those has been
ended, and is taken up again if another line end comes."""
_STATES = ON_NEXT_LINE + WHITES - BLANK_ONE + 1

# An entry of the automaton: the next state, times the row's length, and what is done.
ROW = 16
"""Entries of a state's row, by class."""
STATE = 31 * ROW
"""The bits of the next state."""
END_BEFORE_LAST = 1 << 9
"""A piece ends before the character before this one."""
END_HERE = 1 << 10
"""A piece ends before this one."""
TAKE_UP = 1 << 11
"""The last end was none."""
CONTRACTION = 1 << 12
"""There may be a contraction at the last apostrophe; if there is none, all as said. This and the
next are rare: no greater entry is without one of them."""
GIVE_BACK = 1 << 13
"""The piece ended where CAPITALS_AFTER began."""


@dataclass(frozen=True, slots=True)
class Rules:
    """A pattern. cased: words part where a small letter is followed by a capital.

    prefix: what may be the first character of a word. digits: the most of a piece, 0 for any.
    contraction: of its own piece, or at the end of a word. fold: as in ``(?i:..)``. line_ends:
    whether they end a piece of white space, and may follow others. slash: likewise follow.
    white_to_end: ``\\s++$`` comes before the line ends (tiktoken's spellings since 2024).
    """

    cased: bool
    digits: int
    contraction: Literal["own", "word", "none"]
    prefix: Literal["any", "space"] = "any"
    fold: bool = True
    line_ends: bool = True
    slash: bool = False
    white_to_end: bool = False


@lru_cache(maxsize=16)
def automaton(rules: Rules) -> NDArray[np.uint16]:
    """By ``state * ROW + class``: the next state and what is done."""
    table = np.zeros((STATE // ROW + 1, ROW), dtype=np.uint16)
    for state in range(_STATES):
        for kind in range(CLASSES):
            following, done = _step(rules, state, kind)
            table[state, kind] = following * ROW | done
    flat = table.ravel()
    flat.flags.writeable = False
    return flat


def _step(rules: Rules, state: int, kind: int) -> tuple[int, int]:
    """The next state, and what is done, at a character of class ``kind`` after ``state``."""
    if state == START:
        return _first(rules, kind), 0
    if state >= ON_NEXT_LINE:
        following, done = _step(rules, state - ON_NEXT_LINE + BLANK_ONE, kind)
        if kind not in _WHITE:
            return following, done
        return (LINE_ENDS, TAKE_UP) if following == LINE_ENDS else (_next_line(following), done)
    if state == QUOTE and _is_letter(rules, kind):
        # A contraction or else a word: with the apostrophe if that may be its first character.
        return _first(rules, kind), CONTRACTION | (0 if rules.prefix == "any" else END_HERE)
    within = _within(rules, state, kind)
    if within is not None:
        return within, 0
    if state in (BLANKS, WHITES):
        # The look-ahead gives one character back, and the next piece begins with that.
        following, done = _step(rules, BLANK_ONE if state == BLANKS else WHITE_ONE, kind)
        return following, done | END_BEFORE_LAST
    if state == CAPITALS_AFTER:
        return START, GIVE_BACK
    following = _first(rules, kind)
    if state == LINE_ENDS and kind in _WHITE:
        return _next_line(following), END_HERE
    contracts = rules.contraction == "word" and state in (CAPITALS, MAY_END, WORD)
    return following, END_HERE | (CONTRACTION if contracts and kind == APOSTROPHE else 0)


def _next_line(state: int) -> int:
    return state - BLANK_ONE + ON_NEXT_LINE


def _first(rules: Rules, kind: int) -> int:
    """The state after the first character of a piece, or the first letter of a word."""
    if _is_letter(rules, kind):
        return {UPPER: CAPITALS, LOWER: WORD}.get(kind, MAY_END) if rules.cased else WORD
    if kind == NUMBER:
        return DIGITS
    if kind == LINE_END and rules.line_ends:
        return LINE_ENDS
    if kind in _WHITE:
        return BLANK_ONE if kind == BLANK else WHITE_ONE
    return QUOTE if kind == APOSTROPHE and rules.contraction == "own" else ODD_ONE


def _is_letter(rules: Rules, kind: int) -> bool:
    return kind in _LETTERS or (kind == MARK and rules.cased)


def _within(rules: Rules, state: int, kind: int) -> int | None:
    """The state if the piece goes on with ``kind``, else None."""
    if _is_letter(rules, kind):
        if state in (CAPITALS, MAY_END, CAPITALS_AFTER, WORD):
            return _within_word(rules, state, kind)
        first = rules.prefix == "any" and state in (ODD_ONE, WHITE_ONE)
        if first or state == BLANK_ONE:
            return _first(rules, kind)
    if kind == NUMBER:
        return _within_number(rules, state)
    if kind in _WHITE and BLANK_ONE <= state <= LINE_ENDS:
        if kind == LINE_END and rules.line_ends:
            return LINE_ENDS
        if state != LINE_ENDS:
            return BLANKS if kind == BLANK else WHITES
    elif kind in _ODD and state in (ODD_ONE, QUOTE, ODDS, BLANK_ONE):
        return ODDS
    after = (rules.line_ends and kind == LINE_END) or (rules.slash and kind == SLASH)
    return AFTER_ODDS if after and ODD_ONE <= state <= AFTER_ODDS else None


def _within_word(rules: Rules, state: int, kind: int) -> int | None:
    if not rules.cased:
        return WORD
    if state == WORD:
        return None if kind == UPPER else WORD
    if kind == UPPER:
        return CAPITALS if state == CAPITALS else CAPITALS_AFTER
    return WORD if kind == LOWER else MAY_END


def _within_number(rules: Rules, state: int) -> int | None:
    if state == BLANK_ONE:
        return DIGITS if rules.prefix == "space" else None
    if not DIGITS <= state < ODD_ONE:
        return None
    if rules.digits == 0:
        return DIGITS
    return state + 1 if state < DIGITS + rules.digits - 1 else None
