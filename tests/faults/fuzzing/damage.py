"""Damage like that which files suffer, made in what a valid file holds, and in its bytes.

What a file holds is a tree: lists, :class:`Object`, numbers and texts. Faults are put into a tree,
whatever its format; how the damaged tree is written as a file is the subject of
:mod:`tests.faults.fuzzing.writers`. All is drawn from one generator of random numbers, so that a
seed decides every byte of a mutant.
"""

import copy


class Raw(str):
    """A text that stands in the file as it is; in a binary one under a length that lies."""

    __slots__ = ()


class Object(list):
    """An object as a list of ``[key, value]``, so that a key may stand in it twice."""

    __slots__ = ()


NUMBERS = (
    *(0, 1, -1, 2, 7, 255, 256, 1000, 65536, 2**20 - 1, 2**20, 2**31 - 1, 2**31, 2**32),
    *(2**63 - 1, 2**63, 2**64, -(2**31), -(2**63), 10**30, 0.0, -0.0, 0.5, 1e308, -1e-300, 1e39),
    *(float("nan"), float("inf")),
)

TEXTS = (
    *("", " ", "a", "ab", "\x00", "\n", "\r\n", "\x1b[31m", "é", "漢", "😀", "▁", "Ġ", "\u202e"),
    *("\ud800", "a b c", "<0x41>", "<0xZZ>", "<unk>", "</s>", "[UNK]", "##", "##a", "0", "-1"),
    *("=", "AA==", "////", "YQ==", "not base64", "x" * 300, "é" * 5000, "a" * 70_000, "(", "[z-a]"),
    *("*", "../../x", "/", "Sequence", "BPE", "Unigram", "WordPiece", "ByteLevel", "NFC", "Split"),
    *("Metaspace", "Replace", "Precompiled", "Strip", "Isolated", "1e999", "true", "null", ">=1.2"),
    *("*" * 200, "a/b/c/d/e/f", "path", "size", "GNU.sparse.map", "GNU.sparse.size", "n log n"),
)

RAWS = (
    *(Raw("[" * 5000), Raw("[" * 900 + "]" * 900), Raw('{"a":' * 900 + "1" + "}" * 900)),
    *(Raw("NaN"), Raw("-Infinity"), Raw("1e999"), Raw("9" * 5000), Raw("01"), Raw('"\\ud800"')),
    *(Raw('"\\x"'), Raw("tru"), Raw(""), Raw("[[],[]," * 50), Raw("/* */ 1"), Raw("{" + "}" * 3)),
    *(Raw("07:32:00"), Raw("2027-13-01"), Raw("1979-05-27T07:32:00Z"), Raw("0x" + "f" * 40)),
    *(Raw("{a=" * 200 + "1" + "}" * 200), Raw("{a.b.c = 1}"), Raw("'''x"), Raw("a." * 9000 + "a")),
)


def odd(rng):
    """A value that hardly any field expects."""
    kind = rng.randrange(10)
    if kind < 7:
        return rng.choice((NUMBERS, NUMBERS, NUMBERS, TEXTS, TEXTS, TEXTS, RAWS)[kind])
    if kind < 9:
        return rng.choice([None, True, False, [], Object()])
    made = [odd(rng) for _ in range(rng.randrange(1, 4))]
    return made if rng.random() < 0.5 else Object([rng.choice(TEXTS), one] for one in made)


def tree_of(value):
    """A parsed value as a tree; what is an :class:`Object` already stays."""
    if isinstance(value, dict):
        return Object([key, tree_of(one)] for key, one in value.items())
    return [tree_of(one) for one in value] if type(value) is list else value


def pairs(thing):
    """The keys and values of what was an object, whatever the damage has made of it."""
    for entry in thing if isinstance(thing, Object) else ():
        key, value, *_ = [*entry, None, None] if isinstance(entry, list) else [entry, entry]
        yield key, value


def _place(tree, rng):
    """A list within a tree, and a place in it. Each step down goes to any entry alike, so that
    the few fields near the root are met as often as the many entries of a long list."""
    inside = tree
    while True:
        at = rng.randrange(len(inside))
        if isinstance(inside, Object) and isinstance(inside[at], list) and rng.random() < 0.8:
            inside = inside[at] or inside
            at = len(inside) - 1  # the value
        if not (isinstance(inside[at], list) and inside[at] and rng.random() < 0.9):
            return inside, at
        inside = inside[at]


def damaged_tree(tree, rng):
    """A copy with up to three faults: other values, lost, doubled, swapped and wrapped entries."""
    root = [copy.deepcopy(tree)]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        inside, at = _place(root, rng)
        other, there = _place(root, rng)
        one, two = copy.deepcopy(inside[at]), copy.deepcopy(other[there])
        kind = rng.randrange(9)
        if kind < 5 or inside is root:
            inside[at] = odd(rng)
        elif kind == 5:
            del inside[at]
        elif kind == 6:
            inside.insert(at, one)
        elif kind == 7:
            inside[at], other[there] = two, one
        else:
            inside[at] = rng.choice([[one], Object([["a", one]]), str(one), [one] * 3])
    return root[0]


def damaged_bytes(content, rng):
    """Some bytes changed, lost, doubled or cut off."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not data:
            break
        at, kind = rng.randrange(len(data)), rng.randrange(8)
        if kind < 3:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 3:
            data[at] = rng.choice((0, 9, 10, 13, 32, 34, 44, 48, 91, 123, 127, 128, 192, 255))
        elif kind == 4:
            del data[at : at + rng.choice((1, 1, 4, 64))]
        elif kind == 5:
            data[at:at] = rng.randbytes(rng.choice((1, 4, 8, 32)))
        elif kind == 6:
            data[at:at] = data[at : at + rng.choice((1, 8, 100))]
        else:
            del data[at:]
    return bytes(data)
