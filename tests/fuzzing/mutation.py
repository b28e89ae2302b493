"""Damage that is like what files suffer, made from valid ones: of trees, of lines, and of bytes.

All is drawn from one generator of random numbers, so that a seed decides every byte of a mutant.
"""

import base64
import copy
import gzip
import json
from typing import Any


class Raw(str):
    """JSON text that stands in a tree as it is."""

    __slots__ = ()


class Pairs(list[tuple[str, Any]]):
    """An object as pairs, so that a key can stand in it twice."""

    __slots__ = ()


NUMBERS = (
    *(0, 1, -1, 2, 7, 255, 256, 1000, 65536, 2**20 - 1, 2**20, 2**31 - 1, 2**31, 2**32),
    *(2**63 - 1, 2**63, 2**64, -(2**31), -(2**63), 10**30, 0.0, -0.0, 0.5, 1e308, -1e-300, 1e39),
)

TEXTS = (
    *("", " ", "a", "ab", "\x00", "\n", "\r\n", "\x1b[31m", "é", "漢", "😀", "▁", "Ġ", "\u202e"),
    *("\ud800", "a b c", "<0x41>", "<0xZZ>", "<unk>", "</s>", "[UNK]", "##", "##a", "0", "-1"),
    *("=", "AA==", "////", "YQ==", "not base64", "x" * 300, "é" * 5000, "a" * 70_000, "(", "[z-a]"),
    *("*", "../../x", "/", "Sequence", "BPE", "Unigram", "WordPiece", "ByteLevel", "NFC", "Split"),
    *("Metaspace", "Replace", "Precompiled", "Strip", "Isolated", "1e999", "true", "null"),
)

RAWS = (
    *(Raw("[" * 5000), Raw("[" * 900 + "]" * 900), Raw('{"a":' * 900 + "1" + "}" * 900)),
    *(Raw("NaN"), Raw("-Infinity"), Raw("1e999"), Raw("9" * 5000), Raw("01"), Raw('"\\ud800"')),
    *(Raw('"\\x"'), Raw("tru"), Raw(""), Raw("[[],[]," * 50), Raw("/* */ 1"), Raw("{" + "}" * 3)),
)


def odd(rng):
    """A value that hardly any field expects."""
    kind = rng.randrange(10)
    if kind < 3:
        return rng.choice(NUMBERS)
    if kind < 6:
        return rng.choice(TEXTS)
    if kind < 7:
        return rng.choice(RAWS)
    if kind < 9:
        return rng.choice([None, True, False, [], Pairs()])
    if rng.random() < 0.5:
        return [odd(rng) for _ in range(rng.randrange(1, 4))]
    return Pairs((rng.choice(TEXTS), odd(rng)) for _ in range(rng.randrange(1, 4)))


# --- JSON -----------------------------------------------------------------------------------------


def tree_of(value):
    """A parsed value with its objects as :class:`Pairs`."""
    if isinstance(value, dict):
        return Pairs((key, tree_of(one)) for key, one in value.items())
    return [tree_of(one) for one in value] if isinstance(value, list) else value


def text_of(tree):
    """The JSON text of a tree."""
    if isinstance(tree, Raw):
        return tree
    if isinstance(tree, Pairs):
        return "{" + ",".join(f"{json.dumps(str(k))}:{text_of(v)}" for k, v in tree) + "}"
    if isinstance(tree, list):
        return "[" + ",".join(map(text_of, tree)) + "]"
    return json.dumps(tree)


def _places(tree, found, depth=0):
    """All places of a tree as (container, index); those near the root more than once."""
    if isinstance(tree, list):
        for index, entry in enumerate(tree):
            found.extend([(tree, index)] * (8 if depth < 2 else 1))
            _places(entry[1] if isinstance(tree, Pairs) else entry, found, depth + 1)


def _put(container, index, value):
    container[index] = (container[index][0], value) if isinstance(container, Pairs) else value


def _at(container, index):
    return container[index][1] if isinstance(container, Pairs) else container[index]


def damaged_tree(tree, rng):
    """A copy with up to three faults: other values, lost, doubled, renamed and swapped entries."""
    tree = [copy.deepcopy(tree)]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        places = []
        _places(tree, places)
        container, index = rng.choice(places)
        kind = rng.randrange(10)
        if kind < 5 or container is tree:
            _put(container, index, odd(rng))
        elif kind == 5:
            del container[index]
        elif kind == 6:
            container.insert(rng.randrange(len(container) + 1), copy.deepcopy(container[index]))
        elif kind == 7 and isinstance(container, Pairs):
            name = rng.choice([rng.choice(container)[0], rng.choice(TEXTS)])
            container[index] = (name, container[index][1])
        elif kind == 8:
            other, at = rng.choice(places)
            if at < len(other):
                one, two = _at(container, index), _at(other, at)
                _put(container, index, copy.deepcopy(two))
                if not any(other is place for place in (one, two)):
                    _put(other, at, copy.deepcopy(one))
        else:
            value = _at(container, index)
            wrapped = rng.choice([[value], Pairs([("a", value)]), str(value), [value] * 3])
            _put(container, index, copy.deepcopy(wrapped))
    return tree[0] if tree else None


