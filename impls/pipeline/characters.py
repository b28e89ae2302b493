"""Characters by their kind, and those whose kind depends on the version of Unicode.

tokenizers takes its characters from tables of several versions of Unicode: punctuation and
nonspacing marks of 8, small letters of 17, all else of 16. What is new since is decided here by
nobody: a text with such a character has no defined ids at a step that looks at its kind.
"""

from __future__ import annotations

import regex

from impls.interface import Unsupported
from impls.pretokenize.unicode_version import as_of_unicode_16

WHITE_SPACE = frozenset(
    map(
        chr,
        (
            *range(9, 14),
            *(0x20, 0x85, 0xA0, 0x1680),
            *range(0x2000, 0x200B),
            *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
        ),
    )
)
"""Unicode's White_Space, which is Rust's: Python's own has four controls more."""

# Found by asking tokenizers 0.23.3 about every character, at each step below. A test asks again.
_UNSETTLED_RANGES = """
061D 07FD 0890-0891 0897-089F 08CA-08E2 09FD-09FE 0A76 0AFA-0AFF 0B55 0C04 0C3C 0C77 0C84 0CF3
0D00 0D3B-0D3C 0D81 0EBA 0ECE 166D 1715 1734 180F 1885-1886 1ABF-1ACE 1B4E-1B4F 1B7D-1B7F 1C89
1CF2-1CF3 1CF7 1DF6-1DFB 2E43-2E4F 2E52-2E5D A7CB-A7CC A7CE A7D2 A7D4 A7DA A7DC A82C A8C5 A8FF
A9BD 10D24-10D27 10D50-10D65 10D69-10D6E 10EAB-10EAD 10EFC-10EFF 10F46-10F50 10F55-10F59
10F82-10F89 11070 11073-11074 110C2 110CD 11145-11146 111C9 111CE-111CF 1123E 11241 1133B
113B8-113C0 113C2 113C5 113C7-113CA 113CC-113D0 113D2 113D4-113D5 113D7-113D8 113E1-113E2
11438-1143F 11442-11444 11446 1144B-1144F 1145A-1145B 1145D-1145E 11660-1166C 116B9 1171E
1182C-1183B 11930-11935 11937-11938 1193B-1193E 11940 11942-11946 119D1-119D7 119DA-119E0 119E2
119E4 11A01-11A0A 11A33-11A39 11A3B-11A47 11A51-11A5B 11A8A-11A9C 11A9E-11AA2 11B00-11B09 11BE1
11C30-11C36 11C38-11C3D 11C3F 11C41-11C45 11C70-11C71 11C92-11CA7 11CAA-11CB0 11CB2-11CB3
11CB5-11CB6 11D31-11D36 11D3A 11D3C-11D3D 11D3F-11D45 11D47 11D8A-11D8E 11D90-11D91 11D93-11D97
11DE0-11DE9 11EF3-11EF8 11F00-11F01 11F03 11F34-11F3A 11F3E-11F4F 11F5A 11FFF 12FF1-12FF2
13430-13440 13447-13455 1611E-1612F 16D6D-16D6F 16E97-16E9A 16EA0-16EB8 16F4F 16F7F-16F87 16FE2
16FE4 16FF0-16FF1 16FF4-16FF6 1CF00-1CF2D 1CF30-1CF46 1E000-1E006 1E008-1E018 1E01B-1E021
1E023-1E024 1E026-1E02A 1E08F 1E130-1E136 1E2AE 1E2EC-1E2EF 1E4EC-1E4EF 1E5EE-1E5EF 1E5FF
1E944-1E94A 1E95E-1E95F
"""


def ranged(ranges: str) -> frozenset[str]:
    """The characters of ranges of code points in hexadecimal."""
    found: set[str] = set()
    for part in ranges.split():
        first, _, last = part.partition("-")
        found.update(map(chr, range(int(first, 16), int(last or first, 16) + 1)))
    return frozenset(found)


UNSETTLED = ranged(_UNSETTLED_RANGES)
"""Characters that are punctuation, digits, marks, controls or capitals to some tables alone."""

_PUNCTUATION = regex.compile(r"[!-/:-@\[-`{-~\p{P}]")
_NUMBER = regex.compile(r"\p{N}")
_WORD = regex.compile(r"\w+|[^\w\s]+")
_CONTROL = regex.compile(r"[\p{Cc}\p{Cf}\p{Co}--\t\n\r]", regex.V1)
_NONSPACING_MARK = regex.compile(r"\p{Mn}")
_MARK = regex.compile(r"\p{M}")


def settled(text: str) -> str:
    """The text as it was in Unicode 16, of the same length. Unsupported where tables differ."""
    if text.isascii():
        return text
    if not UNSETTLED.isdisjoint(text):
        raise Unsupported("what a character of this text is depends on the version of Unicode")
    return as_of_unicode_16(text)


def punctuation(text: str) -> list[tuple[int, int]]:
    """Where each mark of punctuation is: ASCII's symbols are some, too."""
    return [match.span() for match in _PUNCTUATION.finditer(settled(text))]


def numbers(text: str) -> list[tuple[int, int]]:
    """Where each character of Unicode's category N is."""
    return [match.span() for match in _NUMBER.finditer(settled(text))]


def words(text: str) -> list[tuple[int, int]]:
    """Where runs of word characters are, and runs of what is neither that nor white space."""
    return [match.span() for match in _WORD.finditer(settled(text))]


def white_space(text: str) -> list[tuple[int, int]]:
    """Where each character of white space is."""
    return [(at, at + 1) for at, character in enumerate(text) if character in WHITE_SPACE]


def without_marks(text: str) -> str:
    """The text without characters of Unicode's category M."""
    return _without(_MARK, text)


def without_nonspacing_marks(text: str) -> str:
    """The text without characters of Unicode's category Mn."""
    return _without(_NONSPACING_MARK, text)


def without_controls(text: str) -> str:
    """The text without controls, format and private characters, NUL and U+FFFD; tabs and line ends
    stay.
    """
    return _without(_CONTROL, text).replace("\ufffd", "")


def _without(kind: regex.Pattern[str], text: str) -> str:
    dated = settled(text)
    return "".join(c for c, old in zip(text, dated, strict=True) if not kind.match(old))


def lowered(text: str) -> str:
    """Each character by itself, without context."""
    settled(text)
    return "".join(map(str.lower, text))
