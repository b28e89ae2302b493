"""Cutting symbols out of a text before anything else happens to it, as two engines do it.

llama.cpp (``tokenizer_st_partition`` in ``src/llama-vocab.cpp``) looks for each symbol in turn, the
longest first, in what is still text, from the left. Of texts of one length the lower id comes
first, as in llama.cpp where it has at most 16 special tokens: with more, its unstable sort decides.
tokenizers finds symbols from the left, of those that begin at one place the longest
(:mod:`impls.pretokenize.special_tokens`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corpora.vocabularies.model import PieceType
from corpora.vocabularies.pieces import Pieces
from impls.unigram.variants import Splitting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from corpora.vocabularies.model import Vocabulary
    from impls.kernels.layout import Longs

    Part = tuple[int, int, int]
    """Where a part of a text begins and ends, and the id of the symbol that it is, or NOWHERE."""
    Cut = Callable[[bytes, Longs], tuple[Longs, Longs, Longs]]
    """From the inputs ``data[ends[i - 1]:ends[i]]`` to parts: where each ends, its id (NOWHERE
    for text), and how many there are up to the end of each input."""


NOWHERE = -1
"""No id, as in :mod:`impls.unigram.trie`: here without Numba, which listing names needs none of."""


def cutter(vocabulary: Vocabulary, splitting: Splitting) -> Cut:
    """What cuts the symbols of a vocabulary out of inputs."""
    if splitting is Splitting.LEFTMOST_LONGEST:
        return leftmost_longest(_added(vocabulary))
    if splitting is Splitting.LONGEST_FIRST:
        pieces = Pieces.of(vocabulary.pieces)
        return longest_first(
            {pieces[i].text.encode(): i for i in pieces.of_types(PieceType.USER_DEFINED)}
        )
    return whole


def whole(data: bytes, ends: Longs) -> tuple[Longs, Longs, Longs]:
    """Cut nothing out: each input is one part."""
    del data
    return ends, np.full(len(ends), NOWHERE), np.arange(1, len(ends) + 1)


def longest_first(symbols: Mapping[bytes, int]) -> Cut:
    """llama.cpp's way with these symbols, those of one length in this order."""
    ordered = sorted(filter(None, symbols), key=len, reverse=True)
    if not ordered:
        return whole

    def cut(data: bytes, ends: Longs) -> tuple[Longs, Longs, Longs]:
        found: list[Part] = []
        counts = []
        start = 0
        for end in ends.tolist():
            parts = [(start, end, NOWHERE)] if start < end else []
            for text in ordered:
                if data.find(text, start, end) >= 0:
                    parts = [
                        one for part in parts for one in _cut(text, symbols[text], data, *part)
                    ]
            found += parts
            counts.append(len(found))
            start = end
        rows = np.array(found, dtype=np.int64).reshape(-1, 3)
        return rows[:, 1].copy(), rows[:, 2].copy(), np.array(counts, dtype=np.int64)

    return cut


def _cut(text: bytes, token: int, data: bytes, start: int, end: int, given: int) -> Iterator[Part]:
    while given == NOWHERE and (found := data.find(text, start, end)) >= 0:
        if found > start:
            yield start, found, NOWHERE
        start = found + len(text)
        yield found, start, token
    if start < end:
        yield start, end, given


def leftmost_longest(symbols: Mapping[bytes, int | None]) -> Cut:
    """tokenizers' way. The text of a symbol whose id is None stays, and hides what begins in it."""
    from impls.pretokenize.special_tokens import SpecialTexts  # noqa: PLC0415 - Numba

    texts = SpecialTexts(symbols)
    if not texts:
        return whole
    return lambda data, ends: texts.cut_out(np.frombuffer(data, dtype=np.uint8), ends)


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
