"""The classes of all characters that pre-tokenizers tell apart, in one table, as of Unicode 16.

The classes come from the `regex` package, the reference for the patterns, of whatever Unicode
version it is; characters that are newer than Unicode 16 count as unassigned (see
:mod:`impls.pretokenize.unicode_version`). So the table is the same with every release of `regex`
since Unicode 16, and equal to the tables inside tiktoken and tokenizers.
"""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import regex

from corpora.vocabularies import unicode_ages
from corpora.vocabularies.tables_on_disk import kept
from impls.pretokenize import unicode_version

if TYPE_CHECKING:
    from impls.kernels.layout import Bytes

UPPER = 0
"""``[\\p{Lu}\\p{Lt}]``, of which a word of o200k or tekken is begun."""
LOWER = 1
"""``\\p{Ll}``, with which it goes on."""
UNCASED = 2
"""``[\\p{Lm}\\p{Lo}]``, which may do both."""
MARK = 3
"""``\\p{M}``, which may, too; for other patterns the same as OTHER."""
NUMBER = 4
"""``\\p{N}``"""
SPACE = 5
"""``\\s`` but for the next two."""
BLANK = 6
"""The character U+0020."""
LINE_END = 7
"""``[\\r\\n]``"""
OTHER = 8
"""Punctuation, symbols, controls, the unassigned; but for the next two."""
APOSTROPHE = 9
SLASH = 10
CLASSES = 11

_EXPRESSIONS = (
    (UPPER, r"[\p{Lu}\p{Lt}]"),
    (LOWER, r"\p{Ll}"),
    (UNCASED, r"[\p{Lm}\p{Lo}]"),
    (MARK, r"\p{M}"),
    (NUMBER, r"\p{N}"),
    (SPACE, r"\s"),
    (BLANK, r"[ ]"),
    (LINE_END, r"[\r\n]"),
    (APOSTROPHE, r"'"),
    (SLASH, r"/"),
)


@lru_cache(maxsize=1)
def class_table() -> Bytes:
    """The class of each code point; 0x110000 entries, read-only.

    Takes about 0.1 s, once on a machine. Surrogates have the class of the unassigned.
    """
    files = __file__, unicode_ages.__file__, unicode_version.__file__
    made_by = b"".join(Path(file).read_bytes() for file in files)
    name = f"character-classes-{regex.__version__}"
    return kept(name, lambda: _classified().view(np.int32), made_by).view(np.uint8)


def _classified() -> Bytes:
    text = unicode_version.all_code_points_as_of_unicode_16()
    table = np.full(sys.maxunicode + 1, OTHER, dtype=np.uint8)
    for number, expression in _EXPRESSIONS:
        for run in regex.finditer(f"{expression}+", text):
            start, end = run.span()
            table[start:end] = number
    return table
