"""Cutting symbols out of a text before anything else happens to it, as two engines do it.

llama.cpp (``tokenizer_st_partition`` in ``src/llama-vocab.cpp``) looks for each symbol in turn, the
longest first, in what is still text, from the left. Of texts of one length the lower id comes
first, as in llama.cpp where it has at most 16 special tokens: with more, its unstable sort decides.
tokenizers finds symbols from the left, of those that begin at one place the longest.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces
from impls.unigram.variants import Splitting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

    Section = tuple[int, int]
    """Where a part of a text ends, and the id of the symbol that it is, NOWHERE for text."""
    Split = Callable[[bytes], Iterable[Section]]
    """The sections of a text, in order; none is empty."""


NOWHERE = -1
"""No id, as in :mod:`impls.unigram.trie`: here without Numba, which listing names needs none of."""


def splitter(vocabulary: Vocabulary, splitting: Splitting) -> Split | None:
    """What cuts the symbols of a vocabulary out of a text; None where nothing is cut out."""
    if splitting is Splitting.LEFTMOST_LONGEST:
        added = _added(vocabulary)
        return leftmost_longest(added) if any(one is not None for one in added.values()) else None
    if splitting is Splitting.LONGEST_FIRST:
        pieces = Pieces.of(vocabulary.pieces)
        symbols = {pieces[i].text.encode(): i for i in pieces.of_types(PieceType.USER_DEFINED)}
        return longest_first(symbols) if any(symbols) else None
    return None


def longest_first(symbols: Mapping[bytes, int]) -> Split:
    """llama.cpp's way with these symbols, those of one length in this order."""
    ordered = sorted(filter(None, symbols), key=len, reverse=True)

    def split(data: bytes) -> list[Section]:
        parts = [(0, len(data), NOWHERE)] if data else []
        for text in ordered:
            if text in data:
                parts = [one for part in parts for one in _cut(text, symbols[text], data, *part)]
        return [(end, token) for _, end, token in parts]

    return split


def _cut(
    text: bytes, token: int, data: bytes, start: int, end: int, given: int
) -> Iterator[tuple[int, int, int]]:
    while given == NOWHERE and (found := data.find(text, start, end)) >= 0:
        if found > start:
            yield start, found, NOWHERE
        start = found + len(text)
        yield found, start, token
    if start < end:
        yield start, end, given


def leftmost_longest(symbols: Mapping[bytes, int | None]) -> Split:
    """tokenizers' way. The text of a symbol whose id is None stays, and hides what begins in it."""
    ordered = sorted(filter(None, symbols), key=len, reverse=True)
    found = re.compile(b"|".join(map(re.escape, ordered)) or b"(?!)")

    def split(data: bytes) -> Iterator[Section]:
        start = 0
        for match in found.finditer(data):
            token = symbols[match.group()]
            if token is not None:
                if start < match.start():
                    yield match.start(), NOWHERE
                start = match.end()
                yield start, token
        if start < len(data):
            yield len(data), NOWHERE

    return split


def _added(vocabulary: Vocabulary) -> dict[bytes, int | None]:
    """The added tokens of the tokenizer.json that is written from the vocabulary.

    Its own, else special tokens and user-defined symbols. The text of a special one stays.
    """
    if vocabulary.added_tokens:
        return {t.text.encode(): None if t.special else t.id for t in vocabulary.added_tokens}
    found: dict[bytes, int | None] = dict.fromkeys(map(str.encode, vocabulary.special_tokens))
    pieces = Pieces.of(vocabulary.pieces)
    symbols = pieces.of_types(PieceType.USER_DEFINED)
    if symbols:
        spelled = pieces.spelled
        ids = dict(zip(spelled, range(len(spelled)), strict=True))  # the last of namesakes
        for i in symbols:
            found.setdefault(spelled[i], ids[spelled[i]])
    return found


def sections(
    split: Split | None, data: bytes, ends: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The sections of the inputs ``data[ends[i - 1]:ends[i]]``: where each ends, and its id.

    Also how many sections there are up to the end of each input.
    """
    if split is None:
        return ends, np.full(len(ends), NOWHERE), np.arange(1, len(ends) + 1)
    found: list[Section] = []
    counts = []
    start = 0
    for end in ends.tolist():
        found += [(start + stop, token) for stop, token in split(data[start:end])]
        counts.append(len(found))
        start = end
    rows = np.array(found, dtype=np.int64).reshape(-1, 2)
    return rows[:, 0].copy(), rows[:, 1].copy(), np.array(counts, dtype=np.int64)