def encoded(text):
    """UTF-8, lone surrogates as the bytes that some programs write for them."""
    return text.encode("utf-8", "surrogatepass")


# --- bytes and lines ------------------------------------------------------------------------------


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
            length = rng.choice((1, 8, 100))
            data[at:at] = data[at : at + length]
        else:
            del data[at:]
    return bytes(data)


def damaged_lines(content, rng, odd_field):
    """Lines with other fields, swapped, lost and doubled."""
    lines = content.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 3))):
        at, kind = rng.randrange(len(lines)), rng.randrange(8)
        fields = lines[at].split(b" ")
        if kind < 4:
            fields[rng.randrange(len(fields))] = odd_field()
            lines[at] = b" ".join(fields)
        elif kind == 4:
            lines.insert(rng.randrange(len(lines)), lines[at])
        elif kind == 5:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        elif kind == 6:
            lines[at] = b" ".join(fields[::-1])
        else:
            lines[at] = lines[at] + rng.choice((b" ", b"\r", b"\t1", b" 1 2 3", b"\x00", b"#"))
    return b"\n".join(lines)


def odd_rank_field(rng):
    """A field of a rank file."""
    kind = rng.randrange(3)
    if kind == 0:
        return encoded(str(rng.choice(NUMBERS)))
    text = encoded(rng.choice(TEXTS))
    return base64.b64encode(text) if kind == 1 else text


def packed(content, rng):
    """Seldom gzipped, and seldom damaged after that."""
    if rng.random() < 0.06:
        content = gzip.compress(content, 1, mtime=0)
        if rng.random() < 0.5:
            content = damaged_bytes(content, rng)
    return content


# --- TOML -----------------------------------------------------------------------------------------

TOML_VALUES = (
    *('""', '"a"', "0", "-1", "true", "1e999", "nan", "inf", "9" * 30, "9" * 5000, "2027-06-30"),
    *("[]", "{}", "[[]]", '{hex = "zz"}', '{hex = "00"}', "{hex = 1}", "[1, 'a']", '["a", "b"]'),
    *("07:32:00", "2027-13-01", "1979-05-27T07:32:00Z", "0x" + "f" * 40, '"\\u0000"', '"\\ud800"'),
    *("[" * 5000, "[" * 200 + "]" * 200, "{a=" * 200 + "1" + "}" * 200, "{a.b.c = 1}", "'''x", "="),
    *('"' + "x" * 9000 + '"', '">=1.2"', '"~="', '"*"', '"[z-a]"', '"' + "*" * 200 + '"'),
    *('"a/b/c/d/e/f"', "[{}]", "{units = []}", '{units = [""]}', '[{units = ["a"]}]', "1_0", "+-1"),
)

TOML_KEYS = (
    *("a", "expected", "scaling", "family", "bucket", "reason", "implementations", "examples"),
    *("a." * 40 + "a", "a." * 9000 + "a", '""', '"\\n"', "pumps", "name", "times", "hex", "gives"),
)


def damaged_toml(content, rng):
    """Lines of TOML with other keys and values, swapped, lost, doubled, under other headers."""
    lines = content.decode().split("\n")
    for _ in range(rng.choice((1, 1, 2, 3))):
        at, kind = rng.randrange(len(lines)), rng.randrange(9)
        key, equals, value = lines[at].partition(" = ")
        if kind < 4 and equals:
            lines[at] = f"{key} = {rng.choice(TOML_VALUES)}"
        elif kind < 5 and equals:
            lines[at] = f"{rng.choice(TOML_KEYS)} = {value}"
        elif kind < 6:
            lines.insert(at, f"{rng.choice(TOML_KEYS)} = {rng.choice(TOML_VALUES)}")
        elif kind < 7:
            brackets = rng.choice(("[{}]", "[[{}]]", "[{}", "[[{}]"))
            lines.insert(at, brackets.format(rng.choice(TOML_KEYS)))
        elif kind < 8:
            lines.insert(rng.randrange(len(lines)), lines[at])
        else:
            del lines[at]
            lines = lines or [""]
    return encoded("\n".join(lines))
