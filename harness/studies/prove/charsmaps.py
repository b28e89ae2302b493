"""SentencePiece's ``precompiled_charsmap`` as the finite map that it is.

The format is in docs/algorithms.md, section 2: a double array whose units are u32, then
replacements that end with NUL.
"""

from __future__ import annotations

import struct


def rules(charsmap: bytes | None) -> dict[bytes, bytes]:
    """The replacement of each prefix that has one. Raises ValueError for a damaged map."""
    if not charsmap:
        return {}
    [size] = struct.unpack_from("<I", charsmap)
    units = struct.unpack_from(f"<{size // 4}I", charsmap, 4)
    replacements = charsmap[4 + size :]
    found: dict[bytes, bytes] = {}
    waiting = [(0, b"")] if units else []
    while waiting:
        node, prefix = waiting.pop()
        if len(prefix) > len(units):
            raise ValueError("a character map that goes round")
        unit = units[node]
        base = node ^ ((unit >> 10) << ((unit & 0x200) >> 6))
        if unit & 0x100 and base < len(units):
            at = units[base] & 0x7FFFFFFF
            found[prefix] = replacements[at : replacements.find(b"\0", at)]
        for byte in range(1, 256):
            child = base ^ byte
            if child < len(units) and units[child] & 0x800000FF == byte:
                waiting.append((child, prefix + bytes([byte])))
    return found
