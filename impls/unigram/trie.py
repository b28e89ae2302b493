"""A trie over byte strings in flat arrays: edges in a hash table, an id at each node."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from corpora.vocabularies.jit import njit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

NOWHERE = -1
"""No node, no id, or a free slot."""

ROOT = 0


class Trie(NamedTuple):
    """A trie. All arrays are int64, as the interpreted run of the compiled code needs it.

    edges: open-addressing hash, rows of (node * 256 + byte, child); a power of two of rows, at
        most half of them used. ids: the id of the string that ends at each node, or NOWHERE.
    """

    edges: NDArray[np.int64]
    ids: NDArray[np.int64]


@njit
def child(edges: NDArray[np.int64], node: int, byte: int) -> int:
    """The node below ``node`` by ``byte``, or NOWHERE."""
    mask = len(edges) - 1
    key = node * 256 + byte
    row = _mix(key) & mask
    while edges[row, 0] != NOWHERE:
        if edges[row, 0] == key:
            return int(edges[row, 1])
        row = (row + 1) & mask
    return NOWHERE


@njit
def _mix(key: int) -> int:
    # Nodes are below 2^31 / 256 bytes' worth here, so the product stays below 2^63.
    mixed = key * 0x1E3779B1
    return mixed ^ (mixed >> 21)


@njit
def _insert_all(
    edges: NDArray[np.int64],
    ids: NDArray[np.int64],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
) -> None:
    mask = len(edges) - 1
    nodes = 1
    start = 0
    for index in range(len(ends)):
        node = ROOT
        for position in range(start, ends[index]):
            byte = int(data[position])
            below = child(edges, node, byte)
            if below == NOWHERE:
                below = nodes
                nodes += 1
                row = _mix(node * 256 + byte) & mask
                while edges[row, 0] != NOWHERE:
                    row = (row + 1) & mask
                edges[row, 0] = node * 256 + byte
                edges[row, 1] = below
            node = below
        ids[node] = index
        start = ends[index]


def make_trie(strings: Mapping[bytes, int]) -> Trie:
    """The trie of some strings with their ids (not negative). An empty string is left out."""
    kept = {text: string_id for text, string_id in strings.items() if text}
    size = sum(map(len, kept))
    edges = np.full((1 << max(1, 2 * size).bit_length(), 2), NOWHERE, dtype=np.int64)
    indices = np.full(size + 1, NOWHERE, dtype=np.int64)
    if kept:
        ends = np.cumsum([len(text) for text in kept], dtype=np.int64)
        _insert_all(edges, indices, np.frombuffer(b"".join(kept), dtype=np.uint8), ends)
    string_ids = np.array([*kept.values(), NOWHERE], dtype=np.int64)
    return Trie(edges, string_ids[indices])
