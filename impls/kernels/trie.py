"""A double-array trie over the tokens' bytes.

A node is a slot; its child by byte b is the slot ``base ^ b``, if that slot is labelled b. No two
nodes share a base, so the label alone tells whose child a slot is (Aoe's check array would name
the parent). Labels are b + 1, so that byte 0 is not a free slot. A leaf's base is 0, and no slot
below 256 but the root, slot 0, is ever used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, INDEX, Bytes, Flags, Ints, Longs

if TYPE_CHECKING:
    from collections.abc import Sequence

LABEL_BITS = 9
LABEL_MASK = (1 << LABEL_BITS) - 1

_TRIES = 64
"""Slots looked at before the search for room moves on for good: the array stays over half full."""


@njit
def child(trie: Ints, slot: int, byte: int) -> int:
    """The slot of a node's child, or EMPTY."""
    after = (int(trie[2 * slot]) & INDEX) ^ byte
    return after if (int(trie[2 * after + 1]) & LABEL_MASK) == byte + 1 else EMPTY


@njit
def token_at(trie: Ints, slot: int) -> int:
    """The token that a node spells, or EMPTY."""
    return (int(trie[2 * slot + 1]) >> LABEL_BITS) - 1


@njit
def longest_token(trie: Ints, text: Bytes, start: int) -> int:
    """The longest token with which ``text[start:]`` begins; EMPTY for none."""
    found = EMPTY
    slot = 0
    for position in range(start, len(text)):
        slot = child(trie, slot, int(text[position]))
        if slot == EMPTY:
            break
        token = token_at(trie, slot)
        if token != EMPTY:
            found = token
    return found


@njit
def _room(
    trie: Ints,
    taken: Flags,
    children: Longs,
    count: int,
    start: int,
) -> tuple[int, int]:
    """A free base for children labelled ``children[:count]``, and how many slots were looked at.

    Looks from slot ``start`` on. A base of 0 says that the array is too short.
    """
    slots = len(trie) >> 1
    for slot in range(start, slots):
        if trie[2 * slot + 1] != 0:
            continue
        base = slot ^ int(children[0])
        if taken[base]:
            continue
        fits = True
        for i in range(1, count):
            if trie[2 * (base ^ int(children[i])) + 1] != 0:
                fits = False
                break
        if fits:
            return base, slot - start
    return 0, slots - start


@njit
def _build(
    blob: Bytes,
    starts: Longs,
    tokens: Longs,
    prefixes: Ints,
) -> Ints:
    """The trie of sorted, different spellings; fills ``prefixes``.

    It is built depth first, so that a text that stays in one script finds what it needs on few
    lines of memory.

    spelling i, ``blob[starts[i]:starts[i + 1]]``, is that of token ``tokens[i]``.
    """
    nodes = len(blob) + 1  # at most
    # Of each node that waits: the spellings below it, its slot, and the last token on the way.
    low = np.empty(nodes, dtype=np.int64)
    high = np.empty(nodes, dtype=np.int64)
    slot_of = np.empty(nodes, dtype=np.int64)
    above = np.empty(nodes, dtype=np.int64)
    depth = np.empty(nodes, dtype=np.int64)
    trie = np.zeros(2 * 1024, dtype=np.int32)
    taken = np.zeros(1024, dtype=np.bool_)
    from_slot = np.full(10, 256, dtype=np.int64)
    children = np.empty(256, dtype=np.int64)
    child_low = np.empty(257, dtype=np.int64)
    low[0], high[0], slot_of[0], above[0], depth[0] = 0, len(tokens), 0, EMPTY, 0
    tail = 1
    while tail > 0:
        node = tail = tail - 1
        at, end, slot, last = int(low[node]), int(high[node]), int(slot_of[node]), int(above[node])
        level = int(depth[node])
        if at < end and starts[at + 1] - starts[at] == level:
            token = int(tokens[at])
            prefixes[token] = last
            trie[2 * slot + 1] |= (token + 1) << LABEL_BITS
            last = token
            at += 1
        count = 0
        while at < end:
            byte = int(blob[starts[at] + level])
            children[count] = byte
            child_low[count] = at
            count += 1
            # The spellings are sorted: double the step while the byte stays, then halve it.
            step = 1
            while at + step < end and int(blob[starts[at + step] + level]) == byte:
                at += step
                step *= 2
            while step > 0:
                if at + step < end and int(blob[starts[at + step] + level]) == byte:
                    at += step
                step //= 2
            at += 1
        child_low[count] = end
        if count > 0:
            size = min(count, 9)
            base, looked = _room(trie, taken, children, count, int(from_slot[size]))
            while base == 0:
                trie = np.concatenate((trie, np.zeros(len(trie), dtype=np.int32)))
                taken = np.concatenate((taken, np.zeros(len(taken), dtype=np.bool_)))
                base, looked = _room(trie, taken, children, count, int(from_slot[size]))
            if looked > _TRIES:
                from_slot[size] = base & ~255
                if size == 1:
                    from_slot[size] = base ^ int(children[0])
            taken[base] = True
            trie[2 * slot] = base
            for i in range(count - 1, -1, -1):
                after = base ^ int(children[i])
                trie[2 * after + 1] = int(children[i]) + 1
                low[tail], high[tail] = child_low[i], child_low[i + 1]
                slot_of[tail], above[tail], depth[tail] = after, last, level + 1
                tail += 1
    used = len(taken)
    while used > 512 and trie[2 * used - 1] == 0:
        used -= 1
    # A base leads anywhere within its 256 slots.
    return trie[: 2 * ((used + 255) & ~255)].copy()


def build_trie(spellings: Sequence[bytes]) -> tuple[Ints, Ints]:
    """TRIE and PREFIXES; token i is spelled ``spellings[i]``: non-empty, no two alike."""
    order = sorted(range(len(spellings)), key=spellings.__getitem__)
    ordered = [spellings[i] for i in order]
    starts = np.zeros(len(order) + 1, dtype=np.int64)
    np.cumsum([len(text) for text in ordered], out=starts[1:])
    blob = np.frombuffer(b"".join(ordered), dtype=np.uint8)
    prefixes = np.full(len(order), EMPTY, dtype=np.int32)
    return _build(blob, starts, np.array(order, dtype=np.int64), prefixes), prefixes
