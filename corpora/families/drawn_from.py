"""Recipes that are made of a vocabulary: its tokens, merges, special tokens and charsmap."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from corpora.families.recipes import Drawn, Letters, Repeated, is_text
from corpora.generators.material import material

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from corpora.families.recipes import Recipe
    from corpora.vocabularies.model import Vocabulary

KEPT = 64
"""Recipes kept of each kind: those of the vocabularies of a run."""

PARTS = 24
"""Parts of a draw: as many as a reader takes in, in its line of Python."""

LONGEST = 32
"""Bytes of a token that is used: longer ones are runs of one character, families of their own."""

PREFIX_MIN = 3
"""Tokens of fewer bytes have no proper prefix worth following."""

PUMPS = 400
"""Candidates for the densest lattice."""

LETTERS = b"abcdefghijklmnopqrstuvwxyz"


def letters(vocabulary: Vocabulary) -> bytes:
    """The lower-case letters that the vocabulary can spell; whatever bytes it has without any."""
    alphabet = vocabulary.byte_alphabet
    usable = bytes(byte for byte in LETTERS if alphabet is None or byte in alphabet)
    return usable or bytes(alphabet or LETTERS)


@lru_cache(maxsize=KEPT)
def letter_run(vocabulary: Vocabulary) -> Recipe:
    """The letter of the most telling alphabet, over and over."""
    usable = letters(vocabulary)
    telling = [letter for letter in material(vocabulary).letters if letter in usable]
    return Repeated(telling[0] if telling else usable[:1])


def of_letters(vocabulary: Vocabulary, count: int) -> bytes:
    """``count`` letters over which most tokens are spelt."""
    usable = set(letters(vocabulary))
    for units in material(vocabulary).alphabets:
        if len(units) == count and all(len(u) == 1 and u[0] in usable for u in units):
            return b"".join(units)
    return (letters(vocabulary) * count)[:count]


@lru_cache(maxsize=KEPT)
def pair_run(vocabulary: Vocabulary) -> Recipe:
    """Two letters in turn."""
    return Repeated(of_letters(vocabulary, 2))


@lru_cache(maxsize=KEPT)
def doubled_pair(vocabulary: Vocabulary) -> Recipe:
    """Two letters, each twice."""
    first, second = of_letters(vocabulary, 2)[:1], of_letters(vocabulary, 2)[1:]
    return Repeated(first * 2 + second * 2)


@lru_cache(maxsize=KEPT)
def triple_run(vocabulary: Vocabulary) -> Recipe:
    """Three letters in turn."""
    return Repeated(of_letters(vocabulary, 3))


@lru_cache(maxsize=KEPT)
def few_letters(vocabulary: Vocabulary) -> Recipe:
    """Two letters at random."""
    return Letters(of_letters(vocabulary, 2))


def long_word(vocabulary: Vocabulary) -> Recipe:
    """All letters at random."""
    return Letters(letters(vocabulary))


def spaces_before_words(vocabulary: Vocabulary) -> Recipe:
    """Runs of 127 spaces, each with a letter after it."""
    return Repeated(b" " * 127 + letters(vocabulary)[:1])


def leading_spaces(vocabulary: Vocabulary) -> Recipe:
    """A run of spaces, then a word."""
    return Repeated(b" ", suffix=letters(vocabulary)[:3])


def trailing_spaces(vocabulary: Vocabulary) -> Recipe:
    """A word, then a run of spaces."""
    return Repeated(b" ", prefix=letters(vocabulary)[:3])


def fresh_words(vocabulary: Vocabulary) -> Recipe:
    """Letters at random with a space among eight."""
    usable = letters(vocabulary)
    return Letters((usable * 8)[: 7 * 16] + b" " * 16)


def sampled(parts: Iterable[bytes]) -> Recipe | None:
    """A draw of some of these, spread evenly; the only one over and over; None of none."""
    found = list(dict.fromkeys(part for part in parts if part))
    if not found:
        return None
    if len(found) == 1:
        return Repeated(found[0])
    step = max(1, len(found) // PARTS)
    return Drawn(tuple(found[::step][:PARTS]))


@lru_cache(maxsize=8)  # as many vocabularies as `material` keeps
def usable_tokens(vocabulary: Vocabulary) -> tuple[bytes, ...]:
    """Spellings of tokens that are text, and not too long, longest first."""
    found = [token for token in material(vocabulary).text if len(token) <= LONGEST]
    return tuple(sorted(sorted(found), key=len, reverse=True))


@lru_cache(maxsize=KEPT)
def longest_token(vocabulary: Vocabulary) -> Recipe:
    """One long token of several letters, over and over."""
    tokens = usable_tokens(vocabulary)
    return Repeated(next((t for t in tokens if len(set(t)) > 3), tokens[0]))


@lru_cache(maxsize=KEPT)
def long_tokens(vocabulary: Vocabulary) -> Recipe | None:
    """Long tokens at random."""
    tokens = usable_tokens(vocabulary)
    return sampled(tokens[: max(PARTS, len(tokens) // 50)])


def some_tokens(vocabulary: Vocabulary) -> list[bytes]:
    """Tokens that have a proper prefix worth following, spread evenly: more than a draw takes."""
    found = [token for token in usable_tokens(vocabulary) if len(token) >= PREFIX_MIN]
    return found[:: max(1, len(found) // (PARTS * PARTS))]


@lru_cache(maxsize=KEPT)
def token_prefixes(vocabulary: Vocabulary) -> Recipe:
    """Tokens at random, each without its last byte, where that is text."""
    cut = [token[:-1] for token in some_tokens(vocabulary)]
    return sampled(filter(is_text, cut)) or Letters(letters(vocabulary))


@lru_cache(maxsize=KEPT)
def longest_prefix(vocabulary: Vocabulary) -> Recipe:
    """The longest proper prefix that is itself no token, over and over."""
    known = vocabulary.ids
    for token in usable_tokens(vocabulary):
        cut = token[:-1]
        if len(cut) >= PREFIX_MIN and cut not in known and is_text(cut) and len(set(cut)) > 1:
            return Repeated(cut)
    return Repeated(of_letters(vocabulary, 3))


@lru_cache(maxsize=KEPT)
def token_suffixes(vocabulary: Vocabulary) -> Recipe:
    """Tokens at random, each without its first byte, where that is text."""
    cut = [token[1:] for token in some_tokens(vocabulary)]
    return sampled(filter(is_text, cut)) or Letters(letters(vocabulary))


def depths(vocabulary: Vocabulary) -> dict[int, int]:
    """How many merges lie one above the other in each token that a merge makes."""
    found: dict[int, int] = {}
    merges = vocabulary.merges
    for left, right, merged in zip(
        merges.left.tolist(), merges.right.tolist(), merges.merged.tolist(), strict=True
    ):
        depth = 1 + max(found.get(left, 0), found.get(right, 0))
        found[merged] = max(found.get(merged, 0), depth)
    return found


@lru_cache(maxsize=KEPT)
def merge_chain(vocabulary: Vocabulary) -> Recipe | None:
    """The token whose merges lie deepest, over and over; None without merges."""
    usable = set(usable_tokens(vocabulary))
    deepest = sorted(depths(vocabulary).items(), key=lambda item: (-item[1], item[0]))
    for token_id, _ in deepest:
        surface = spelling(vocabulary, token_id)
        if surface in usable and len(set(surface)) > 1:
            return Repeated(surface)
    return None


@lru_cache(maxsize=KEPT)
def overlapping_merges(vocabulary: Vocabulary) -> Recipe | None:
    """Parts x y z of which both x y and y z are merged, the second pair first."""
    usable = set(usable_tokens(vocabulary))
    left, right = vocabulary.merges.left, vocabulary.merges.right
    by_left = np.argsort(left, kind="stable")
    some = np.arange(0, len(left), max(1, len(left) // 2000))
    sorted_left, wanted = left[by_left], right[some]
    first = np.searchsorted(sorted_left, wanted)
    past = np.searchsorted(sorted_left, wanted, side="right")
    found: list[bytes] = []
    for place, start, end in zip(some.tolist(), first.tolist(), past.tolist(), strict=True):
        # A merge's place is its rank: of those that go on from its right side, earlier ones.
        for other in by_left[start : min(end, start + 8)].tolist():
            tokens = int(left[place]), int(right[place]), int(right[other])
            parts = [spelling(vocabulary, token) for token in tokens]
            if other < place and tokens[0] != tokens[1] and usable.issuperset(parts):
                found.append(b"".join(parts))
                break
    return sampled(found)


def spelling(vocabulary: Vocabulary, token_id: int) -> bytes:
    """A token as it stands in a text, for those that :func:`material` knows; else nothing."""
    token = vocabulary.tokens[token_id]
    return (token or b"").replace("\u2581".encode(), b" ") if token else b""


@lru_cache(maxsize=KEPT)
def densest_lattice(vocabulary: Vocabulary) -> Recipe:
    """The string whose repetition has the most tokens at each byte."""
    known = set(material(vocabulary).surfaces)
    widest = min(LONGEST, max(map(len, known)))
    tokens = usable_tokens(vocabulary)
    candidates = [
        *material(vocabulary).letters[:16],
        of_letters(vocabulary, 2),
        of_letters(vocabulary, 3),
        *tokens[:: max(1, len(tokens) // PUMPS)],
    ]
    usable = [one for one in candidates if is_text(one)] or candidates

    def edges(unit: bytes) -> float:
        text = unit * (widest // len(unit) + 2)
        found = sum(
            text[start : start + length] in known
            for start in range(len(unit))
            for length in range(1, widest + 1)
        )
        return found / len(unit)

    return Repeated(max(usable, key=edges))


@lru_cache(maxsize=KEPT)
def most_extensions(vocabulary: Vocabulary) -> Recipe | None:
    """The beginnings of words that most tokens go on from."""
    text = material(vocabulary).text
    begun = Counter(one[:length] for length in (2, 3, 4) for one in text if len(one) > length)
    counts = {beginning: count for beginning, count in begun.items() if is_text(beginning)}
    best = sorted(counts, key=lambda begun: (-counts[begun] * len(begun), begun))[:PARTS]
    return Drawn(tuple(best)) if best else None


@lru_cache(maxsize=KEPT)
def special_tokens(vocabulary: Vocabulary) -> Recipe | None:
    """The texts of special, added and user-defined tokens."""
    return sampled(text.encode() for text in material(vocabulary).special_texts)


@lru_cache(maxsize=KEPT)
def special_prefixes(vocabulary: Vocabulary) -> Recipe | None:
    """Those texts, each without its last character."""
    return sampled(text[:-1].encode() for text in material(vocabulary).special_texts)


@lru_cache(maxsize=KEPT)
def charsmap_prefixes(vocabulary: Vocabulary) -> Recipe | None:
    """The longest keys of the charsmap, each without its last character; None without one."""
    blob = vocabulary.normalizer.charsmap
    if not blob:
        return None
    keys = sorted(sorted(charsmap_keys(blob)), key=len, reverse=True)
    return sampled(key.decode()[:-1].encode() for key in keys[: PARTS * 4] if is_text(key))


@lru_cache(maxsize=KEPT)
def charsmap_expansions(vocabulary: Vocabulary) -> Recipe | None:
    """The key whose replacement is the longest beside it, over and over."""
    blob = vocabulary.normalizer.charsmap
    if not blob:
        return None
    keys = charsmap_keys(blob)
    texts = filter(is_text, keys)
    longest = max(texts, key=lambda key: (keys[key] / len(key), key), default=None)
    return None if longest is None else Repeated(longest)


@lru_cache(maxsize=KEPT)
def charsmap_keys(blob: bytes) -> dict[bytes, int]:
    """What a charsmap replaces, with the bytes of the replacement.

    The format is that of ``sentencepiece``'s ``builder.cc``: the size of a double array (Darts),
    the array, then strings ended by NUL. Walked level by level, all nodes of a level at once. A
    node lies where its parent's offset and its label say together, so nodes are sorted by that
    offset, and the children of all nodes of a level are found by one search.
    """
    size = int.from_bytes(blob[:4], "little")
    units = np.frombuffer(blob[4 : 4 + size], dtype="<u4").astype(np.int64)
    texts = np.frombuffer(blob[4 + size :], dtype=np.uint8)
    stops = np.flatnonzero(texts == 0)
    labels = units & 0x800000FF
    inner = np.flatnonzero((labels >= 1) & (labels <= 255))
    inner = inner[np.lexsort((labels[inner], inner ^ labels[inner]))]
    offsets = inner ^ labels[inner]
    found: dict[bytes, int] = {}
    keys, bases = np.zeros((1, 0), dtype=np.uint8), _children(units[:1])
    while len(keys) and keys.shape[1] < LONGEST:
        first = np.searchsorted(offsets, bases)
        many = np.searchsorted(offsets, bases, side="right") - first
        rows = np.repeat(np.arange(len(bases)), many)
        before = np.cumsum(many) - many
        nodes = inner[np.arange(len(rows)) + (first - before)[rows]]
        bases = nodes ^ _children(units[nodes])
        keys = np.concatenate((keys[rows], labels[nodes, None].astype(np.uint8)), axis=1)
        ends = np.flatnonzero(((units[nodes] & 0x100) != 0) & (bases < len(units)))
        starts = units[bases[ends]] & 0x7FFFFFFF
        at = np.searchsorted(stops, starts)
        lengths = np.where(at < len(stops), np.append(stops, 0)[at] - starts, 0)
        # No label is 0, which the view as strings would take off.
        spelt = np.ascontiguousarray(keys[ends]).view(f"S{keys.shape[1]}").ravel()
        found.update(zip(spelt.tolist(), lengths.tolist(), strict=True))
    return found


def _children(units: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets: NDArray[np.int64] = (units >> 10) << ((units & 0x200) >> 6)
    return offsets
