"""The classes of all characters that pre-tokenizers tell apart, in one table, as of Unicode 16.

The classes come from the `regex` package, the reference for the patterns, of whatever Unicode
version it is; characters that are newer than Unicode 16 count as unassigned (see
:mod:`impls.bpe.unicode_version`). So the table is the same with every release of `regex` since
Unicode 16, and equal to the tables inside tiktoken and tokenizers.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import regex

from impls.bpe.unicode_version import all_code_points_as_of_unicode_16

if TYPE_CHECKING:
    from numpy.typing import NDArray

LETTER = 1
"""``\\p{L}``"""
NUMBER = 2
"""``\\p{N}``"""
SPACE = 4
"""``\\s``"""
NEWLINE = 8
"""``[\\r\\n]``"""
UPPER = 16
"""``[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]``, what a word of o200k or tekken may begin with."""
LOWER = 32
"""``[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]``, what it goes on with; uncased letters and marks are both."""
OTHER = 64
"""``[^\\s\\p{L}\\p{N}]``: punctuation, symbols, marks, controls, the unassigned."""
CONTINUATION = 128
"""Never in the table: marks the second and later bytes of a character (see ``classify``)."""

_CLASSES = (
    (LETTER, r"\p{L}"),
    (NUMBER, r"\p{N}"),
    (SPACE, r"\s"),
    (NEWLINE, r"[\r\n]"),
    (UPPER, r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"),
    (LOWER, r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"),
    (OTHER, r"[^\s\p{L}\p{N}]"),
)


@lru_cache(maxsize=1)
def class_table() -> NDArray[np.uint8]:
    """The classes of each code point, a set of the bits above; 0x110000 entries, read-only.

    Takes about 0.1 s, once in a process. Surrogates have the class of the unassigned.
    """
    text = all_code_points_as_of_unicode_16()
    table = np.zeros(sys.maxunicode + 1, dtype=np.uint8)
    for bit, expression in _CLASSES:
        for run in regex.finditer(f"{expression}+", text):
            start, end = run.span()
            table[start:end] |= bit
    table.flags.writeable = False
    return table
