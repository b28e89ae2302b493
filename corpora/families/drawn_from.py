"""Recipes by the name that ``listed.toml`` has for them, most of them made of a vocabulary.

Of its tokens, merges, special tokens and charsmap; None where it has nothing to make them of.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from corpora.families.pattern import Pattern, Pump, drawn, repeated
from corpora.generators.material import is_text, material, units_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from corpora.vocabularies.model import Vocabulary

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


def of_letters(vocabulary: Vocabulary, count: int) -> bytes:
    """``count`` letters over which most tokens are spelt."""
    usable = set(letters(vocabulary))
    for units in material(vocabulary).alphabets:
        if len(units) == count and all(len(u) == 1 and u[0] in usable for u in units):
            return b"".join(units)
    return (letters(vocabulary) * count)[:count]


def spelt(pattern: Pattern, count: int, vocabulary: Vocabulary) -> Pattern:
    """A pattern with so many letters over which most tokens are spelt, in place of a, b and c."""
    table = bytes.maketrans(b"abc"[:count], of_letters(vocabulary, count))
    pumps = [
        Pump(tuple(unit.translate(table) for unit in pump.units), pump.drawn)
        for pump in pattern.pumps
    ]
    ends = pattern.prefix.translate(table), pattern.suffix.translate(table)
    return Pattern(tuple(pumps), *ends)


def long_word(vocabulary: Vocabulary) -> Pattern:
    """All letters at random."""
    return drawn(units_of(letters(vocabulary)))


def fresh_words(vocabulary: Vocabulary) -> Pattern:
    """Letters at random with a space among eight."""
    return drawn(units_of((letters(vocabulary) * 8)[: 7 * 16] + b" " * 16))


def sampled(parts: Iterable[bytes]) -> Pattern | None:
    """A draw of some of these, spread evenly; the only one over and over; None of none."""
    found = list(dict.fromkeys(filter(None, parts)))
    some = found[:: max(1, len(found) // PARTS)][:PARTS]
    return drawn(some) if len(some) > 1 else repeated(*some) if some else None


@lru_cache(maxsize=8)  # as many vocabularies as `material` keeps
def usable_tokens(vocabulary: Vocabulary) -> tuple[bytes, ...]:
    """Spellings of tokens that are text, and not too long, longest first."""
    found = [token for token in material(vocabulary).text if len(token) <= LONGEST]
    return tuple(sorted(sorted(found), key=len, reverse=True))


def longest_token(vocabulary: Vocabulary) -> Pattern:
    """One long token of several letters, over and over."""
    tokens = usable_tokens(vocabulary)
    return repeated(next((t for t in tokens if len(set(t)) > 3), tokens[0]))


def long_tokens(vocabulary: Vocabulary) -> Pattern | None:
    """Long tokens at random."""
    tokens = usable_tokens(vocabulary)
    return sampled(tokens[: max(PARTS, len(tokens) // 50)])


def cut_tokens(vocabulary: Vocabulary, cut: slice) -> Pattern:
    """A part of tokens at random, where that is text; letters where there is none."""
    found = [token for token in usable_tokens(vocabulary) if len(token) >= PREFIX_MIN]
    some = found[:: max(1, len(found) // (PARTS * PARTS))]  # more than a draw takes
    return sampled(filter(is_text, (token[cut] for token in some))) or long_word(vocabulary)


def token_prefixes(vocabulary: Vocabulary) -> Pattern:
    """Tokens at random, each without its last byte."""
    return cut_tokens(vocabulary, slice(None, -1))


def token_suffixes(vocabulary: Vocabulary) -> Pattern:
    """Tokens at random, each without its first byte."""
    return cut_tokens(vocabulary, slice(1, None))


def longest_prefix(vocabulary: Vocabulary) -> Pattern:
    """The longest proper prefix that is itself no token, over and over."""
    for token in usable_tokens(vocabulary):
        cut = token[:-1]
        telling = len(cut) >= PREFIX_MIN and len(set(cut)) > 1
        if telling and cut not in vocabulary.ids and is_text(cut):
            return repeated(cut)
    return repeated(of_letters(vocabulary, 3))


def depths(vocabulary: Vocabulary) -> dict[int, int]:
    """How many merges lie one above the other in each token that a merge makes."""
    found: dict[int, int] = {}
    for left, right, merged in vocabulary.merges.triples():
        depth = 1 + max(found.get(left, 0), found.get(right, 0))
        found[merged] = max(found.get(merged, 0), depth)
    return found


def merge_chain(vocabulary: Vocabulary) -> Pattern | None:
    """The token whose merges lie deepest, over and over; None without merges."""
    usable, found = set(usable_tokens(vocabulary)), depths(vocabulary)
    for token_id in sorted(found, key=lambda token_id: (-found[token_id], token_id)):
        surface = spelling(vocabulary, token_id)
        if surface in usable and len(set(surface)) > 1:
            return repeated(surface)
    return None


def overlapping_merges(vocabulary: Vocabulary) -> Pattern | None:
    """Parts x y z of which both x y and y z are merged, the second pair first."""
    usable, found = set(usable_tokens(vocabulary)), list[bytes]()
    left, right = vocabulary.merges.left.tolist(), vocabulary.merges.right.tolist()
    by_left = defaultdict[int, list[int]](list)
    for place, token in enumerate(left):
        by_left[token].append(place)
    for place in range(0, len(left), max(1, len(left) // 2000)):
        # A merge's place is its rank: of those that go on from its right side, earlier ones.
        for other in by_left[right[place]][:8]:
            tokens = left[place], right[place], right[other]
            parts = [spelling(vocabulary, token) for token in tokens]
            if other < place and tokens[0] != tokens[1] and usable.issuperset(parts):
                found.append(b"".join(parts))
                break
    return sampled(found)


def spelling(vocabulary: Vocabulary, token_id: int) -> bytes:
    """A token as it stands in a text, for those that :func:`material` knows; else nothing."""
    return (vocabulary.tokens[token_id] or b"").replace("\u2581".encode(), b" ")


def densest_lattice(vocabulary: Vocabulary) -> Pattern:
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

    def edges(unit: bytes) -> float:
        text = unit * (widest // len(unit) + 2)
        found = sum(
            text[start : start + length] in known
            for start in range(len(unit))
            for length in range(1, widest + 1)
        )
        return found / len(unit)

    return repeated(max(list(filter(is_text, candidates)) or candidates, key=edges))


def most_extensions(vocabulary: Vocabulary) -> Pattern | None:
    """The beginnings of words that most tokens go on from."""
    text = material(vocabulary).text
    begun = Counter(one[:length] for length in (2, 3, 4) for one in text if len(one) > length)
    best = sorted(filter(is_text, begun), key=lambda one: (-begun[one] * len(one), one))[:PARTS]
    return drawn(best) if best else None


def special_tokens(vocabulary: Vocabulary) -> Pattern | None:
    """The texts of special, added and user-defined tokens."""
    return sampled(text.encode() for text in material(vocabulary).special_texts)


def special_prefixes(vocabulary: Vocabulary) -> Pattern | None:
    """Those texts, each without its last character."""
    return sampled(text[:-1].encode() for text in material(vocabulary).special_texts)


def charsmap_prefixes(vocabulary: Vocabulary) -> Pattern | None:
    """The longest keys of the charsmap, each without its last character; None without one."""
    keys = charsmap_keys(vocabulary.normalizer.charsmap)
    longest = sorted(sorted(keys), key=len, reverse=True)[: PARTS * 4]
    return sampled(key.decode()[:-1].encode() for key in longest if is_text(key))


def charsmap_expansion(vocabulary: Vocabulary) -> Pattern | None:
    """The key whose replacement is the longest beside it, over and over."""
    keys = charsmap_keys(vocabulary.normalizer.charsmap)
    texts = filter(is_text, keys)
    longest = max(texts, key=lambda key: (keys[key] / len(key), key), default=b"")
    return repeated(longest) if longest else None


@lru_cache(maxsize=8)
def charsmap_keys(blob: bytes | None) -> dict[bytes, int]:
    """What a charsmap replaces, with the bytes of the replacement.

    The format is that of ``sentencepiece``'s ``builder.cc``: the size of a double array (Darts),
    the array, then strings ended by NUL. A child lies where its parent's offset and its own label
    say together.
    """
    found: dict[bytes, int] = {}
    if not blob:
        return found
    size = int.from_bytes(blob[:4], "little")
    units = np.frombuffer(blob[4 : 4 + size], dtype="<u4").astype(np.int64)
    texts, labels, seen = blob[4 + size :], np.arange(1, 256), {0}
    waiting = [(b"", _offset(int(units[0])))] if len(units) else []
    while waiting:
        key, base = waiting.pop()
        places = base ^ labels
        places = places[places < len(units)]
        for node in places[units[places] & 0x800000FF == base ^ places].tolist():
            unit, longer = int(units[node]), key + bytes([base ^ node])
            children = node ^ _offset(unit)
            if unit & 0x100 and children < len(units):
                start = int(units[children]) & 0x7FFFFFFF
                found[longer] = max(0, texts.find(b"\0", start) - start)
            if node not in seen and len(longer) < LONGEST:
                waiting.append((longer, children))
            seen.add(node)
    return found


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)
