"""Tokens by age, and the one split of each: what the linear algorithms know of the merges.

A symbol that ever stands over some bytes of a text got there as it would from those bytes alone,
for no merge crossed their ends, and merges elsewhere change nothing within. So a token that does
not encode to itself is never built, of several merges to one token only the last one of its own
encoding ever acts, and each token that can be built has exactly one split, its *derivation*. All
other merges may be dropped, whatever order the merges stand in.

The linear algorithms need one thing more: that a token is younger than both of its halves. Tokens
that are not, and those built from them, are *out of order*; a text that spells none of them is
encoded as if they were not there (:mod:`impls.bpe.out_of_order`). Llama 3 has them; proper
vocabularies have none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from impls.bpe.heap import NEXT, merge
from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, Bytes, Flags, Ints, Longs
from impls.kernels.merge_tables import Merges, hashed_pairs, merges_of
from impls.kernels.table_cache import arrays_of
from impls.kernels.trie import build_trie

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from corpora.vocabularies.model import Vocabulary

ROOMS = ("impls/bpe", "impls/kernels")
"""The folders of all modules that have a part in the making of the tables."""


class Tokens(NamedTuple):
    """Tokens are numbered by age: first those of single bytes (*base*), then in order of rank.

    base: the token of each byte, EMPTY for none, and last the number of them (257 entries). ids:
    the vocabulary's id of each token. splits: two a token, the tokens of its halves; a base token's
    are itself. lengths: bytes of each token. pairs: the hash of the merges
    (:func:`impls.kernels.merge_tables.pair_row`), whose ranks are ages. trie: of the tokens
    (:mod:`impls.kernels.trie`). prefixes: the next shorter token that each one begins with, EMPTY
    for none. out_of_order: a trie of the texts that only the definition encodes, empty for none.
    """

    base: Ints
    ids: Ints
    splits: Ints
    lengths: Ints
    pairs: Ints
    trie: Ints
    prefixes: Ints
    out_of_order: Ints


@njit
def _last_merges(merges: Merges, data: Bytes, ends: Longs, rows: Longs) -> None:
    """For each text the row of the merge that ends its encoding as one token, EMPTY for none."""
    start = 0
    for index in range(len(ends)):
        end = int(ends[index])
        rows[index] = EMPTY
        known = end - start > 1
        for position in range(start, end):
            known &= merges.byte_ids[data[position]] != EMPTY
        if known:
            links, row = merge(merges, data[start:end])
            if links[NEXT, 0] == EMPTY:
                rows[index] = row
        start = end


def derivations(vocabulary: Vocabulary) -> tuple[list[bytes], Longs]:
    """The texts of several bytes that merges make one token of, shorter ones first.

    Second: their last merges, in rows of (left id, right id, rank, id).
    """
    merges = merges_of(vocabulary)
    texts = sorted((text for text in vocabulary.ids if len(text) > 1), key=len)
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    rows = np.empty(len(texts), dtype=np.int64)
    _last_merges(merges, np.frombuffer(b"".join(texts), dtype=np.uint8), ends, rows)
    kept = np.flatnonzero(rows != EMPTY)
    found = merges.pairs.reshape(-1, 4)[rows[kept] >> 2].astype(np.int64)
    return [texts[index] for index in kept.tolist()], found


def improper_tokens(vocabulary: Vocabulary) -> list[int]:
    """Tokens of a byte-level vocabulary whose own encoding by merges is not the token itself.

    A token that holds a byte without an id is one of them. Of several ids with the same bytes
    only the lowest counts.
    """
    texts, found = derivations(vocabulary)
    reached = dict(zip(texts, found[:, 3].tolist(), strict=True))
    ids = vocabulary.ids.items()
    return [token_id for text, token_id in ids if len(text) != 1 and reached.get(text) != token_id]


@njit
def _mark_out_of_order(found: Longs, ranks: Longs, out_of_order: Flags) -> None:
    """Mark the ids whose rank is below that of a half, or that have such a half.

    found: rows (left id, right id, rank, id) with halves before wholes. ranks: by id, EMPTY for
    base tokens.
    """
    for index in range(len(found)):
        left, right = int(found[index, 0]), int(found[index, 1])
        rank, token = int(found[index, 2]), int(found[index, 3])
        out_of_order[token] = (
            out_of_order[left] or out_of_order[right] or rank < ranks[left] or rank < ranks[right]
        )


def ordered_merges(vocabulary: Vocabulary) -> tuple[Longs, list[bytes]]:
    """The last merges of the tokens in order, and the texts of those out of order."""
    texts, found = derivations(vocabulary)
    size = len(vocabulary.tokens)
    ranks = np.full(size, EMPTY, dtype=np.int64)
    ranks[found[:, 3]] = found[:, 2]
    out_of_order = np.zeros(size, dtype=np.bool_)
    _mark_out_of_order(found, ranks, out_of_order)
    late = out_of_order[found[:, 3]]
    return found[~late], [text for text, is_late in zip(texts, late, strict=True) if is_late]


def spellings_of(vocabulary: Vocabulary, ids: Ints) -> list[bytes]:
    """The bytes of each of ``ids``."""
    return [vocabulary.tokens[token_id] or b"" for token_id in ids.tolist()]


def tokens_of(vocabulary: Vocabulary) -> Tokens:
    """The tables of a byte-level vocabulary; those of a large one are kept on disk."""
    return Tokens(*arrays_of([vocabulary], "bpe", lambda: _tables(vocabulary), *ROOMS))


def _tables(vocabulary: Vocabulary) -> Sequence[NDArray[np.generic]]:
    """The arrays of :class:`Tokens`, in its order."""
    found, late_texts = ordered_merges(vocabulary)
    found = found[np.argsort(found[:, 2], kind="stable")]

    byte_ids = np.array([EMPTY if i is None else i for i in vocabulary.byte_ids], dtype=np.int32)
    present = np.flatnonzero(byte_ids != EMPTY)
    base = np.full(257, EMPTY, dtype=np.int32)
    base[present] = np.arange(len(present))
    base[256] = len(present)
    ids = np.concatenate((byte_ids[present], found[:, 3])).astype(np.int32)
    ages = np.full(len(vocabulary.tokens), EMPTY, dtype=np.int64)
    ages[ids] = numbers = np.arange(len(ids))
    halves = np.column_stack((numbers, numbers))
    halves[len(present) :] = ages[found[:, :2]]
    pairs = hashed_pairs(np.column_stack((halves, numbers, numbers))[len(present) :])

    spellings = spellings_of(vocabulary, ids)
    lengths = np.array([len(text) for text in spellings], dtype=np.int32)
    out_of_order = build_trie(late_texts)[0] if late_texts else np.empty(0, dtype=np.int32)
    splits = halves.astype(np.int32).ravel()
    return base, ids, splits, lengths, pairs, *build_trie(spellings), out_of_order
