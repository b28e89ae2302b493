"""The Aho-Corasick automaton over a trie: the longest token that ends at each byte of a text.

Its states are the trie's slots; the failure link of a state is the state of its longest proper
suffix that is a prefix of some token. (Aho and Corasick, "Efficient string matching", 1975.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Ints
from impls.kernels.trie import child, token_at


class Automaton(NamedTuple):
    """trie: see :mod:`impls.kernels.trie`. failures: the failure link of each slot. longest: the
    longest token that the text of each slot ends in, EMPTY for none. suffixes: the next shorter
    token that each token ends in, EMPTY for none."""

    trie: Ints
    failures: Ints
    longest: Ints
    suffixes: Ints


@njit
def next_state(automaton: Automaton, state: int, byte: int) -> int:
    """The state after one more byte; the root for a byte that begins no token."""
    while True:
        after = child(automaton.trie, state, byte)
        if after != EMPTY:
            return after
        if state == 0:
            return 0
        state = int(automaton.failures[state])


@njit
def _link(automaton: Automaton) -> None:
    """Fill all but the trie, level by level."""
    trie, failures, longest = automaton.trie, automaton.failures, automaton.longest
    queue = np.empty(len(failures), dtype=np.int64)
    queue[0] = 0
    longest[0] = EMPTY
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
            link = 0 if state == 0 else next_state(automaton, int(failures[state]), byte)
            failures[after] = link
            longest[after] = longest[link]
            token = token_at(trie, after)
            if token != EMPTY:
                automaton.suffixes[token] = longest[link]
                longest[after] = token


def automaton_of(trie: Ints, tokens: int) -> Automaton:
    """The automaton over a trie of ``tokens`` tokens."""
    failures, longest = (np.zeros(len(trie) >> 1, dtype=np.int32) for _ in range(2))
    automaton = Automaton(trie, failures, longest, np.full(tokens, EMPTY, dtype=np.int32))
    _link(automaton)
    return automaton
