"""Tokens by age, and the one split of each: what the linear encoders know of the merges.

A symbol that ever stands over some bytes of a text got there as it would from those bytes alone,
for no merge crossed their ends, and merges elsewhere change nothing within. So a token that does
not encode to itself is never built, of several merges to one token only the last one of its own
encoding ever acts, and each token that can be built has exactly one split, its *derivation*. All
other merges may be dropped, whatever order the merges stand in.

The linear encoders need one thing more: that a token is younger than both of its halves. Tokens
that are not, and those built from them, are *out of order*; a text that spells none of them is
encoded as if they were not there. (Llama 3 has them; proper vocabularies have none.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from impls.bpe.definition.heap_kernel import merge
from impls.compiled.jit import njit
from impls.kernels.layout import (
    BASE_TOKENS,
    BYTE_IDS,
    EMPTY,
    IDS,
    LENGTHS,
    PAIRS,
    SPLITS,
)
from impls.kernels.merge_tables import longest_piece

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary


@njit
def _derive(
    byte_ids: NDArray[np.int32],
    pairs: NDArray[np.int32],
    data: NDArray[np.uint8],
    ends: NDArray[np.int64],
    rows: NDArray[np.int64],
) -> None:
    """For each spelling, shortest first, the row of the merge that ends its encoding as one token.

    rows: EMPTY for a single byte and for what does not become one token.
    """
    longest = longest_piece(ends)
    links = np.empty((4, longest + 1), dtype=np.int64)
    heap = np.empty(3 * longest + 1, dtype=np.int64)
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        known = True
        for position in range(start, end):
            symbol = int(byte_ids[data[position]])
            known &= symbol != EMPTY
            links[0, position - start] = symbol
        rows[index] = EMPTY
        if known and end - start > 1:
            row = merge(pairs, links, heap, end - start)
            if links[1, 0] == EMPTY:
                rows[index] = row
        start = end


@njit
def _mark_out_of_order(
    found: NDArray[np.int64], ranks: NDArray[np.int64], out_of_order: NDArray[np.bool_]
) -> None:
    """Mark the ids whose rank is below that of a half, or that have such a half.

    found: rows (left id, right id, rank, id) with halves before wholes. ranks: by id, -1 for base
    tokens.
    """
    for index in range(len(found)):
        left, right = int(found[index, 0]), int(found[index, 1])
        rank, token = int(found[index, 2]), int(found[index, 3])
        out_of_order[token] = (
            out_of_order[left] or out_of_order[right] or rank < ranks[left] or rank < ranks[right]
        )


def derive(
    vocabulary: Vocabulary, merges: Mapping[int, NDArray[np.int32]]
) -> tuple[dict[int, NDArray[np.int32]], list[bytes]]:
    """BASE_TOKENS, IDS, SPLITS and LENGTHS; and the spellings of the tokens out of order.

    merges: the sections of :func:`impls.kernels.merge_tables.merge_tables`.
    """
    texts = sorted({t for t in vocabulary.tokens if t is not None and len(t) > 1}, key=len)
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    data = np.frombuffer(b"".join(texts), dtype=np.uint8)
    rows = np.empty(len(texts), dtype=np.int64)
    _derive(merges[BYTE_IDS], merges[PAIRS], data, ends, rows)
    kept = np.nonzero(rows != EMPTY)[0]
    found = merges[PAIRS].reshape(-1, 4)[rows[kept] >> 2].astype(np.int64)

    size = len(vocabulary.tokens)
    ranks = np.full(size, EMPTY, dtype=np.int64)
    ranks[found[:, 3]] = found[:, 2]
    out_of_order = np.zeros(size, dtype=np.bool_)
    _mark_out_of_order(found, ranks, out_of_order)

    is_out_of_order = out_of_order[found[:, 3]]
    out_of_order_texts = [texts[index] for index in kept[is_out_of_order].tolist()]
    found, kept = found[~is_out_of_order], kept[~is_out_of_order]
    lengths = np.array([len(texts[index]) for index in kept.tolist()], dtype=np.int32)
    order = np.argsort(found[:, 2], kind="stable")
    found, lengths = found[order], lengths[order]

    byte_ids = merges[BYTE_IDS]
    present = np.nonzero(byte_ids != EMPTY)[0]
    base_tokens = np.full(257, EMPTY, dtype=np.int32)
    base_tokens[present] = np.arange(len(present))
    base_tokens[256] = len(present)
    ids = np.concatenate((byte_ids[present], found[:, 3])).astype(np.int32)
    by_id = np.full(size, EMPTY, dtype=np.int64)
    by_id[ids] = np.arange(len(ids))
    own = np.arange(len(present), dtype=np.int64)
    halves = np.concatenate((np.stack((own, own), axis=1), by_id[found[:, :2]]))
    sections = {
        BASE_TOKENS: base_tokens,
        IDS: ids,
        SPLITS: halves.astype(np.int32).ravel(),
        LENGTHS: np.concatenate((np.ones(len(present), dtype=np.int32), lengths)),
    }
    return sections, out_of_order_texts
