"""Marks by character against the walk of the charsmap that they spare."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.vocabularies.sources import resolve
from impls.fast.unigram.marks import FOLLOWS, GOES_ON, marks_of, pass_characters
from impls.unigram.charsmap import load_charsmap
from impls.unigram.normalizer import VERBATIM, prefix
from impls.unigram.trie import double_array
from tests.breadth import thorough_from
from tests.impls.test_unigram_normalizer import charsmap_of

CHARACTERS = [*"aéи߿かはが한𝄞", "\u0306", "\u3099", "\u309a", "\uffff", "\u0800"]
TEXTS = st.text(st.sampled_from(CHARACTERS), max_size=6).map(str.encode)
CODES = [0x61, 0xC0, 0xC3, 0xE0, 0xE3, 0xED, 0x81, 0x82, 0x99, 0xA9, 0xF0]
BYTES = st.lists(st.sampled_from(CODES))
INPUTS = TEXTS | st.builds(bytes, BYTES) | st.builds(bytes.__add__, TEXTS, st.builds(bytes, BYTES))


def stays(marks, data, position, end):
    """Whether the character at a position passes, before the one after it."""
    room = np.zeros(len(data) + 3, dtype=np.uint8)
    stop, size = pass_characters(marks, data, position, min(end, position + 6), room, 0)
    assert room[:size].tolist() == data[position:stop].tolist()
    return stop > position


def passes_as_one_by_one(marks, data):
    """Whether a run is passed as its characters are where no word can be read at once."""
    room = np.zeros(len(data) + 16, dtype=np.uint8)
    for position in range(len(data)):
        stop, size = pass_characters(marks, data, position, len(data), room, 0)
        assert room[:size].tolist() == data[position:stop].tolist()
        single = position
        while single < len(data) and stays(marks, data, single, len(data)):
            single += 2 if data[single] < 0xE0 else 3
        assert stop == single


def agree(charsmap, symbols, data):
    """Wherever the marks say that a character stays, the walk finds nothing either."""
    units = load_charsmap("test", charsmap).units
    marks, array = marks_of(units, symbols), double_array(dict.fromkeys(symbols, 0))[0]
    codes = np.frombuffer(data, dtype=np.uint8)
    passes_as_one_by_one(marks, codes)
    for position in range(len(data)):
        if stays(marks, codes, position, len(data)):
            walked = prefix(units, array, codes, position, len(data), False)
            assert walked == (2 if codes[position] < 0xE0 else 3, VERBATIM, position)


@given(
    st.sets(INPUTS.filter(lambda key: 0 < len(key) < 10), max_size=6),
    st.sets(TEXTS.filter(bool), max_size=2),
    st.lists(INPUTS, max_size=4).map(b"".join),
)
def test_what_is_said_to_stay_stays(keys, symbols, data):
    agree(charsmap_of(keys), symbols, data)
    for key in [*keys, *symbols]:
        agree(charsmap_of(keys), symbols, data + key + data)


def test_marks_tell_what_stays():
    """They would be lawful, and useless, if they marked everything."""
    marks = marks_of(load_charsmap("test", charsmap_of(["か\u3099".encode()])).units, [])
    assert {
        hex(point): int(marks[point]) for point in np.flatnonzero(marks & (GOES_ON | FOLLOWS))
    } == {
        hex(ord("か")): GOES_ON,
        "0x3099": FOLLOWS,
    }
    data = np.frombuffer("かは".encode(), dtype=np.uint8)
    assert stays(marks, data, 0, len(data))


@pytest.mark.parametrize(
    "after",
    thorough_from(2, ["\u3099", "は", "\u0301", "\u0306", "и", "\u11a8", "aか", "か\u3099"]),
)
def test_a_real_charsmap_with_every_character(after):
    """nmt_nfkc: each character of two or three bytes, before ones that compose and others."""
    normalizer = resolve("unigram_nfkc").normalizer
    units = load_charsmap("test", normalizer.charsmap).units
    marks, nothing = marks_of(units, []), np.empty(0, dtype=np.int32)
    points = [*range(0x80, 0xD800), *range(0xE000, 0x10000)]
    codes = np.frombuffer("".join(chr(point) + after for point in points).encode(), dtype=np.uint8)
    staying = 0
    for position in np.flatnonzero(codes & 0xC0 != 0x80).tolist():
        if stays(marks, codes, position, len(codes)):
            walked = prefix(units, nothing, codes, position, len(codes), False)
            assert walked == (2 if codes[position] < 0xE0 else 3, VERBATIM, position)
            staying += 1
    assert staying > len(points) // 2
