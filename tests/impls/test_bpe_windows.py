"""Splitting text a window at a time, against the `regex` package and in itself."""

import os
import random
from itertools import chain, product

import numpy as np
import pytest
import regex

from corpora.vocabularies.patterns import PATTERNS
from impls.fast.kernels.bits import highest
from impls.fast.kernels.many_bytes import LOADED, WINDOW
from impls.fast.scanner.cutter import FastCutter
from impls.fast.scanner.masks import ascii_masks, noted_masks
from impls.fast.scanner.windows import next_sure, options_of, piece_bits, with_contractions
from impls.pretokenize.character_classes import (
    class_table,
)
from impls.pretokenize.scanner_kernel import SIZE_BITS, classify
from impls.pretokenize.scanners import SCANNERS
from tests.breadth import thorough_from
from tests.impls.test_pretokenizers import CHUNKS as SHORT_CHUNKS
from tests.impls.test_pretokenizers import (
    NAMES,
    REPRESENTATIVES,
    SPECIAL,
    by_regex,
    cut,
    differences,
    vocabulary,
)

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SOME = 40 if INTERPRETED else 2000

# What the windows tell apart, what they leave to the automaton, and what is nearly that.
ASCII = ("a", "B", "1", " ", "\t", "\n", "'", "/", "!", "s")
OTHERS = ("é", "É", "中", "\u0301", "²", "\u3000", "—", "a", "B", " ", "!", "\n", "'")
CHUNKS = (
    "foo", "HTTPServer", "fooBar", "12", "1234567", "  ", "    ", "\r\n", "\n\n", "\n    ", " \n",
    ")\n", ");\n", "()", "==", "//", "/*", "/\n", "\n/", "\n \n", "\"'", "'a'", "'s", "'S", "'ll",
    "I'LL", "it's", "don't", "'ſ", "\x00", "\x1c", "\x7f", "\x85", "\u00a0", "é", "中文", " мир",
    "\u0301", "。", "，", "—", "\u3000", "Ünder", "İ", "ʰ", "²", "٣", "\U0001f600",
)  # fmt: skip


def long_texts(rng, count):
    """Texts of several windows over a few chunks each, some of them far more frequent."""
    for _ in range(count):
        palette = rng.choices([chr(code) for code in range(128)], k=rng.randint(0, 4))
        palette += rng.choices(ASCII, k=rng.randint(0, 4))
        palette += rng.choices(CHUNKS, k=rng.randint(1, 6))
        if rng.random() < 0.5:
            palette += rng.choices((*REPRESENTATIVES, *SHORT_CHUNKS), k=rng.randint(1, 8))
        weights = [rng.random() ** 2 + 0.01 for _ in palette]
        yield "".join(rng.choices(palette, weights, k=rng.randint(LOADED, 4 * LOADED)))


@pytest.mark.parametrize("pattern", thorough_from(5, SCANNERS), ids=range(len(SCANNERS)))
def test_long_texts_split_as_the_regex_package_does(pattern):
    assert differences(pattern, long_texts(random.Random(pattern), SOME)) == []


