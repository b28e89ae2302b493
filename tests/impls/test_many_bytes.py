"""What is told of many bytes at once, against looking at one after another."""

import random

import numpy as np
import pytest

from impls.compiled.jit import njit
from impls.fast.kernels.many_bytes import LOADED, WINDOW, ascii_or, leads_and_others

SOME = [0, 0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xDF, 0xE0, 0xE2, 0xE3, 0xEF, 0xF0, 0xF4, 0xFF]


@njit
def told(data, at, byte):
    leads, others = leads_and_others(data, at, byte)
    return ascii_or(data, at, byte), leads, others


def bits(flags):
    return sum(1 << place for place, flag in enumerate(flags) if flag)


@pytest.mark.parametrize("seed", range(6))
def test_many_bytes_at_once(seed):
    rng = random.Random(f"many {seed}")
    codes = [rng.choice(SOME) if rng.random() < 0.7 else rng.randrange(256) for _ in range(200)]
    data = np.array(codes, dtype=np.uint8)
    for at in range(len(codes) - LOADED):
        byte = rng.choice(SOME)
        window = codes[at : at + WINDOW]
        assert told(data, at, byte) == (
            bits(code < 0x80 or code == byte for code in window),
            bits(byte <= code < 0xF0 for code in window),
            bits(0x80 <= code < 0xC0 for code in window),
        )
