"""What the intrinsics compile to does what their Python does."""

import os
from itertools import product

import numba
import numpy as np
import pytest

from impls.fast.bpe import processor as machine
from impls.fast.kernels import bits as word_bits
from impls.fast.kernels import eight_bytes

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="compares compiled code"
)
WORDS = [0, 1, -1, 255, -(1 << 63), (1 << 63) - 1, 0x0123456789ABCDEF, -0x0123456789ABCDEF]


def test_words_from_everywhere():
    data = np.random.default_rng(1).integers(0, 256, 50).astype(np.uint8)
    compiled = numba.njit(lambda data, at: eight_bytes.word_at(data, at))  # noqa: PLW0108 - overloads

    for at in range(43):
        expected = int.from_bytes(data[at : at + 8].tobytes(), "little", signed=True)
        assert compiled(data, at) == eight_bytes.word_at(data, at) == expected


def test_products():
    compiled = numba.njit(lambda one, other: machine.folded(one, other))  # noqa: PLW0108

    for one, other in product(WORDS, repeat=2):
        assert compiled(one, other) == machine.folded(one, other) == machine.folded(other, one)
        assert machine.folded(np.int64(one), np.int64(other)) == machine.folded(one, other)


def test_the_ends_of_a_word():
    compiled = numba.njit(lambda bits: (word_bits.lowest(bits), word_bits.highest(bits)))
    assert compiled(0) == (word_bits.lowest(0), word_bits.highest(0)) == (64, -1)
    for place in range(63):
        for bits, ends in (
            (1 << place, (place, place)),
            ((1 << 62) | 1 << place, (place, 62)),
            ((1 << place) | 1, (0, place)),
        ):
            assert compiled(bits) == (word_bits.lowest(bits), word_bits.highest(bits)) == ends


def test_ones():
    compiled = numba.njit(lambda bits: word_bits.ones(bits))  # noqa: PLW0108 - overloads
    for bits in (word for word in WORDS if word >= 0):
        assert compiled(bits) == word_bits.ones(bits) == f"{bits:b}".count("1")


def test_a_line_that_is_asked_for_may_lie_outside():
    """Compiled it is asked for, nothing is read, and no fault comes of a place that is nobody's."""

    def ask(entries, index):
        machine.prefetch(entries, index)

    compiled = numba.njit(ask)
    entries = np.arange(4)
    for index in (0, 3, 4, 1 << 40):
        compiled(entries, index)
        ask(entries, index)

    assert entries.tolist() == [0, 1, 2, 3]
    (code,) = compiled.inspect_llvm().values()
    assert "call void @llvm.prefetch" in code  # not an empty body, which would pass the above
