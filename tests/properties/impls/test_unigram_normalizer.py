"""SentencePiece's normalizer: what nothing begins with is copied, and becomes what it would.

Two normalizers copy: the plain one, and the one for speed, which copies runs.
"""

import random
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from corpora.vocabularies.model import Piece, PieceType
from corpora.vocabularies.sources import resolve
from impls.fast.kernels.many_bytes import LOADED
from impls.fast.unigram import normalizer as fast
from impls.fast.unigram.plain import pass_plain
from impls.unigram.charsmap import LEAF
from impls.unigram.normalizer import make_rules, prepare
from impls.unigram.trie import NOWHERE
from tests.breadth import thorough_from

ATOMS = [
    *["word", "a", "(", "-", ".", '"', "<s", "\r", "\n", "\t", "\r\n", "\0", "\x01", "\x7f", " "],
    *["  ", "   ", "\n\n", "\u3000", "\u2581", "é", "e\u0301", "и", "и\u0306", "слово", "ﬁ", "½"],
    *["か", "か\u3099", "日本", "한", "\u1112", "क्ष", "😀", "\u200b", "\u0301", "ß"],
]


RUN = "ひらがなと カタカナ、漢字 and some words\nпо-русски été "
DISTURBING = [
    *["ﬁ", "か\u3099", "\u3099", "\u3000", "ヿ", "😀", "\r\n", "  ", "\n \t", "e\u0301", "и\u0306"],
    *["\u0301", "\0", "\x7f", "(", "-.", "ｶﾞ", "각", "\u11a8", "ا\u0653", "क़", " " * 70, "\u2581"],
]
BROKEN = [
    b"\xff",
    b"\xe3\x81",
    b"\xe3",
    b"\xc0\x80",
    b"\xe0\x81\xa1",
    b"\xed\xa0\x80",
    b"\x82",
    b"\xd0",
]


def spaced(vocabulary, *, tidy, escape, prefix):
    """The vocabulary with other flags of its normalizer, and with symbols of one character."""
    spec = replace(
        vocabulary.normalizer,
        remove_extra_whitespaces=tidy,
        escape_whitespaces=escape,
        add_dummy_prefix=prefix,
    )
    symbols = [Piece(text, 0.0, PieceType.USER_DEFINED) for text in ("(", "-", "-.", "\n-")]
    names = {piece.text for piece in symbols}
    others = [piece for piece in vocabulary.pieces if piece.text not in names]
    return replace(vocabulary, normalizer=spec, pieces=(*others, *symbols))


def charsmap_of(keys):
    """A charsmap with some rules, all of which give an x: a block of 256 units for each node."""
    children = [{}]
    ends = set()
    for key in keys:
        node = 0
        for byte in key:
            if byte not in children[node]:
                children[node][byte] = len(children)
                children.append({})
            node = children[node][byte]
        ends.add(node)
    units = np.zeros(256 * (len(children) + 1), dtype="<u4")
    where = {0: 0}  # the root's unit, and that of each node below
    for node, below in enumerate(children):
        block = 256 * (node + 1)
        units[where[node]] |= (where[node] ^ block) << 10 | (LEAF if node in ends else 0)
        units[block] = (node in ends) << 31  # a value: 0, where the x begins
        for byte, child in below.items():
            where[child] = block ^ byte
            units[block ^ byte] = byte
    array = units.tobytes()
    return len(array).to_bytes(4, "little") + array + b"x\0"


def agree(vocabulary, *batches):
    """Whether batches of inputs become what they do where each prefix is looked at."""
    rules = make_rules(vocabulary)
    everywhere = rules._replace(begun=np.ones(1 << 16, dtype=np.bool_))
    passing = fast.make_passing(vocabulary, rules)
    none = np.empty(0, dtype=np.int64)
    for batch in batches:
        ends = np.cumsum([len(one) for one in batch], dtype=np.int64)
        data = np.frombuffer(b"".join(batch), dtype=np.uint8)
        given = np.full(len(ends), NOWHERE)
        wanted = prepare(everywhere, 0, none, data, ends, given)
        plain = prepare(rules, 0, none, data, ends, given)
        text, *rest = fast.prepare(rules, passing, data, ends)
        for found in (plain, (text[: len(text) - fast.SPARE], *rest)):
            assert found[0].tobytes() == wanted[0].tobytes(), batch
            assert all(np.array_equal(*pair) for pair in zip(found[1:], wanted[1:], strict=True))


