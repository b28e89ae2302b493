"""What becomes of one input, stage by stage: for explaining where two engines part."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from impls.kernels.merge_tables import EMPTY
from impls.spm.lexicon import make_lexicon
from impls.spm.merge_kernel import (
    COLUMNS,
    NEXT,
    START,
    SYMBOL,
    USED,
    fill,
    merge,
    resegment,
)
from impls.spm.normalization import make_normalize
from impls.spm.partition import NO_TOKEN, Fragment, Symbol, partition, separate_symbols
from impls.spm.text_kernel import encode_texts, offers_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary
    from impls.spm.lexicon import Lexicon
    from impls.spm.normalization import Normalize
    from impls.spm.variants import Variant


@dataclass(frozen=True, slots=True)
class Stages:
    """The stages of one input.

    normalized: the text after normalization; symbols that were cut out stand in it as they are.
    symbols: the texts at which merging begins: characters, and symbols that never merge.
    merged: the texts after merging. resegmented: after UNUSED pieces were split again.
    ids: the result; more than ``resegmented`` where characters fall back to bytes, fewer where
    neighbouring unknown ones are one; None if a byte has no id.

    Each of the three lists spells ``normalized``.
    """

    normalized: bytes
    symbols: tuple[bytes, ...]
    merged: tuple[bytes, ...]
    resegmented: tuple[bytes, ...]
    ids: tuple[int, ...] | None


def stages(
    vocabulary: Vocabulary, variant: Variant, data: bytes, *, special: bool = False
) -> Stages:
    """The stages of ``data``, by the functions of the encoders. Raises VocabularyError as they do.

    special: control tokens are read from the text, where the variant does that.
    """
    lexicon, normalize, symbols = _prepared(vocabulary, variant, special)
    fragments = partition(symbols, data) if symbols else [Fragment(len(data), NO_TOKEN, True)]
    whole: list[bytes] = []
    lists: tuple[list[bytes], list[bytes], list[bytes]] = ([], [], [])
    ids: list[int] | None = []
    start = 0
    for part in fragments if data else []:
        raw = data[start : part.end]
        start = part.end
        if part.token != NO_TOKEN:
            for texts in (whole, *lists):
                texts.append(raw)
            if ids is not None:
                ids.append(part.token)
            continue
        text, ends = normalize(raw, np.array([len(raw)]), np.array([part.spaced]))
        text.flags.writeable = False
        whole.append(text.tobytes())
        for texts, found in zip(lists, part_lists(lexicon, text), strict=True):
            texts += found
        encoded, lost = encode_texts(
            lexicon, text, ends, np.empty(0, np.int64), np.empty(1, np.int64)
        )
        ids = None if ids is None or lost != EMPTY else [*ids, *encoded.tolist()]
    begun, merged, resegmented = map(tuple, lists)
    return Stages(b"".join(whole), begun, merged, resegmented, None if ids is None else tuple(ids))


@lru_cache(maxsize=8)
def _prepared(
    vocabulary: Vocabulary, variant: Variant, special: bool
) -> tuple[Lexicon, Normalize, list[Symbol]]:
    """What the stages of any text need."""
    return (
        _lexicon(vocabulary, variant),
        make_normalize(vocabulary, variant),
        separate_symbols(vocabulary, variant)[special],
    )


@lru_cache(maxsize=8)
def _lexicon(vocabulary: Vocabulary, variant: Variant) -> Lexicon:
    """The tables, which take long; those of both ways to read special tokens are one."""
    return make_lexicon(vocabulary, variant)


def part_lists(
    lexicon: Lexicon, text: NDArray[np.uint8]
) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """The symbols of a normalized text before merging, after, and after resegmentation."""
    size = len(text)
    offers = offers_of(lexicon.unused)
    work = np.empty((size + 1, COLUMNS), dtype=np.int32)
    count, _ = fill(
        lexicon.characters, lexicon.frozen, lexicon.frozen_ids, lexicon.longest_frozen,
        lexicon.pairs, lexicon.sides, offers, text, 0, size, work,
    )  # fmt: skip
    if count == 0:
        return [], [], []
    starts = work[:count, START].tolist()
    # The whole text as one segment: cutting it changes nothing but the speed.
    merge(lexicon.pairs, offers, work, np.empty(3 * count, dtype=np.int64), count)
    stack = np.empty((lexicon.depth + 3, 3), dtype=np.int64)
    parts = np.empty((count, 3), dtype=np.int64)
    merged = []
    resegmented = []
    here = 0
    while here != EMPTY:
        symbol = int(work[here, SYMBOL])
        merged.append(here)
        if len(offers) and symbol >= 0 and offers[symbol, 0] != USED:
            rows = resegment(lexicon.lengths, offers, lexicon.depth, symbol, here, stack, parts)
            resegmented += parts[:rows, 1].tolist()
        else:
            resegmented.append(here)
        here = int(work[here, NEXT])
    content = text.tobytes()

    def cut(positions: list[int]) -> list[bytes]:
        begins = [starts[position] for position in positions]
        return [content[i:j] for i, j in zip(begins, [*begins[1:], size], strict=True)]

    return cut(list(range(count))), cut(merged), cut(resegmented)
