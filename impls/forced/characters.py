"""Characters of texts that may be cut off at either end."""

from __future__ import annotations


def anything(_: bytes) -> bool:
    """The test of a grammar that admits whatever comes."""
    return True


def whole_characters(data: bytes) -> int:
    """Where the last whole UTF-8 character of ``data`` ends, if only its end is cut off."""
    end = len(data)
    for back in range(1, min(4, end) + 1):
        lead = data[end - back]
        if lead & 0xC0 == 0x80:
            continue
        size = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        return end if size <= back else end - back
    return end


def cut_off(data: bytes) -> int:
    """How many bytes at the front end a character that began before."""
    size = 0
    while size < min(3, len(data)) and data[size] & 0xC0 == 0x80:
        size += 1
    return size
