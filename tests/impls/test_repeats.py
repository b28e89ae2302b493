"""What comes several times in a block is encoded once, and answered alike wherever it stands."""

import random

import numpy as np
import pytest

from impls.bpe import heap
from impls.bpe.encoder import NONE_GIVEN, SPARE
from impls.fast.bpe import backtracking_kernel
from impls.fast.bpe.piece_cache import new_cache
from impls.fast.bpe.repeats import SEEN, answer_repeats, set_aside
from impls.fast.bpe.words import LONGEST, UNKNOWN
from tests.impls.bpe_vocabularies import vocabulary


def set_aside_by_definition(keys, hashes, asked):
    """Those without a like before them that was the last with its hash, and pairs of the others."""
    last, kept, pairs = {}, [], []
    for index in asked:
        slot = hashes[index] % SEEN
        like = last.get(slot)
        if like is not None and hashes[index] != UNKNOWN and keys[like] == keys[index]:
            pairs.append((like, index))
        else:
            last[slot] = index
            kept.append(index)
    return kept, pairs


@pytest.mark.parametrize("seed", range(5))
def test_those_are_set_aside_that_have_the_key_of_one_before_them(seed):
    rng = random.Random(f"repeats {seed}")
    seen = np.zeros(SEEN, dtype=np.int64)
    earlier = 0
    for _ in range(5):
        count = rng.randint(1, 60)
        drawn = [(rng.randint(1, 4), rng.randint(1, 2)) for _ in range(count)]
        # Some hashes are those of other keys, too, and some pieces have none.
        hashes = [rng.choice([3, 3 + SEEN, 7, UNKNOWN]) + key[0] for key in drawn]
        hashes = [one if one > 3 else UNKNOWN for one in hashes]
        asked = sorted(rng.sample(range(count), k=rng.randint(0, count)))
        left = np.array([*asked, *[0] * (count - len(asked))], dtype=np.int64)
        repeats = np.zeros(2 * count, dtype=np.int64)

        keys = np.array([drawn[index] for index in asked], dtype=np.int64).ravel()
        hashes_asked = np.array([hashes[index] for index in asked], dtype=np.int64)
        kept = set_aside(
            seen,
            keys,
            hashes_asked,
            earlier,
            left,
            len(asked),
            repeats,
        )
        pairs = repeats[: 2 * (len(asked) - kept)].reshape(-1, 2).tolist()

        assert (left[:kept].tolist(), [(a, b) for a, b in pairs]) == set_aside_by_definition(
            drawn, hashes, asked
        )
        assert keys[: 2 * kept].reshape(-1, 2).tolist() == [[*drawn[i]] for i in left[:kept]]
        assert hashes_asked[:kept].tolist() == [hashes[i] for i in left[:kept]]
        earlier += kept


def test_an_answer_of_many_ids_is_copied_to_the_room_of_its_piece():
    """The room of the first one may have been written over when the other is emitted."""
    ends = np.array([5, 7, 12], dtype=np.int64)
    words = np.zeros(6, dtype=np.int64)
    results, ids = words.view(np.int32), np.arange(40, dtype=np.int32)
    results[:4] = 10, 0, 0, 5
    results[4:8] = 8, 9, 0, 2
    answer_repeats(np.array([0, 2]), 1, ends, 0, 10, words, results, ids)

    assert ids[17:22].tolist() == [10, 11, 12, 13, 14]
    assert results[8] == 17
    assert results[11] == 5


@pytest.mark.parametrize("seed", range(2))
def test_pieces_of_many_ids_that_come_again_and_again_are_those_of_the_definition(seed):
    rng = random.Random(f"many ids {seed}")
    drawn = vocabulary([*(bytes([byte]) for byte in range(6)), b"\0\1", b"\2\3"])
    block = backtracking_kernel.block_of(drawn)
    several = [bytes(rng.choices(range(6), k=rng.randint(1, LONGEST + 9))) for _ in range(40)]
    pieces = rng.choices(several, k=backtracking_kernel.BLOCK + 100)
    data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)

    def run(encode):
        ids, id_ends = np.empty(len(data) + SPARE, np.int32), np.empty(len(ends), np.int64)
        count = encode(data, ends, NONE_GIVEN, ids, id_ends)
        return ids[:count].tolist(), id_ends.tolist()

    expected = run(heap.encoder_of(drawn))
    cache = new_cache(16)
    for _ in range(2):
        found = run(lambda *rest: backtracking_kernel.encode_remembering(block, cache, *rest))
        assert found == expected
