"""SentencePiece's ``precompiled_charsmap`` as the finite map that it is.

The format is in docs/algorithms.md, section 2: a double array whose units are u32, then
replacements that end with NUL.
"""

from __future__ import annotations

import struct
from collections import defaultdict


def rules(charsmap: bytes | None) -> dict[bytes, bytes]:
    """The replacement of each prefix that has one. Raises ValueError or LookupError for one
    that is damaged.
    """
    if not charsmap:
        return {}
    [size] = struct.unpack_from("<I", charsmap)
    units = struct.unpack_from(f"<{size // 4}I", charsmap, 4)
    replacements = charsmap[4 + size :] + b"\0"  # the last one may lack it
    below = defaultdict[int, list[tuple[int, int]]](list)
    for child, unit in enumerate(units):
        if 0 < (label := unit & 0x800000FF) < 256:
            below[child ^ label].append((child, label))
    found: dict[bytes, bytes] = {}
    waiting = [(0, b"")] if units else []
    while waiting:
        node, prefix = waiting.pop()
        if len(prefix) > len(units):
            raise ValueError("a character map that goes round")
        unit = units[node]
        base = node ^ ((unit >> 10) << ((unit & 0x200) >> 6))
        if unit & 0x100:
            at = units[base] & 0x7FFFFFFF
            found[prefix] = replacements[at : replacements.find(b"\0", at)]
        waiting += [(child, prefix + bytes([label])) for child, label in below[base]]
    return found
