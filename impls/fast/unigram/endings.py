"""The pieces that end at a place of a text, read backwards from it.

Viterbi's algorithm may push the sum of a place to where pieces from there end, or pull it from
where the pieces begin that end there. The plain kernel pushes. To pull is quicker: the sum of a
place stays in a register until it is known, and the first two steps back from an ASCII character
are one look into a table.

An entry is a node of the double array of reversed pieces, as it lies there: its base, and above it
``(piece + 1) << 9 | (byte + 1)`` (:mod:`impls.kernels.trie`). A node without children has the base
0, from which no step leads anywhere, and so has the entry 0, which stands for no node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from impls.compiled.jit import njit
from impls.kernels.layout import INDEX
from impls.kernels.trie import LABEL_BITS, LABEL_MASK, build_trie

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_LABEL_AT = 32
_PIECE_AT = _LABEL_AT + LABEL_BITS


class Endings(NamedTuple):
    """Tables of entries (int64).

    nodes: by slot of the double array; the root's is the first. singles: after each ASCII
    character. pairs: after an ASCII character and the byte before it, by ``character << 8 | byte``.
    """

    nodes: NDArray[np.int64]
    singles: NDArray[np.int64]
    pairs: NDArray[np.int64]


def make_endings(pieces: Iterable[bytes]) -> Endings:
    """The tables of some pieces, none empty and at least one, numbered in this order."""
    trie, _ = build_trie([text[::-1] for text in pieces])
    nodes = trie.view(np.int64)
    singles = _below(nodes, int(nodes[0]))[:0x80]
    pairs = np.stack([_below(nodes, int(entry)) for entry in singles])
    return Endings(nodes, singles, pairs.reshape(-1))


def _below(nodes: NDArray[np.int64], entry: int) -> NDArray[np.int64]:
    """The entries of the children of a node by each byte."""
    found = nodes[(entry & INDEX) ^ np.arange(256)]
    return np.where(found >> _LABEL_AT & LABEL_MASK == np.arange(1, 257), found, 0)


@njit
def step(nodes: NDArray[np.int64], entry: int, byte: int) -> int:
    """The entry of the child by a byte, or 0. No branch is taken."""
    below = int(nodes[(entry & INDEX) ^ byte])
    return below & -int(below >> _LABEL_AT & LABEL_MASK == byte + 1)


@njit
def piece_of(entry: int) -> int:
    """The piece that an entry ends, and 1; 0 for none."""
    return (entry >> _PIECE_AT) & INDEX