def with_symbols(vocabulary, symbols):
    """The vocabulary with these user-defined symbols alone."""
    kept = [one for one in vocabulary.pieces if one.type is not PieceType.USER_DEFINED]
    kept = [one for one in kept if one.text not in symbols]
    made = [Piece(text, 0.0, PieceType.USER_DEFINED) for text in symbols]
    return replace(vocabulary, pieces=(*kept, *made))


def flagged():
    """A vocabulary with all flags of white space, with and without symbols."""
    plain = resolve("unigram_nfkc")
    flags = product((True, False), repeat=3)
    spaces = [spaced(plain, tidy=t, escape=e, prefix=p) for t, e, p in flags]
    return [plain, *spaces[:2], *(with_symbols(one, []) for one in spaces)]


@pytest.mark.parametrize("step", thorough_from(3, [7, 3, 1]))
def test_what_disturbs_a_run_at_each_place(step):
    run = (RUN * 4).encode()
    for number, vocabulary in enumerate(flagged()):
        inputs = []
        for disturbing in [*(one.encode() for one in DISTURBING), *BROKEN]:
            shifts = range(number % step, 135, step)
            inputs += [run[:shift] + disturbing + run[shift:] for shift in shifts]
        agree(vocabulary, inputs)


def test_inputs_that_end_at_each_place():
    run = (RUN * 4).encode()
    for vocabulary in flagged():
        together = [[run[start:end] for end in range(start, start + 140)] for start in (0, 20)]
        agree(vocabulary, *together, *([run[:end]] for end in range(1, 140)))


@pytest.mark.parametrize("part", thorough_from(1, range(3)))
def test_drawn_charsmaps_and_symbols(part):
    """Of half the vocabularies the real charsmap; and each input by itself, too."""
    rng = random.Random(f"plain {part}")
    parts = [*"ab z.\n0", *"ひかカ日字한", "\u3099", "\u0301", *"éиا", "ﬁ", "𝄞"]
    for number in range(60):
        keys = {"".join(rng.choices(parts, k=rng.choice([1, 2, 2, 3]))).encode() for _ in range(4)}
        if rng.random() < 0.3:
            keys.add(rng.choice(["か", "é", "日本"]).encode()[:-1])
        symbols = {
            "".join(rng.choices(parts, k=rng.choice([1, 2]))) for _ in range(rng.choice([0, 0, 2]))
        }
        drawn = rng.choice(flagged())
        if number % 2:
            made = replace(drawn.normalizer, charsmap=charsmap_of(sorted(keys)))
            drawn = replace(with_symbols(drawn, sorted(symbols)), normalizer=made)
        inputs = [b"", b" ", b"a"]
        for _ in range(25):
            atoms = [one.encode() for one in rng.sample(parts if number % 2 else ATOMS, 5)] * 3
            atoms += [rng.choice([*keys, *(one.encode() for one in symbols), *BROKEN])]
            inputs.append(b"".join(rng.choices(atoms, k=rng.choice([1, 3, 30, 90]))))
        agree(drawn, inputs, *([one] for one in inputs[:12]))


@pytest.mark.parametrize(
    "after",
    thorough_from(1, ["\u3099", "は", "\u0301", "\u0306", "и", "\u11a8", "aか", "か\u3099"]),
)
def test_every_character_before_ones_that_compose_and_others(after):
    points = [*range(0x80, 0xD800), *range(0xE000, 0x10000)]
    agree(resolve("unigram_nfkc"), [f"{chr(point)}{after}".encode() for point in points])


def test_nothing_is_written_behind_the_room():
    """Compiled, it would be memory of somebody else."""
    vocabulary = with_symbols(resolve("unigram_nfkc"), [])
    passes = fast.make_passing(vocabulary, make_rules(vocabulary)).passes
    codes = np.frombuffer((RUN * 9).encode(), dtype=np.uint8)
    whole = np.zeros(3 * len(codes), dtype=np.uint8)
    pass_plain(passes, codes, 0, len(codes), whole, 0)
    for room in range(0, 400, 3):
        out = np.full(room + 2 * LOADED, 0xFF, dtype=np.uint8)
        stop, size = pass_plain(passes, codes, 0, len(codes), out[:room], 0)
        assert np.all(out[room:] == 0xFF)
        assert stop <= size > room - 2 * LOADED  # else nothing would be copied in runs
        assert np.array_equal(out[:size], whole[:size])
