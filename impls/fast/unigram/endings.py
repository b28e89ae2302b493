"""The pieces that end at a place of a text, read backwards from it.

Viterbi's algorithm may push the sum of a place to where pieces from there end, or pull it from
where the pieces begin that end there. The plain kernel pushes. To pull is quicker: the sum of a
place stays in a register until it is known, and the first steps backwards are the same for all
texts, so that they stand in tables and take no branch that no branch predictor can foresee.

An entry is a node of the double array of reversed pieces, as it lies there: its base, and above it
``(piece + 1) << 9 | (byte + 1)`` (:mod:`impls.kernels.trie`). A node without children has the base
0, from which no step leads anywhere, and so has the entry 0, which stands for no node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from impls.compiled.jit import njit
from impls.kernels.layout import INDEX, Bytes, Longs
from impls.kernels.trie import LABEL_BITS, LABEL_MASK
from impls.kernels.utf8 import lead_length
from impls.unigram.trie import double_array

if TYPE_CHECKING:
    from collections.abc import Iterable


_LABEL_AT = 32
_PIECE_AT = _LABEL_AT + LABEL_BITS

_PAGE = 64
"""Characters of a page: those that differ in the last byte alone."""
_ASCII_PAGES = 2
_NO_PAGE = _ASCII_PAGES
"""The page of characters that end no piece."""
_FIRST_LEAD = 0xC0
"""The first byte with which a character of several bytes may begin."""
_TWO_BYTES = 1 << 10
"""Where the pages of characters of two bytes stand, behind those of three."""


class Endings(NamedTuple):
    """Tables of entries.

    nodes: by slot of the double array. pairs: by ``last byte << 8 | byte before``, of ASCII last
    bytes. pages: which page of ``characters`` a character of two or three bytes is on.
    characters: of characters, after their bytes: of ASCII, then page by page. foreign: by the first
    byte of characters beyond ASCII, how many bytes they have, if no piece has any of them; else 0.
    """

    nodes: Longs
    pairs: Longs
    pages: Longs
    characters: Longs
    foreign: Bytes


def make_endings(pieces: Iterable[bytes]) -> Endings:
    """The tables of some pieces, at least one of them not empty, numbered in this order."""
    texts = [text for text in pieces if text]
    array, _ = double_array({text[::-1]: number for number, text in enumerate(texts)})
    nodes = array.view(np.int64)
    labels = np.arange(1, 257)
    pairs = np.zeros((0x80, 256), dtype=np.int64)
    for last in range(0x80):
        base = _walked(nodes, bytes([last])) & INDEX
        if base:
            below = nodes[base ^ np.arange(256)]
            pairs[last] = np.where(below >> _LABEL_AT & LABEL_MASK == labels, below, 0)
    pages = np.full(_TWO_BYTES + (1 << 5), _NO_PAGE, dtype=np.int64)
    characters = [np.zeros(_PAGE, dtype=np.int64) for _ in range(_ASCII_PAGES + 1)]
    for character in {text.decode()[-1].encode() for text in texts}:
        page = character[0] >> 6
        if len(character) > 1:
            number = _page_number(character)
            if number is None:
                continue
            if pages[number] == _NO_PAGE:
                pages[number] = len(characters)
                characters.append(np.zeros(_PAGE, dtype=np.int64))
            page = int(pages[number])
        characters[page][character[-1] & (_PAGE - 1)] = _walked(nodes, character[::-1])
    foreign = np.array([lead_length(lead) for lead in range(256)], dtype=np.uint8)
    foreign[:_FIRST_LEAD] = 0
    foreign[[*{byte for text in texts for byte in text}]] = 0
    return Endings(nodes, pairs.reshape(-1), pages, np.concatenate(characters), foreign)


def _page_number(character: bytes) -> int | None:
    """Where the page of a character of several bytes is told; None for one of four."""
    if len(character) == 2:
        return _TWO_BYTES + (character[0] & 0x1F)
    return (character[0] & 0xF) << 6 | character[1] & 0x3F if len(character) == 3 else None


def _walked(nodes: Longs, text: bytes) -> int:
    entry = int(nodes[0])
    for byte in text:
        below = int(nodes[(entry & INDEX) ^ byte])
        entry = below if below >> _LABEL_AT & LABEL_MASK == byte + 1 else 0
    return entry


@njit
def step(nodes: Longs, entry: int, byte: int) -> int:
    """The entry of the child by a byte, or 0. No branch is taken."""
    below = int(nodes[(entry & INDEX) ^ byte])
    return below & -int(below >> _LABEL_AT & LABEL_MASK == byte + 1)


@njit
def piece_of(entry: int) -> int:
    """The piece that an entry ends, and 1; 0 for none."""
    return (entry >> _PIECE_AT) & INDEX


@njit
def page_of(lead: int, second: int, length: int) -> int:
    """Where in ``pages`` the page of a character of two or three bytes is told."""
    # No array is passed on where there is a branch: it would be counted, at each character.
    return lead & 0x1F | _TWO_BYTES if length == 2 else (lead & 0xF) << 6 | second & 0x3F


@njit
def on_page(page: int, low: int) -> int:
    """Where a character stands in ``characters`` that is on a page and ends in this byte."""
    return page * _PAGE | low & (_PAGE - 1)
