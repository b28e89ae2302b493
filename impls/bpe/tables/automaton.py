"""The Aho-Corasick automaton over the trie: the longest token that ends at each byte of a text.

Its states are the trie's slots; the failure link of a state is the state of its longest proper
suffix that is a prefix of some token. (Aho and Corasick, "Efficient string matching", 1975.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.jit import njit
from impls.kernels.layout import EMPTY, STATES, SUFFIXES
from impls.kernels.trie import LABEL_MASK, child, token_at

if TYPE_CHECKING:
    from numpy.typing import NDArray


@njit
def next_state(trie: NDArray[np.int32], states: NDArray[np.int32], state: int, byte: int) -> int:
    """The state after one more byte; the root for a byte that begins no token."""
    while True:
        after = int(trie[2 * state]) ^ byte
        if (int(trie[2 * after + 1]) & LABEL_MASK) == byte + 1:
            return after
        if state == 0:
            return 0
        state = int(states[2 * state])


@njit
def _link(trie: NDArray[np.int32], states: NDArray[np.int32], suffixes: NDArray[np.int32]) -> None:
    """Fill both, level by level. See STATES and SUFFIXES in impls.kernels.layout."""
    queue = np.empty(len(trie) >> 1, dtype=np.int64)
    queue[0] = 0
    states[1] = EMPTY
    head, tail = 0, 1
    while head < tail:
        state = int(queue[head])
        head += 1
        if trie[2 * state] == 0:
            continue
        for byte in range(256):
            after = child(trie, state, byte)
            if after == EMPTY:
                continue
            queue[tail] = after
            tail += 1
            link = 0 if state == 0 else next_state(trie, states, int(states[2 * state]), byte)
            states[2 * after] = link
            longest = int(states[2 * link + 1])
            token = token_at(trie, after)
            if token != EMPTY:
                suffixes[token] = longest
                longest = token
            states[2 * after + 1] = longest


def automaton_tables(trie: NDArray[np.int32], tokens: int) -> dict[int, NDArray[np.int32]]:
    """STATES and SUFFIXES of a trie of so many tokens."""
    states = np.zeros(len(trie), dtype=np.int32)
    suffixes = np.full(tokens, EMPTY, dtype=np.int32)
    _link(trie, states, suffixes)
    return {STATES: states, SUFFIXES: suffixes}
