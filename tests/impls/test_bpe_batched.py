"""Short pieces in batches, long ones by themselves, and the known ones between them."""

import random

import numpy as np
import pytest

from impls.bpe import heap
from impls.bpe.encoder import SPARE
from impls.fast.bpe.backtracking_kernel import BLOCK
from impls.fast.bpe.batched_backtracking import LONGEST_BATCHED
from impls.fast.bpe.implementations import encoder_of
from impls.kernels.layout import EMPTY
from tests.impls.bpe_vocabularies import random_text, random_vocabulary, vocabulary


def run(encoder_of, drawn, pieces, given=()):
    """The ids and where those of each piece end; or the number that says what has no token."""
    data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
    ids = np.empty(len(data) + SPARE, dtype=np.int32)
    id_ends = np.empty(len(ends), dtype=np.int64)
    count = encoder_of(drawn)(data, ends, np.array(given, np.int64), ids, id_ends)
    return count if count < 0 else (ids[:count].tolist(), id_ends.tolist())


@pytest.mark.parametrize("seed", range(20))
def test_pieces_of_all_lengths_in_any_order_are_encoded_as_by_the_definition(seed):
    rng = random.Random(seed)
    letters, drawn = random_vocabulary(rng)
    longest = LONGEST_BATCHED
    lengths = [0, 1, 2, 3, 5, 8, 20, longest - 1, longest, longest + 1, 3 * longest]
    pieces = [
        random_text(rng, letters, 4 * longest)[: rng.choice(lengths)]
        for _ in range(rng.choice([1, 7, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 9]))
    ]
    given = [rng.choice([EMPTY, EMPTY, 7777]) if piece else EMPTY for piece in pieces]

    for chosen in ((), given):
        expected = run(heap.encoder_of, drawn, pieces, chosen)
        assert run(encoder_of, drawn, pieces, chosen) == expected


@pytest.mark.parametrize("length", [1, 5, LONGEST_BATCHED, LONGEST_BATCHED + 1, 500])
@pytest.mark.parametrize("others", [(), (b"c",), (b"c" * 300,), (b"cab", b"c" * 99, b"ab" * 40)])
def test_the_first_byte_without_a_token_is_named(length, others):
    """Whatever comes after it, beside it or by itself, and in the blocks that follow."""
    drawn = vocabulary([b"a", b"b", b"ab"])
    fine = [b"abba", b"b" * 200, b"ab"]
    faulty = b"ab" * length
    faulty = faulty[: length - 1] + b"c"
    pieces = [*fine, faulty, *fine, *others, *fine * BLOCK, b"c"]

    assert run(encoder_of, drawn, pieces) == -1 - (len(b"".join(fine)) + length - 1)


def test_dead_positions_of_one_piece_are_not_those_of_another():
    """The second piece's first token ends where the first one's must not."""
    drawn = vocabulary([b"a", b"b", b"c", b"bc", b"ab", b"abc"[1:] + b"a"])
    pieces = [b"abc", b"aba", b"abca", b"bcab"] * 50

    assert run(encoder_of, drawn, pieces) == run(heap.encoder_of, drawn, pieces)