@pytest.mark.skipif(INTERPRETED, reason="compares compiled code")
@pytest.mark.parametrize("name", thorough_from(1, NAMES))
@pytest.mark.thorough  # exhaustive
def test_all_short_strings_at_the_beginning_and_within_a_window(name):
    around = [
        ("", " x" * LOADED),
        ("x ", "y z" * LOADED),
        ("x" * (WINDOW - 3) + " ", "!" * LOADED),
        ("中é ", " é" * LOADED),
        ("Ж" * (WINDOW // 2 - 1) + " ", "ж, " * LOADED),
    ]
    texts = (
        before + "".join(text) + after
        for text in chain(product(ASCII, repeat=4), product(OTHERS, repeat=3))
        for before, after in around
    )

    assert differences(PATTERNS[name][0], texts) == []


@pytest.mark.parametrize("name", NAMES)
def test_windows_end_where_a_special_text_begins(name):
    special = "<|special|>"
    cutter = FastCutter(vocabulary(PATTERNS[name], special_tokens={special: 300}))
    expression = regex.compile(PATTERNS[name][0])
    rng = random.Random(name)
    texts = [
        special.join((text[:at], text[at:]))
        for text in long_texts(rng, SOME // 10)
        for at in (0, rng.randint(1, LOADED), len(text))
    ]

    for text, pieces in zip(texts, cut(cutter, texts, SPECIAL), strict=True):
        before, after = (by_regex(expression, part) for part in text.split(special))
        assert pieces == [*before, special.encode(), *after]


@pytest.mark.parametrize("name", NAMES)
def test_texts_of_many_short_pieces(name):
    texts = ["1a!" * count for count in range(1, 400, 7)] + ["a1 " * 900 + "é1" * 900]

    assert differences(PATTERNS[name][0], texts) == []


@pytest.mark.parametrize("name", NAMES)
def test_windows_get_far(name):
    """Else all would be right, but left to the automaton."""
    code = b"    def of(self, name: str) -> int:\n        return self.names[name] + 12345\n"
    options = options_of(SCANNERS[PATTERNS[name][0]])
    data = np.frombuffer(code, dtype=np.uint8)

    _, sure, trouble, _ = piece_bits(ascii_masks(data, 0), options)

    assert trouble == 0
    assert highest(sure) > WINDOW - 8
    assert 3 + WINDOW - 8 < next_sure(data, 3, len(data), options) < 3 + WINDOW


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "text", ["They don't say 'no' (it's) I'LL O'Brien \"Can't", ");\n\n/* We are // .\n//\n/"]
)
def test_contractions_and_slashes_are_not_left_to_the_automaton(name, text):
    data = np.frombuffer(text.encode().ljust(LOADED), dtype=np.uint8)
    options = options_of(SCANNERS[PATTERNS[name][0]])

    ends, _, trouble, contracting = piece_bits(ascii_masks(data, 0), options)
    _, unread = with_contractions(data, 0, len(data), ends, trouble, contracting, options)

    assert (trouble, unread) == (0, 0)


def test_words_that_end_in_marks_are_not_left_to_the_automaton():
    text = "இரும்புப் முதல்வர் की है रीना".encode()
    data = np.frombuffer(text, dtype=np.uint8)
    noted = np.zeros(len(data) + LOADED, dtype=np.uint8)
    assert classify(data, 0, len(data), class_table(), noted)

    ends, sure, trouble, _ = piece_bits(
        noted_masks(noted, 0), options_of(SCANNERS[PATTERNS["o200k_base"][0]])
    )

    assert trouble == 0
    assert ends == sure == sum(1 << i for i in range(1, WINDOW) if text[i] == ord(" "))


@pytest.mark.parametrize("size", [1, LOADED - 1, LOADED, LOADED + 1, 3 * WINDOW, 3 * WINDOW + 3])
def test_notes_are_of_the_sizes_wherever_a_character_stands(size):
    """At a window's end, and at the data's, and broken at each byte."""
    for character in ("é", "中", "\U0001f600"):
        whole = character.encode()
        for at in range(max(0, size - 6), size + 1):
            data = b"a" * at + whole + b"b" * (size - at)
            codes = np.frombuffer(data, dtype=np.uint8)
            noted = np.zeros(len(data) + LOADED, dtype=np.uint8)
            assert classify(codes, 0, len(codes), class_table(), noted)
            sizes = [1] * at + [len(whole)] + [0] * (len(whole) - 1) + [1] * (size - at)
            assert [note >> SIZE_BITS for note in noted[: len(data)].tolist()] == sizes
            for broken in range(len(whole)):
                rest = np.frombuffer(data[: at + broken] + data[at + broken + 1 :], dtype=np.uint8)
                assert not classify(rest, 0, len(rest), class_table(), noted)
