"""Symbols cut out of a text, as two engines do it, against their definitions."""

import random

import numpy as np

from impls.unigram.splitting import leftmost_longest, longest_first
from impls.unigram.trie import NOWHERE


def from_the_left(text, symbols):
    """The sections, one byte after another."""
    sections, begun, place = [], 0, 0
    while place < len(text):
        longest = max((one for one in symbols if text.startswith(one, place)), key=len, default=b"")
        token = symbols.get(longest)
        if token is not None:
            if place > begun:
                sections.append((place, NOWHERE))
            begun = place + len(longest)
            sections.append((begun, token))
        place += len(longest) or 1
    return [*sections, (len(text), NOWHERE)] if begun < len(text) else sections


def in_turn(text, symbols):
    """The sections, each symbol in turn, the longest first, where all of it is still text."""
    owners = {}
    taken = set()
    for symbol in sorted(symbols, key=len, reverse=True):
        for place in range(len(text)):
            covered = range(place, place + len(symbol))
            if text.startswith(symbol, place) and taken.isdisjoint(covered):
                owners[place] = symbol
                taken.update(covered)
    sections, begun = [], 0
    for place, symbol in sorted(owners.items()):
        if place > begun:
            sections.append((place, NOWHERE))
        begun = place + len(symbol)
        sections.append((begun, symbols[symbol]))
    return [*sections, (len(text), NOWHERE)] if begun < len(text) else sections


def parts(cut, text):
    """Where the parts of a text end, behind another one, and their ids."""
    ends, given, counts = cut(b"<a" + text, np.array([2, 2 + len(text)]))
    found = zip((ends - 2).tolist(), given.tolist(), strict=True)
    return [*found][int(counts[0]) :] if text else []


def test_sections_are_those_of_the_definitions():
    rng = random.Random(7)
    for _ in range(300):
        drawn = {bytes(rng.choices(b"ab<", k=rng.randint(1, 3))) for _ in range(rng.randint(1, 5))}
        numbers = {one: number for number, one in enumerate(sorted(drawn))}
        some = {one: rng.choice([None, number]) for one, number in numbers.items()}
        text = bytes(rng.choices(b"ab<c", k=rng.randint(0, 40)))
        assert parts(leftmost_longest(some), text) == from_the_left(text, some)
        assert parts(longest_first(numbers), text) == in_turn(text, numbers)
