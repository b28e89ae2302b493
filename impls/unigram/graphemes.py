"""Extended grapheme clusters (Unicode's annex 29), compiled.

The properties are those of the ``regex`` package, without the code points that Unicode got after
version 16, which is what tokenizers 0.23.3 knows (unicode-segmentation): to it they are ordinary
characters. The rules are tested against ``regex``'s ``\\X`` and against tokenizers.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit
from impls.kernels.utf8 import character_length, code_point

if TYPE_CHECKING:
    from numpy.typing import NDArray

OTHER, CR, LF, CONTROL, EXTEND, ZWJ, REGIONAL, PREPEND, SPACING, L, V, T, LV, LVT = range(14)

_PROPERTIES = (
    "Other",
    "CR",
    "LF",
    "Control",
    "Extend",
    "ZWJ",
    "Regional_Indicator",
    "Prepend",
    "SpacingMark",
    "L",
    "V",
    "T",
    "LV",
    "LVT",
)
"""Values of Grapheme_Cluster_Break, each at its number above."""

GCB_MASK = 15
PICTOGRAPH = 16
CONSONANT, LINKER, CONJOINER = 32, 64, 96
"""Values of Indic_Conjunct_Break: Consonant, Linker, Extend."""
INCB_MASK = 96

_NEWER = (
    (0x5C8, 0x5C9),
    (0xB53, 0xB54),
    (0x1ADE, 0x1ADF),
    (0x1AEC, 0x1AF0),
    (0x10ECB, 0x10ECF),
    (0x10EF0, 0x10EF9),
    (0x11DF0, 0x11DF0),
    (0x1D127, 0x1D128),
    (0x1D250, 0x1D252),
    (0x1D25B, 0x1D25C),
    (0x1D25F, 0x1D25F),
    (0x1D280, 0x1D281),
)
"""First and last of the marks that came after Unicode 16."""


@cache
def grapheme_classes(newest: bool = False) -> NDArray[np.uint8]:
    """The properties of each code point, by code point (0x110000 bytes).

    newest: as the ``regex`` package has them, with what came after Unicode 16.
    """
    import regex  # noqa: PLC0415 (only this variant needs it)

    points = np.concatenate([np.arange(0xD800), np.arange(0xE000, 0x110000)])
    text = points.astype("<u4").tobytes().decode("utf-32-le")
    classes = np.zeros(0x110000, dtype=np.uint8)

    def mark(pattern: str, flag: int) -> None:
        for run in regex.finditer(f"(?:{pattern})+", text):
            classes[points[run.start() : run.end()]] |= flag

    for number, name in enumerate(_PROPERTIES):
        if number != OTHER:
            mark(rf"\p{{GCB={name}}}", number)
    mark(r"\p{Extended_Pictographic}", PICTOGRAPH)
    for name, flag in (("Consonant", CONSONANT), ("Linker", LINKER), ("Extend", CONJOINER)):
        mark(rf"\p{{InCB={name}}}", flag)
    if not newest:
        for first, last in _NEWER:
            classes[first : last + 1] = OTHER
    return classes


@njit
def grapheme_end(
    classes: NDArray[np.uint8], data: NDArray[np.uint8], position: int, end: int
) -> int:
    """Where the cluster ends that begins at ``position`` of well-formed UTF-8."""
    length = character_length(data, position, end)
    flags = int(classes[code_point(data, position, length)])
    position += length
    regional = 0
    # 1 after a pictograph and extenders, 2 after the joiner that follows them.
    emoji = 1 if flags & PICTOGRAPH else 0
    # 1 after a consonant and extenders, 2 with a linker among them.
    conjunct = 1 if flags & INCB_MASK == CONSONANT else 0
    while position < end:
        length = character_length(data, position, end)
        following = int(classes[code_point(data, position, length)])
        before, after = flags & GCB_MASK, following & GCB_MASK
        if before == REGIONAL:
            regional += 1
        if not (
            _joined(before, after)
            or (emoji == 2 and following & PICTOGRAPH)
            or (conjunct == 2 and following & INCB_MASK == CONSONANT)
            or (before == REGIONAL and after == REGIONAL and regional % 2 == 1)
        ):
            break
        if following & PICTOGRAPH:
            emoji = 1
        elif emoji == 1 and after == ZWJ:
            emoji = 2
        elif not (emoji == 1 and after == EXTEND):
            emoji = 0
        link = following & INCB_MASK
        if link == CONSONANT:
            conjunct = 1
        elif conjunct > 0 and link == LINKER:
            conjunct = 2
        elif link != CONJOINER:
            conjunct = 0
        flags = following
        position += length
    return position


@njit
def _joined(before: int, after: int) -> bool:
    """Whether the break properties of two neighbours alone keep them together."""
    if before == CR:
        return after == LF
    if before in (LF, CONTROL) or after in (CR, LF, CONTROL):
        return False
    if after in (EXTEND, ZWJ, SPACING) or before == PREPEND:
        return True
    if before == L:
        return after in (L, V, LV, LVT)
    if before in (V, LV):
        return after in (V, T)
    return before in (T, LVT) and after == T
