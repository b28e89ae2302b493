"""Inputs to texts as SentencePiece makes them with its normalizer, many in one compiled call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces
from impls.compiled.jit import njit
from impls.unigram.normalizer import SPACE, Rules, make_rules, normalize, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.spm.variants import Variant

    Normalize = Callable[
        [bytes, NDArray[np.int64], NDArray[np.bool_]], tuple[NDArray[np.uint8], NDArray[np.int64]]
    ]
    """From the inputs ``data[ends[i - 1]:ends[i]]``, and whether each may have the vocabulary's
    dummy space (false for empty ones), to the normalized ones in one array, and their ends."""


@njit
def normalize_all(
    rules: Rules, data: NDArray[np.uint8], ends: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The inputs ``data[ends[i-1]:ends[i]]`` as SentencePiece normalizes them, and their ends."""
    out = np.empty(2 * len(data) + 16, dtype=np.uint8)
    out_ends = np.empty(len(ends), dtype=np.int64)
    at = 0
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        room = (end - start + 1) * rules.growth
        if at + room > len(out):
            more = np.empty(2 * (at + room), dtype=np.uint8)
            more[:at] = out[:at]
            out = more
        at = normalize(rules, data, start, end, out, at)
        out_ends[index] = at
        start = end
    return out[:at], out_ends


@njit
def escape_all(
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    escaping: bool,
    before: NDArray[np.bool_],
    after: NDArray[np.bool_],
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The inputs with a space put ``before`` and ``after`` each or not, and their ends.

    escaping: spaces become U+2581. All of llama.cpp's normalization for SPM, and of SentencePiece
    nearly always: without charsmap, user-defined symbols, removal of spaces and invalid UTF-8.
    """
    out = np.empty(3 * (len(data) + 2 * len(ends)), dtype=np.uint8)
    out_ends = np.empty(len(ends), dtype=np.int64)
    at = 0
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        first = start - 1 if before[index] else start
        last = end + 1 if after[index] else end
        for position in range(first, last):
            inside = start <= position < end
            at = put(out, at, int(data[position]) if inside else SPACE, escaping)
        out_ends[index] = at
        start = end
    return out[:at], out_ends


def is_plain(vocabulary: Vocabulary) -> bool:
    """Whether SentencePiece's normalizer does no more to valid UTF-8 than :func:`escape_all`."""
    spec = vocabulary.normalizer
    symbols = Pieces.of(vocabulary.pieces).of_types(PieceType.USER_DEFINED)
    return not (spec.charsmap or spec.remove_extra_whitespaces or symbols)


def are_valid(data: bytes, ends: NDArray[np.int64]) -> bool:
    """Whether all inputs are UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    inner = ends[ends < len(data)]
    # All of it is, so that only a cut inside a character spoils inputs.
    begins = np.frombuffer(data, dtype=np.uint8)[inner]
    return not ((begins & 0xC0) == 0x80).any()


def make_normalize(vocabulary: Vocabulary, variant: Variant) -> Normalize:
    """What a variant does to inputs. Raises VocabularyError for a bad charsmap."""
    spec = vocabulary.normalizer
    if variant.normalizes:
        rules, plain = make_rules(vocabulary), is_plain(vocabulary)
    prefix = spec.add_dummy_prefix and not (variant.normalizes and spec.treat_whitespace_as_suffix)
    suffix = spec.add_dummy_prefix and not prefix
    escaping = spec.escape_whitespaces or not variant.normalizes

    def apply(
        data: bytes, ends: NDArray[np.int64], spaced: NDArray[np.bool_]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        inputs = np.frombuffer(data, dtype=np.uint8)
        if variant.normalizes and not (plain and are_valid(data, ends)):
            return normalize_all(rules, inputs, ends)
        return escape_all(inputs, ends, escaping, spaced & prefix, spaced & suffix)

    return apply
