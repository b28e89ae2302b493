"""The double array of some strings with their ids, which compiled code walks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit
from impls.kernels.layout import EMPTY, Bytes, Ints, Longs
from impls.kernels.trie import build_trie, child, token_at

if TYPE_CHECKING:
    from collections.abc import Mapping


NOWHERE = EMPTY
"""No node, no id."""

ROOT = 0


def double_array(strings: Mapping[bytes, int]) -> tuple[Ints, Longs]:
    """The array of some strings, without entries if there are none, and the id of each.

    ``token_at`` gives the index of a string in the order of ``strings``, without the empty one.
    """
    kept = {text: string_id for text, string_id in strings.items() if text}
    ids = np.array([*kept.values()], dtype=np.int64)
    if not kept:
        return np.empty(0, dtype=np.int32), ids
    return build_trie([*kept])[0], ids


@njit
def spelled(trie: Ints, text: Bytes, start: int, end: int) -> int:
    """The string that is ``text[start:end]``, by its index, or NOWHERE."""
    slot = ROOT if len(trie) > 0 else EMPTY
    for i in range(start, end):
        if slot == EMPTY:
            break
        slot = child(trie, slot, int(text[i]))
    return token_at(trie, slot) if slot != EMPTY else NOWHERE
