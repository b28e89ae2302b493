"""SentencePiece's normalizer: user-defined symbols, the charsmap, white space.

Follows SentencePiece 0.2.3. A prefix of the rest of the input is taken again and again: the
longest user-defined symbol as it is, else the longest rule of the charsmap, else one character; a
byte that begins no UTF-8 character becomes U+FFFD. White space is handled on what comes out.

The charsmap ("precompiled_charsmap"): a little-endian u32 with the number of bytes of a double
array of u32 units (Darts), the units, then replacements ended by NUL. Of a unit u, the offset of
its children is ``(u >> 10) << ((u & 0x200) >> 6)``, its label ``u & 0x800000ff``, bit 8 tells of
a value, which is the low 31 bits of the unit at the offset: where the replacement begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.jit import njit
from corpora.vocabularies.model import PieceType, VocabularyError
from impls.unigram.trie import NOWHERE, ROOT, Trie, child, make_trie

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

SPACE = 0x20
SPACE_SYMBOL = (0xE2, 0x96, 0x81)
"""U+2581 in UTF-8."""
REPLACEMENT = (0xEF, 0xBF, 0xBD)
"""U+FFFD in UTF-8."""


class Rules(NamedTuple):
    """A vocabulary's normalizer.

    units: the double array (int64), empty without a charsmap. replacements: the NUL-terminated
    strings (uint8). symbols: the user-defined symbols. The flags are those of
    :class:`corpora.vocabularies.model.Normalizer`. growth: no byte of input makes more bytes of
    output than this (one more input byte pays for the dummy space).
    """

    units: NDArray[np.int64]
    replacements: NDArray[np.uint8]
    symbols: Trie
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool
    treat_whitespace_as_suffix: bool
    growth: int


def make_rules(vocabulary: Vocabulary) -> Rules:
    """The rules of a SentencePiece vocabulary. Raises VocabularyError for a bad charsmap."""
    spec = vocabulary.normalizer
    units, replacements = _charsmap(vocabulary.id, spec.charsmap or b"")
    symbols = make_trie(
        {
            piece.text.encode(): piece_id
            for piece_id, piece in enumerate(vocabulary.pieces)
            if piece.type is PieceType.USER_DEFINED
        }
    )
    longest = max((len(text) for text in replacements.tobytes().split(b"\0")), default=0)
    return Rules(
        units,
        replacements,
        symbols,
        spec.add_dummy_prefix,
        spec.remove_extra_whitespaces,
        spec.escape_whitespaces,
        spec.treat_whitespace_as_suffix,
        # A replacement may be all spaces, and a space takes three bytes when escaped.
        3 * max(1, longest),
    )


def _charsmap(source: str, blob: bytes) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    if not blob:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint8)
    size = int.from_bytes(blob[:4], "little")
    if len(blob) < 4 or size % 4 or 4 + size > len(blob):
        raise VocabularyError(
            source, "the charsmap's double array is cut short", "export the model again"
        )
    units = np.frombuffer(blob[4 : 4 + size], dtype="<u4").astype(np.int64)
    # The last string may lack its NUL, which the compiled code looks for.
    return units, np.frombuffer(blob[4 + size :] + b"\0", dtype=np.uint8)


@njit
def normalize(
    rules: Rules, data: NDArray[np.uint8], start: int, end: int, out: NDArray[np.uint8]
) -> int:
    """Write the normalized ``data[start:end]`` to ``out``, and return its length.

    ``out`` has room for ``(end - start + 1) * rules.growth`` bytes.
    """
    # Arrays one by one: tuples of them, passed on, cost seconds of compilation.
    units, replacements = rules.units, rules.replacements
    edges, ids = rules.symbols.edges, rules.symbols.ids
    escape, tidy = rules.escape_whitespaces, rules.remove_extra_whitespaces
    position = start
    while tidy and position < end:
        taken, kind, at = _prefix(units, edges, ids, data, position, end)
        source = replacements if kind == REPLACED else data
        after = int(replacements[at + 1]) if kind == REPLACED else taken - 1
        if kind == MALFORMED or source[at] != SPACE or after != 0:
            break
        position += taken
    if position >= end:
        return 0
    size = 0
    if rules.add_dummy_prefix and not rules.treat_whitespace_as_suffix:
        size = _put(out, size, SPACE, escape)
    after_space = tidy
    while position < end:
        taken, kind, at = _prefix(units, edges, ids, data, position, end)
        position += taken
        if kind == MALFORMED:
            for i in range(3):
                out[size + i] = REPLACEMENT[i]
            size += 3
            after_space = False
            continue
        source = replacements if kind == REPLACED else data
        stop = len(source) if kind == REPLACED else at + taken
        skipping = after_space
        for i in range(at, stop):
            byte = int(source[i])
            if kind == REPLACED and byte == 0:
                break
            if skipping and byte == SPACE:
                continue
            skipping = False
            size = _put(out, size, byte, escape)
            after_space = tidy and byte == SPACE
    if tidy:
        size = _without_spaces(out, size, escape)
    if rules.add_dummy_prefix and rules.treat_whitespace_as_suffix:
        size = _put(out, size, SPACE, escape)
    return size


# What the next bytes become: themselves, a replacement, or U+FFFD.
VERBATIM = 0
REPLACED = 1
MALFORMED = 2


@njit
def _prefix(
    units: NDArray[np.int64],
    edges: NDArray[np.int64],
    ids: NDArray[np.int64],
    data: NDArray[np.uint8],
    position: int,
    end: int,
) -> tuple[int, int, int]:
    """Number of bytes taken at ``position``, what they become, and where that stands."""
    longest = 0
    node = ROOT
    for i in range(position, end):
        node = child(edges, node, int(data[i]))
        if node == NOWHERE:
            break
        if ids[node] != NOWHERE:
            longest = i + 1 - position
    if longest > 0:
        return longest, VERBATIM, position

    if len(units) > 0:
        value = 0
        index = _offset(units[0])
        for i in range(position, end):
            byte = int(data[i])
            index ^= byte
            if index >= len(units) or units[index] & 0x800000FF != byte:
                break
            unit = units[index]
            index ^= _offset(unit)
            if unit & 0x100 and index < len(units):
                longest = i + 1 - position
                value = units[index] & 0x7FFFFFFF
        if longest > 0:
            return longest, REPLACED, value

    length = character_length(data, position, end)
    if length == 0:
        return 1, MALFORMED, position
    return length, VERBATIM, position


@njit
def _offset(unit: int) -> int:
    return int((unit >> 10) << ((unit & 0x200) >> 6))


@njit
def character_length(data: NDArray[np.uint8], position: int, end: int) -> int:
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
def _put(out: NDArray[np.uint8], size: int, byte: int, escape: bool) -> int:
    """Append a byte, a space as U+2581 if it is to be escaped; returns the new size."""
    if byte == SPACE and escape:
        for i in range(3):
            out[size + i] = SPACE_SYMBOL[i]
        return size + 3
    out[size] = byte
    return size + 1


@njit
def _without_spaces(out: NDArray[np.uint8], size: int, escape: bool) -> int:
    """The size without the spaces, escaped or not, at the end."""
    if not escape:
        while size > 0 and out[size - 1] == SPACE:
            size -= 1
        return size
    while size >= 3:
        for i in range(3):
            if out[size - 3 + i] != SPACE_SYMBOL[i]:
                return size
        size -= 3
    return size
