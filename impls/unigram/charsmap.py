"""SentencePiece's ``precompiled_charsmap``: rules that replace a prefix of a text.

A little-endian u32 with the number of bytes of an XOR-compressed double array (Darts), the array's
u32 units, then replacements ended by NUL. Of a unit u, the offset of its children is
``(u >> 10) << ((u & 0x200) >> 6)``, its label ``u & 0x800000ff``; bit 8 tells of a value, which is
the low 31 bits of the unit at the offset: where the replacement begins.

A charsmap is walked through once when it is loaded, so that the compiled code may read without
looking at bounds.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.tables_on_disk import kept_arrays
from impls.compiled.jit import njit
from impls.kernels.table_cache import source_of

if TYPE_CHECKING:
    from impls.kernels.layout import Bytes, Flags, Ints, Longs

LABEL = 0x800000FF
LEAF = 0x100
UNSIGNED = 0xFFFFFFFF
VALUE = 0x7FFFFFFF

_LARGE = 4096
"""Bytes of a double array from which on it is worth a file."""


class Charsmap(NamedTuple):
    """The rules.

    units: the double array (int32, to be read AND UNSIGNED), empty without rules. replacements: the
    NUL-terminated strings (uint8). begun: 65,536 flags by two bytes, first * 256 + second: whether
    a rule begins with both, or is the first alone. growth: no byte of input makes more bytes of
    output than this, a space counted as three bytes, and an ill-formed byte, too.
    """

    units: Ints
    replacements: Bytes
    begun: Flags
    growth: int


NO_RULES = Charsmap(
    np.empty(0, dtype=np.int32),
    # Read-only, as those of a file are: the compiled code is the same then.
    np.frombuffer(b"", dtype=np.uint8),
    np.zeros(65536, dtype=np.bool_),
    3,
)


def load_charsmap(source: str, blob: bytes | None) -> Charsmap:
    """The rules of a ``precompiled_charsmap``.

    Raises VocabularyError, which names ``source``, for one that is cut short, whose units point
    outside the array, or whose values point outside the replacements.
    """
    if not blob:
        return NO_RULES
    size = int.from_bytes(blob[:4], "little")
    if len(blob) <= 4 or size % 4 or 4 + size > len(blob):
        raise _corrupt(source, "double array is cut short")
    units = np.frombuffer(blob[4 : 4 + size], dtype="<u4").astype(np.int64)
    if not size:
        return NO_RULES
    # The last string may lack its NUL, which the compiled code looks for.
    replacements = np.frombuffer(blob[4 + size :] + b"\0", dtype=np.uint8)
    # A real one takes a tenth of a second to walk through, and is kept on disk once it was.
    name = f"{hashlib.sha256(blob).hexdigest()[:40]}-charsmap" if size >= _LARGE else ""
    begun, growth = kept_arrays(
        name, lambda: _walk(source, units, blob[4 + size :]), source_of("impls/unigram/charsmap.py")
    )
    rules = units.astype(np.uint32).view(np.int32)
    return Charsmap(rules, replacements, begun, int(growth[0]))


def _corrupt(source: str, fault: str) -> VocabularyError:
    return VocabularyError(source, f"the charsmap's {fault}", "export the model again")


def _walk(source: str, units: Longs, replacements: bytes) -> tuple[Flags, Longs]:
    """Look at every unit that an input can lead to; ``begun`` and ``growth`` of the rules.

    The second is the one entry of an array. Level by level. A unit may be reached by several ways
    (the array shares equal ends), of which the first is the shortest, and so the one that bounds
    the growth.
    """
    begun = np.zeros((256, 256), dtype=np.bool_)
    labels = np.arange(1, 256, dtype=np.int64)  # NUL ends a text for every engine
    seen = np.zeros(len(units), dtype=np.bool_)
    growth, depth = 3, 0
    firsts = np.zeros(1, dtype=np.int64)  # the first byte on the way to each block
    blocks = offsets(units[:1])
    while len(blocks):
        if np.any((blocks | 0xFF) >= len(units)):
            raise _corrupt(source, "units point outside its double array")
        depth += 1
        rows, columns = np.nonzero((units[blocks[:, None] ^ labels] & LABEL) == labels)
        below = blocks[rows] ^ labels[columns]
        inner = below ^ offsets(units[below])
        leaves = (units[below] & LEAF) != 0
        if np.any(inner[leaves] >= len(units)):
            raise _corrupt(source, "units point outside its double array")
        starts = np.unique(units[inner[leaves]] & VALUE)
        if np.any(starts >= max(1, len(replacements))):
            raise _corrupt(source, "values point outside its replacements")
        for start in starts.tolist():
            end = replacements.find(b"\0", start)
            text = replacements[start : end if end >= 0 else None]
            growth = max(growth, -(-(len(text) + 2 * text.count(b" ")) // depth))
        if depth == 1:
            begun[labels[columns[leaves]]] = True
        elif depth == 2:
            begun[firsts[rows], labels[columns]] = True
        fresh = np.arange(len(below)) if depth == 1 else np.unique(below, return_index=True)[1]
        fresh = fresh[~seen[below[fresh]]]
        seen[below] = True
        firsts = labels[columns[fresh]]
        blocks = inner[fresh]
    return begun.reshape(-1), np.array([growth], dtype=np.int64)


def offsets(units: Longs) -> Longs:
    """:func:`offset` of many units."""
    all_: Longs = (units >> 10) << ((units & 0x200) >> 6)
    return all_


@njit
def offset(unit: int) -> int:
    """Where a unit's children are, to be XORed with its own place and their labels."""
    return int((unit >> 10) << ((unit & 0x200) >> 6))


@njit
def rule(units: Ints, data: Bytes, position: int, end: int, most: int) -> tuple[int, int]:
    """Number of bytes that the longest rule takes, and where its replacement is.

    0 bytes for none. most: of the rules that apply, so many are looked at, the shortest first.
    """
    longest = 0
    value = 0
    if len(units) == 0:
        return longest, value
    index = offset(int(units[0]) & UNSIGNED)
    for i in range(position, end):
        byte = int(data[i])
        if byte == 0:
            break
        index ^= byte
        unit = int(units[index]) & UNSIGNED
        if unit & LABEL != byte:
            break
        index ^= offset(unit)
        if unit & LEAF:
            longest = i + 1 - position
            value = int(units[index]) & VALUE
            most -= 1
            if most == 0:
                break
    return longest, value
