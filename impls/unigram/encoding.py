"""From inputs to ids, by a vocabulary's tables: preparation, then Viterbi's algorithm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from impls.unigram.preparation import prepare
from impls.unigram.viterbi_kernel import encode_segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from impls.unigram.lexicon import Lexicon


class Encode(Protocol):
    """A vocabulary's encoder of many inputs."""

    def __call__(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The ids of the inputs ``data[ends[i - 1]:ends[i]]``, and where each input's ids end."""
        ...


def encode(
    lexicon: Lexicon, data: NDArray[np.uint8], ends: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The ids of the inputs ``data[ends[i - 1]:ends[i]]``, and where each input's ids end."""
    text, segments, segment_ends = prepare(lexicon, data, ends)
    id_ends = np.empty(len(ends), dtype=np.int64)
    ids = encode_segments(
        lexicon.trie,
        lexicon.ids,
        lexicon.scores,
        lexicon.unknown_scores,
        lexicon.sums,
        lexicon.unknown_id,
        lexicon.byte_ids,
        int(lexicon.fallback),
        lexicon.rebase_above,
        lexicon.unreached,
        lexicon.unreached_start,
        text,
        segments,
        segment_ends,
        id_ends,
    )
    return ids, id_ends
