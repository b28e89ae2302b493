"""Splitting plain ASCII a window at a time, against the `regex` package and in itself."""

import os
import random
from itertools import product

import numba
import numpy as np
import pytest

from corpora.vocabularies.patterns import PATTERNS
from impls.bpe.machine import highest
from impls.bpe.masks import LOADED, WINDOW, ascii_masks
from impls.bpe.scanners import SCANNERS
from impls.bpe.windows import next_seam, piece_bits
from tests.impls.test_pretokenizers import NAMES, differences

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
SOME = 40 if INTERPRETED else 2000

# What the windows tell apart, what they leave to the automaton, and what is nearly that.
ASCII = ("a", "B", "1", " ", "\t", "\n", "'", "/", "!", "s")
CHUNKS = (
    "foo", "HTTPServer", "fooBar", "12", "1234567", "  ", "    ", "\r\n", "\n\n", "\n    ", " \n",
    ")\n", ");\n", "()", "==", "//", "/*", "/\n", "\n/", "\n \n", "\"'", "'a'", "'s", "'S", "'ll",
    "I'LL", "it's", "don't", "'ſ", "\x00", "\x1c", "\x7f", "\x85", "\u00a0", "é", "中文", " мир",
    "\u0301",
)  # fmt: skip


def long_texts(rng, count):
    """Texts of several windows over a few chunks each, some of them far more frequent."""
    for _ in range(count):
        palette = rng.choices([chr(code) for code in range(128)], k=rng.randint(0, 4))
        palette += rng.choices(ASCII, k=rng.randint(0, 4))
        palette += rng.choices(CHUNKS, k=rng.randint(1, 6))
        weights = [rng.random() ** 2 + 0.01 for _ in palette]
        yield "".join(rng.choices(palette, weights, k=rng.randint(LOADED, 4 * LOADED)))


@pytest.mark.parametrize("pattern", SCANNERS, ids=range(len(SCANNERS)))
def test_long_texts_split_as_the_regex_package_does(pattern):
    assert differences(pattern, long_texts(random.Random(pattern), SOME)) == []


@pytest.mark.skipif(INTERPRETED, reason="compares compiled code")
@pytest.mark.parametrize("name", NAMES)
def test_all_short_strings_at_the_beginning_and_within_a_window(name):
    around = [("", " x" * LOADED), ("x ", "y z" * LOADED), ("x" * (WINDOW - 3) + " ", "!" * LOADED)]
    texts = (
        before + "".join(text) + after
        for text in product(ASCII, repeat=4)
        for before, after in around
    )

    assert differences(PATTERNS[name][0], texts) == []


@pytest.mark.parametrize("name", NAMES)
def test_windows_get_far(name):
    """Else all would be right, but left to the automaton."""
    code = b"    def of(self, name: str) -> int:\n        return self.names[name] + 12345\n"
    options = SCANNERS[PATTERNS[name][0]].options()
    data = np.frombuffer(code, dtype=np.uint8)

    _, seams, trouble, foreign = piece_bits(data, 0, options)

    assert (trouble, foreign) == (0, 0)
    assert highest(seams) > WINDOW - 8
    assert next_seam(data, 3, len(data), options) == 7


def test_masks_are_those_of_the_classes():
    data = np.frombuffer(b"AZaz09 \t\v\f\n\r/'\x00\x1f\x7f\x80\xff!@[`{" * 3, dtype=np.uint8)

    masks = ascii_masks(data, 1)

    places = [[i for i in range(23) if mask >> i & 1] for mask in masks]
    assert places == [
        [0], [1, 2], [3, 4], [5], [6, 7, 8], [9, 10], [11], [12], [13, 14, 16, 17]
    ]  # fmt: skip
    assert max(masks) < 1 << WINDOW


@pytest.mark.skipif(INTERPRETED, reason="compares compiled code")
def test_compiled_masks_are_those_of_python():
    compiled = numba.njit(lambda data, at: ascii_masks(data, at))  # noqa: PLW0108 - an overload
    rng = np.random.default_rng(1)
    for most in (128, 256):
        for at in range(200):
            data = rng.integers(0, most, at + LOADED).astype(np.uint8)
            assert compiled(data, at) == ascii_masks(data, at)
