"""What is told of eight bytes at once, against looking at one after another."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from impls.compiled.jit import njit
from impls.fast.kernels.eight_bytes import WORD, copy_word, small_letters, word_at

SOME = [*b"`az{AZ \x00\x01\x7f", 0x80, 0x81, 0xE1, 0xE2, 0xE3, 0xFF]
EIGHT = st.lists(st.sampled_from(SOME) | st.integers(0, 255), min_size=WORD, max_size=WORD)
LETTERS = st.lists(st.sampled_from(b"abyz"), min_size=WORD, max_size=WORD)


@njit
def told(data):
    return small_letters(word_at(data, 0))


@given(EIGHT | LETTERS)
def test_eight_bytes_at_once(codes):
    data = np.array(codes, dtype=np.uint8)
    assert told(data) == all(ord("a") <= code <= ord("z") for code in codes)


@given(EIGHT)
def test_eight_bytes_are_copied(codes):
    source, target = np.array([7, *codes], dtype=np.uint8), np.zeros(WORD + 3, dtype=np.uint8)
    copied(source, target)
    assert target.tolist() == [0, 0, *codes, 0]


@njit
def copied(source, target):
    copy_word(source, 1, target, 2)
