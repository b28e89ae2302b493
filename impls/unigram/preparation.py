"""What is segmented: inputs normalized, and parted into segments that are encoded by themselves.

One compiled function for each way of normalizing. All give the texts of the inputs one after
another; the segments, as rows of where one ends in the text and the id that stands there without a
segmentation (NOWHERE for text); and how many segments there are up to the end of each input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.jit import njit
from impls.kernels.eight_bytes import place_of_byte, word_at
from impls.kernels.many_bytes import LOADED
from impls.unigram.normalizer import SPACE_SYMBOL, normalize
from impls.unigram.normalizer_hugging_face import normalize_hugging_face
from impls.unigram.normalizer_llama_cpp import normalize_llama_cpp
from impls.unigram.splitting import split
from impls.unigram.trie import NOWHERE
from impls.unigram.variants import Normalization

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from impls.unigram.lexicon import Lexicon
    from impls.unigram.normalizer import Rules

SYMBOL = SPACE_SYMBOL[2] << 16 | SPACE_SYMBOL[1] << 8 | SPACE_SYMBOL[0]
"""The bytes of U+2581, in one number, the first one lowest."""

SPARE = LOADED
"""Bytes behind the text, so that whoever reads many at a time may do so to its end."""


def prepare(
    lexicon: Lexicon, data: NDArray[np.uint8], ends: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
    """Text, segments and segment ends of the inputs ``data[ends[i - 1]:ends[i]]``.

    Behind the text are SPARE bytes more, which mean nothing.
    """
    segment_ends = np.empty(len(ends), dtype=np.int64)
    rules, symbols = lexicon.rules, lexicon.symbols
    text = np.empty((len(data) + len(ends)) * rules.growth + SPARE, dtype=np.uint8)
    if lexicon.normalization is Normalization.SENTENCEPIECE:
        segments, size = _sentencepiece(rules, data, ends, text, segment_ends)
        return text[: size + SPARE], segments, segment_ends
    split_by = (
        symbols.trie, symbols.ids, symbols.lengths, symbols.begins, int(symbols.splitting)
    )  # fmt: skip
    if lexicon.normalization is Normalization.LLAMA_CPP:
        segments, size = _llama_cpp(rules, *split_by, data, ends, text, segment_ends)
    else:
        longest = int(np.diff(ends, prepend=0).max(initial=0))
        mapped = np.empty((longest + 1) * rules.growth + SPARE, dtype=np.uint8)
        segments, size = _hugging_face(
            rules, *split_by, lexicon.classes, data, ends, mapped, text, segment_ends
        )
    return text[: size + SPARE], segments, segment_ends


@njit
def _sentencepiece(
    rules: Rules,
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    text: NDArray[np.uint8],
    segment_ends: NDArray[np.int64],
) -> tuple[NDArray[np.int64], int]:
    segments = np.empty((len(ends), 2), dtype=np.int64)
    start = size = 0
    for index in range(len(ends)):
        size += normalize(rules, data, start, ends[index], text[size:])
        segments[index, 0] = size
        segments[index, 1] = NOWHERE
        segment_ends[index] = index + 1
        start = ends[index]
    return segments, size


@njit
def _llama_cpp(
    rules: Rules,
    trie: NDArray[np.int32],
    ids: NDArray[np.int64],
    lengths: NDArray[np.int64],
    begins: NDArray[np.bool_],
    splitting: int,
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    text: NDArray[np.uint8],
    segment_ends: NDArray[np.int64],
) -> tuple[NDArray[np.int64], int]:
    segments = np.empty((len(ends), 2), dtype=np.int64)
    count = size = start = 0
    for index in range(len(ends)):
        sections = split(trie, ids, lengths, begins, splitting, data, start, ends[index])
        segments = _room(segments, count, len(sections))
        for number in range(len(sections)):
            stop, token = sections[number, 0], sections[number, 1]
            if token == NOWHERE:
                size = normalize_llama_cpp(rules, data, start, stop, text, size)
            segments[count, 0] = size
            segments[count, 1] = token
            count += 1
            start = stop
        segment_ends[index] = count
    return segments[:count], size


@njit
def _hugging_face(
    rules: Rules,
    trie: NDArray[np.int32],
    ids: NDArray[np.int64],
    lengths: NDArray[np.int64],
    begins: NDArray[np.bool_],
    splitting: int,
    classes: NDArray[np.uint8],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    mapped: NDArray[np.uint8],
    text: NDArray[np.uint8],
    segment_ends: NDArray[np.int64],
) -> tuple[NDArray[np.int64], int]:
    parted = rules.escape_whitespaces and rules.remove_extra_whitespaces
    segments = np.empty((len(ends), 2), dtype=np.int64)
    count = size = start = 0
    for index in range(len(ends)):
        sections = split(trie, ids, lengths, begins, splitting, data, start, ends[index])
        for number in range(len(sections)):
            stop, token = sections[number, 0], sections[number, 1]
            first = size
            if token == NOWHERE:
                size = normalize_hugging_face(rules, classes, data, start, stop, mapped, text, size)
            start = stop
            # Metaspace parts the text before each U+2581, which takes three bytes.
            segments = _room(segments, count, (size - first) // 3 + 2)
            if parted:
                begun = count
                i = first + 1 + place_of_byte(word_at(text, first + 1), SPACE_SYMBOL[0])
                while i + 2 < size:
                    # Written each time, and kept by adding one: nobody foresees where words end.
                    segments[count, 0] = i
                    count += int(word_at(text, i) & 0xFFFFFF == SYMBOL)
                    i += 1 + place_of_byte(word_at(text, i + 1), SPACE_SYMBOL[0])
                segments[begun:count, 1] = NOWHERE
            segments[count, 0] = size
            segments[count, 1] = token
            count += 1
        segment_ends[index] = count
    return segments[:count], size


@njit
def _room(segments: NDArray[np.int64], count: int, more: int) -> NDArray[np.int64]:
    """The rows, in a longer array if there is no room for ``more``."""
    if count + more <= len(segments):
        return segments
    longer = np.empty((2 * (count + more), 2), dtype=np.int64)
    longer[:count] = segments[:count]
    return longer
