"""Splitting text a window at a time, against the `regex` package and in itself."""

import os
import random

import numpy as np
import pytest
import regex

from corpora.generators import characters
from corpora.vocabularies.patterns import PATTERNS
from impls.fast.kernels.bits import highest
from impls.fast.kernels.many_bytes import LOADED, WINDOW
from impls.fast.scanner.cutter import FastCutter
from impls.fast.scanner.masks import ascii_masks
from impls.fast.scanner.windows import options_of, piece_bits, with_contractions
from impls.pretokenize.scanners import SCANNERS
from tests.breadth import thorough_from
from tests.properties.impls.test_pretokenizers import CHUNKS as SHORT_CHUNKS
from tests.properties.impls.test_pretokenizers import (
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
ASCII = "aB1 \t\n'/!s"
CHUNKS = (
    *characters.WORDS, *characters.SPACES, *characters.CONTRACTIONS, *characters.CLASS_CHARACTERS,
    ")\n", ");\n", "()", "==", "/*", "/\n", "\n/", "\"'", "'a'",
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
@pytest.mark.parametrize(
    "text",
    [
        "    def of(self, name: str) -> int:\n        return self.names[name] + 12345\n",
        "They don't say 'no' (it's) I'LL O'Brien \"Can't go on and on, and on and on",
        ");\n\n/* We are // .\n//\n/  and on and on and on and on and on and on",
    ],
)
def test_windows_are_not_left_to_the_automaton(name, text):
    """Else all would be right, and slow."""
    data = np.frombuffer(text.encode().ljust(LOADED), dtype=np.uint8)
    options = options_of(SCANNERS[PATTERNS[name][0]])
    ends, sure, trouble, contracting = piece_bits(ascii_masks(data, 0), options)
    _, unread = with_contractions(data, 0, len(data), ends, trouble, contracting, options)
    assert (trouble, unread) == (0, 0)
    assert highest(sure) > WINDOW - 8
