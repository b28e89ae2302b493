"""Tries over pieces behind one interface: a map a node, and the double array that is compiled.

Both tell the strings that begin at a place of a text. The naive one is the definition, and serves
as the check of the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from impls.kernels.layout import EMPTY
from impls.kernels.trie import build_trie, child, token_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

NOWHERE = EMPTY
"""No node, no id."""

ROOT = 0

Kind = Literal["naive", "double-array"]


class Trie(Protocol):
    """Strings with their ids."""

    def prefixes(self, data: bytes, start: int) -> Iterator[tuple[int, int]]:
        """``(end, id)`` of each string that is ``data[start:end]``, the shortest first."""
        ...


class NaiveTrie:
    """A dictionary a node."""

    def __init__(self, strings: Mapping[bytes, int]) -> None:
        self._children: list[dict[int, int]] = [{}]
        self._ids: list[int] = [NOWHERE]
        for text, string_id in strings.items():
            node = ROOT
            for byte in text:
                if byte not in self._children[node]:
                    self._children[node][byte] = len(self._ids)
                    self._children.append({})
                    self._ids.append(NOWHERE)
                node = self._children[node][byte]
            self._ids[node] = string_id
        self._ids[ROOT] = NOWHERE  # as the double array: the empty string is left out

    def prefixes(self, data: bytes, start: int) -> Iterator[tuple[int, int]]:
        """See :class:`Trie`."""
        node = ROOT
        for position in range(start, len(data)):
            below = self._children[node].get(data[position])
            if below is None:
                return
            node = below
            if self._ids[node] != NOWHERE:
                yield position + 1, self._ids[node]


class DoubleArrayTrie:
    """The array that the compiled code walks (:mod:`impls.kernels.trie`), with its strings' ids."""

    def __init__(self, strings: Mapping[bytes, int]) -> None:
        self._array, self._ids = double_array(strings)

    def prefixes(self, data: bytes, start: int) -> Iterator[tuple[int, int]]:
        """See :class:`Trie`."""
        if not len(self._array):
            return
        slot = ROOT
        for position in range(start, len(data)):
            slot = child(self._array, slot, data[position])
            if slot == EMPTY:
                return
            index = token_at(self._array, slot)
            if index != EMPTY:
                yield position + 1, int(self._ids[index])


def make_trie(strings: Mapping[bytes, int], kind: Kind = "double-array") -> Trie:
    """The trie of some strings with their ids. An empty string is left out."""
    return NaiveTrie(strings) if kind == "naive" else DoubleArrayTrie(strings)


def double_array(strings: Mapping[bytes, int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The array of some strings, without entries if there are none, and the id of each.

    ``token_at`` gives the index of a string in the order of ``strings``, without the empty one.
    """
    kept = {text: string_id for text, string_id in strings.items() if text}
    ids = np.array([*kept.values()], dtype=np.int64)
    if not kept:
        return np.empty(0, dtype=np.int32), ids
    return build_trie([*kept])[0], ids
