"""Characters in UTF-8 bytes, for compiled code."""

from __future__ import annotations

from impls.compiled.lazy import njit
from impls.kernels.layout import Bytes


@njit
def character_length(data: Bytes, position: int, end: int) -> int:
    """Bytes of the UTF-8 character at ``position``, 0 if there is no well-formed one."""
    lead = int(data[position])
    if lead < 0x80:
        return 1
    if lead < 0xC2:
        return 0
    length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4 if lead < 0xF5 else 0
    if length == 0 or position + length > end:
        return 0
    for i in range(position + 1, position + length):
        if data[i] & 0xC0 != 0x80:
            return 0
    second = int(data[position + 1])
    # Overlong forms, surrogates, beyond U+10FFFF.
    if lead == 0xE0 and second < 0xA0:
        return 0
    if lead == 0xED and second >= 0xA0:
        return 0
    if lead == 0xF0 and second < 0x90:
        return 0
    if lead == 0xF4 and second >= 0x90:
        return 0
    return length


@njit
def lenient_length(data: Bytes, position: int, end: int) -> int:
    """The same to llama.cpp, which looks at the leading bits alone."""
    lead = int(data[position])
    if lead < 0x80:
        return 1
    if lead < 0xC0:
        return 0
    length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4 if lead < 0xF8 else 0
    if length == 0 or position + length > end:
        return 0
    for i in range(position + 1, position + length):
        if data[i] & 0xC0 != 0x80:
            return 0
    return length


@njit
def lead_length(lead: int) -> int:
    """Bytes of the character that begins with ``lead``, 1 for what begins none."""
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@njit
def code_point(data: Bytes, position: int, length: int) -> int:
    """The code point of the well-formed character of ``length`` bytes at ``position``."""
    lead = int(data[position])
    if length == 1:
        return lead
    point = lead & (0x7F >> length)
    for i in range(position + 1, position + length):
        point = point << 6 | int(data[i]) & 0x3F
    return point
