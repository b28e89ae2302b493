"""Added tokens cut out of a text: the leftmost, of those the longest; special ones stay."""

from __future__ import annotations

import random

import numpy as np

from impls.unigram.splitting import STAYS, split
from impls.unigram.trie import NOWHERE, double_array
from impls.unigram.variants import Splitting


def parted(text: bytes, symbols: dict[bytes, int]) -> list[tuple[int, int]]:
    """The sections, one byte after another."""
    sections, begun, place = [], 0, 0
    while place < len(text):
        longest = max((one for one in symbols if text.startswith(one, place)), key=len, default=b"")
        if longest and symbols[longest] != STAYS:
            if place > begun:
                sections.append((place, NOWHERE))
            begun = place + len(longest)
            sections.append((begun, symbols[longest]))
        place += len(longest) or 1
    return [*sections, (len(text), NOWHERE)] if begun < len(text) else sections


def test_leftmost_longest() -> None:
    rng = random.Random(7)
    for _ in range(300):
        drawn = {bytes(rng.choices(b"ab<", k=rng.randint(1, 3))) for _ in range(rng.randint(1, 5))}
        symbols = {one: rng.choice([STAYS, number]) for number, one in enumerate(sorted(drawn))}
        text = bytes(rng.choices(b"ab<c", k=rng.randint(0, 40)))
        trie, ids = double_array(symbols)
        begins = np.zeros(256, dtype=np.bool_)
        begins[[one[0] for one in symbols]] = True
        found = split(
            trie, ids, np.array([*map(len, symbols)]), begins, int(Splitting.LEFTMOST_LONGEST),
            np.frombuffer(b"b" + text, dtype=np.uint8), 1, len(text) + 1,
        )  # fmt: skip
        assert [(end - 1, token) for end, token in found.tolist()] == parted(text, symbols)
