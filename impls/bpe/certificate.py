"""Whether given ids are the encoding of a text, in one pass over them and without encoding. O(n).

**Theorem.** Ids that spell a pre-token are its encoding if and only if merges build each of them
and each pair of neighbours is valid (:mod:`impls.bpe.pair_validity`). *Proof.* Any part of an
encoding is the encoding of its own text (property 2 of docs/algorithms.md), so tokens encode to
themselves and neighbours are valid. The other way round, encodings that share a token may be glued
together at it (property 4): a first pair that is valid is an encoding, and each further valid pair
makes it longer by a token. As a text has one encoding, it is this one. The properties need tokens
in order of age; pre-tokens that spell a token out of order (:mod:`impls.bpe.tokens`) are left to
the definition. For a whole text the pre-tokens are added: no id crosses the end of one.

A pre-token that is one id needs no pair: a built token encodes to itself, and with
``ignore_merges`` a token that is a pre-token is emitted whatever merges say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from impls.bpe.out_of_order import spells_a_token
from impls.bpe.pair_validity import valid_pair
from impls.bpe.pieces import Wholes, whole_id, wholes_of
from impls.bpe.tokens import tokens_of
from impls.compiled.lazy import njit
from impls.kernels.layout import EMPTY, PLACE, Bytes, Ints, Longs
from impls.kernels.merge_tables import pair_hash

if TYPE_CHECKING:
    from corpora.vocabularies.model import Vocabulary

RIGHT, UNKNOWN, SPELLS_OTHERWISE, CROSSES, NEVER_BUILT = range(5)
MERGES, WHOLE, SPECIAL, ENDS, LEFT_OPEN = range(5, 10)
"""What is found of a row of ids.

They are the encoding; an id has no bytes; spells other bytes than the text has; crosses the end of
a pre-token; is built by no merges; would have merged with the id before it; stands in a pre-token
that is emitted whole as another id; stands where the text has another special token; the ids end
before the text does; the definition must decide."""

CODE, TOKEN, BYTE = 0, 1, 2
"""The columns of what is found: one of the above; the index of the id at fault in its row; the
place in the data at which the fault shows."""


START, STOP, AGE, ALONE = range(4)
"""The columns of what is known of an id."""

SEEN = 1 << 16
"""Pairs that are remembered: half a megabyte, which stays near the processor."""


class Tables(NamedTuple):
    """What is known of ids.

    rows: of each id START and STOP of its bytes in ``spelled``; AGE, which is its token as numbered
    by age, EMPTY where merges do not build it; and ALONE, whether it is the encoding of a pre-token
    that it spells. pairs, splits, out_of_order: of
    :class:`impls.bpe.tokens.Tokens`. wholes: see :mod:`impls.bpe.pieces`. seen: pairs that were
    found valid, each in the one slot that it has; most pairs of a text are among them.
    """

    rows: Ints
    spelled: Bytes
    pairs: Ints
    splits: Ints
    out_of_order: Ints
    wholes: Wholes
    seen: Longs


def tables_of(vocabulary: Vocabulary) -> Tables:
    """The tables of a byte-level vocabulary."""
    tokens = tokens_of(vocabulary)
    stops = np.cumsum([len(token or b"") for token in vocabulary.tokens])
    rows = np.full((len(stops), 4), EMPTY, dtype=np.int32)
    rows[1:, START], rows[:1, START], rows[:, STOP] = stops[:-1], 0, stops
    rows[tokens.ids, AGE] = np.arange(len(tokens.ids))
    rows[:, ALONE] = rows[:, AGE] != EMPTY
    unbuilt = []  # the pre-tokens of which merges would make other ids
    if vocabulary.ignore_merges:
        canonical = [*vocabulary.ids.values()]
        unbuilt = [one for one in canonical if rows[one, AGE] == EMPTY]
        rows[canonical, ALONE] = True
    return Tables(
        rows,
        np.frombuffer(b"".join(token or b"" for token in vocabulary.tokens), dtype=np.uint8),
        tokens.pairs,
        tokens.splits,
        tokens.out_of_order,
        wholes_of(vocabulary, unbuilt),
        np.full(SEEN, EMPTY, dtype=np.int64),
    )


@njit
def certify(
    tables: Tables,
    data: Bytes,
    ends: Longs,
    given: Longs,
    counts: Longs,
    ids: Longs,
    bounds: Longs,
    found: Longs,
) -> None:
    """Fill ``found`` with a row (CODE, TOKEN, BYTE) for each row of ids.

    data, ends, given, counts: as in :class:`impls.pretokenize.pieces.Pieces`. bounds: two a row,
    where its ids begin and end in ``ids``.
    """
    rows, spelled, seen = tables.rows, tables.spelled, tables.seen
    piece = start = 0
    for row in range(len(counts)):
        after = int(counts[row])
        row_end = int(ends[after - 1]) if after > piece else start
        at = start  # up to where the ids of the row spell the text
        code = RIGHT
        left = EMPTY  # the token before this one, in the same pre-token
        index = first = int(bounds[row, 0])
        while index < bounds[row, 1]:
            while piece < after and ends[piece] == start:  # pre-tokens that are spelled, or empty
                piece += 1
            token_id = int(ids[index])
            if len(given) > 0 and piece < after and given[piece] != EMPTY:
                if token_id != given[piece]:
                    code = SPECIAL
                    break
                start = at = int(ends[piece])
                index += 1
                continue
            if token_id < 0 or token_id >= len(rows):
                code = UNKNOWN
                break
            begin, stop = int(rows[token_id, START]), int(rows[token_id, STOP])
            if begin == stop:
                code = UNKNOWN
                break
            stop = min(stop - begin, row_end - at)
            same = 0
            while same < stop and spelled[(begin + same) & PLACE] == data[(at + same) & PLACE]:
                same += 1
            at += same
            if begin + same < rows[token_id, STOP]:
                code = SPELLS_OTHERWISE
                break
            end = int(ends[piece])
            if at > end:
                at = end
                code = CROSSES
                break
            age = int(rows[token_id, AGE])
            alone = left == EMPTY and at == end and rows[token_id, ALONE] != 0
            if left == EMPTY and not alone:
                whole = whole_id(tables.wholes, data[start:end])
                if whole != EMPTY:
                    code = WHOLE
                    break
                if len(tables.out_of_order) > 0 and spells_a_token(
                    tables.out_of_order, data[start:end]
                ):
                    code = LEFT_OPEN
                    break
            if not alone and age == EMPTY:
                code = NEVER_BUILT
                break
            if left != EMPTY:
                pair = left << 32 | age
                slot = pair_hash(left, age) & (SEEN - 1)
                if seen[slot] != pair:
                    if not valid_pair(tables.pairs, tables.splits, left, age):
                        code = MERGES
                        break
                    seen[slot] = pair
            left = age
            if at == end:
                left = EMPTY
                start = end
            index += 1
        if code == RIGHT and at < row_end:
            code = ENDS
        found[row, CODE], found[row, TOKEN], found[row, BYTE] = code, index - first, at
        piece, start = after, row_end
