"""Text of others made safe to show: a name, a version, a message, a path.

What a library, a plug-in, a vocabulary or a file is called, and what it says when it fails, is
chosen by somebody else. Shown as it came, it could clear the terminal, hide or forge a line of the
report (escape sequences, line breaks), or read otherwise than it is (bidirectional controls,
characters of no width). Whatever goes to a terminal or into a report therefore goes through one of
the functions here. They write each such character as Python does in a string (``\\x1b``,
``\\u202e``).

Terminals are served by :class:`harness.cli.display.Display`, which applies this to everything that
is printed on it; each report applies it to what it takes from the record.
"""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANK = frozenset("\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Letters and symbols by category that nevertheless show nothing."""

_BREAKS = {"\n": "\\n", "\t": "\\t"}


def shows(char: str) -> bool:
    """Whether a character is seen as itself wherever it stands.

    ``str.isprintable`` is false for controls (C0, C1 and DEL), format characters (bidirectional
    controls, joiners and others of no width), line and paragraph separators, surrogates, and all
    white space but the space.
    """
    return (
        char.isprintable() and not unicodedata.category(char).startswith("M") and char not in _BLANK
    )


def escape(char: str) -> str:
    r"""A character as a Python escape: ``\x00``, ``\u202e``, ``\U000e0001``."""
    number = ord(char)
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def printable(text: str) -> str:
    """Return ``text`` with each character escaped that is invisible, reorders, or controls.

    Line feeds, tabs and letters of any script stay; marks stay where they have a letter.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(pieces(text))


def printable_line(text: str) -> str:
    r"""Return ``text`` likewise as one line: a line feed becomes ``\n``, a tab ``\t``."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def one_line(text: str, limit: int = 300) -> str:
    """Return ``text`` as one visible line of at most ``limit`` characters, white space folded."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def pieces(text: str, breaks: str = "\n\t") -> Iterator[str]:
    """Yield for each character of ``text`` what stands for it; those of ``breaks`` stay."""
    for before, char in pairwise(f"\n{text}"):
        if char in _BREAKS:
            yield char if char in breaks else _BREAKS[char]
        elif unicodedata.category(char).startswith("M"):
            based = unicodedata.category(before)[0] in "LM"
            yield char if based and char not in _BLANK and char.isprintable() else escape(char)
        else:
            yield char if shows(char) else escape(char)
