"""Many walks and many questions at once: each has the answer that it has alone."""

import random

import numpy as np
import pytest

from corpora.vocabularies.sources import resolve
from impls.bpe.encoder import NONE_GIVEN, SPARE
from impls.bpe.tokens import spellings_of
from impls.fast.bpe import backtracking_kernel, columns
from impls.fast.bpe import pair_validity as validity
from impls.fast.bpe.batched_pair_validity import AHEAD, ask
from impls.fast.bpe.block import (
    BLOOM,
    BOUNDARIES,
    IDS,
    INNER,
    MERGED,
    SPLITS,
    WALK,
    section,
    wide,
)
from impls.fast.bpe.pair_validity import boundary_of, parts_of, valid_pair
from impls.fast.bpe.trie_lookup import READ, find_longest, longest_at
from impls.fast.bpe.vectors import WIDTH
from impls.kernels.layout import EMPTY
from tests.impls.bpe_vocabularies import random_text, random_vocabulary, vocabulary

COUNTS = [1, 2, WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH + 5]


def new_columns(count):
    """A table for so many pieces, of what nobody has written."""
    rng = np.random.default_rng(count)
    return rng.integers(-(1 << 31), 1 << 31, (columns.ROWS, count + WIDTH)).astype(np.int32)


def refused(drawn, pairs):
    """Which pairs are refused together, and which one by one."""
    block = backtracking_kernel.block_of(drawn)
    splits, bloom = section(block, SPLITS), section(block, BLOOM)
    merged, boundaries = wide(section(block, MERGED)), wide(section(block, BOUNDARIES))
    spellings = spellings_of(drawn, section(block, IDS))
    table = new_columns(len(pairs))
    expected = []
    for index, (left, right) in enumerate(pairs):
        boundary = boundary_of(boundaries, spellings[left][-1], spellings[right][0])
        table[[columns.LEFT, columns.TOKEN], index] = left, right
        table[[columns.FIRST_WORD, columns.WORDS, columns.OLDEST], index] = parts_of(boundary)
        alone = not boundary or valid_pair(splits, merged, bloom, boundary, left, right)
        expected.append(int(not alone))
    ask(splits, merged, bloom, table, len(pairs))
    return table[columns.REFUSED, : len(pairs)].tolist(), expected


def some_pairs(rng, drawn, count):
    tokens = len(section(backtracking_kernel.block_of(drawn), IDS))
    return [(rng.randrange(tokens), rng.randrange(tokens)) for _ in range(count)]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("seed", range(4))
def test_questions_together_are_the_questions_one_by_one(seed, count):
    rng = random.Random(seed)
    _, drawn = random_vocabulary(rng)
    together, alone = refused(drawn, some_pairs(rng, drawn, count))

    assert together == alone


def test_questions_of_a_real_vocabulary():
    """Pairs that a merge made are among them, and those that begin or end alike."""
    drawn = resolve("tekken_240911")
    halves = section(backtracking_kernel.block_of(drawn), SPLITS).reshape(-1, 2)
    rng = random.Random(3)
    pairs = some_pairs(rng, drawn, 3000)
    for _ in range(3000):
        (left, right), younger = halves[rng.randrange(len(halves))], rng.randrange(len(halves))
        pairs += [(int(left), int(right)), (int(left), younger), (younger, int(right))]
    together, alone = refused(drawn, pairs)

    assert together == alone
    assert 1000 < sum(together) < len(pairs) - 1000


def test_merges_that_stand_far_from_their_place_are_found(monkeypatch):
    """All over one boundary have one word of the filter, and so stand in one long run."""
    monkeypatch.setattr(validity, "MOST_WORDS", 1)
    drawn = random_vocabulary(random.Random(5))[1]
    pairs = some_pairs(random.Random(6), drawn, 500)
    together, alone = refused(drawn, pairs)
    monkeypatch.undo()

    assert together == alone == refused(drawn, pairs)[0]
    assert 0 < sum(together) < 500


def test_nothing_merges_where_there_is_no_merge():
    drawn = vocabulary([b"a", b"b"])

    assert refused(drawn, [(0, 0), (0, 1), (1, 0)]) == ([0, 0, 0], [0, 0, 0])


@pytest.mark.parametrize("tokens", [[], [None], [b"ab"]])
def test_without_a_token_of_one_byte_nothing_is_read(tokens):
    """The compiled loop would read behind an empty table; interpreted, that is an error."""
    data, ends = np.frombuffer(b"b" * 10, dtype=np.uint8), np.array([3, 10])
    ids = np.empty(len(data) + SPARE, dtype=np.int32)
    block = backtracking_kernel.block_of(vocabulary(tokens))

    assert backtracking_kernel.encode_pieces(block, data, ends, NONE_GIVEN, ids, NONE_GIVEN) == -1


def test_a_question_without_a_token_is_none():
    """Of the last pieces, too, behind which others are asked for ahead."""
    _, drawn = random_vocabulary(random.Random(1))
    block = backtracking_kernel.block_of(drawn)
    table = new_columns(AHEAD)
    table[columns.TOKEN, :AHEAD] = EMPTY
    table[columns.LEFT, :AHEAD] = 0
    table[columns.WORDS, :AHEAD] = 1
    ask(
        section(block, SPLITS),
        wide(section(block, MERGED)),
        section(block, BLOOM),
        table,
        AHEAD,
    )

    assert not table[columns.REFUSED, :AHEAD].any()


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("seed", range(4))
def test_walks_together_find_what_they_find_alone(seed, count):
    rng = random.Random(seed)
    letters, drawn = random_vocabulary(rng)
    block = backtracking_kernel.block_of(drawn)
    walk, inner = section(block, WALK), section(block, INNER)
    spellings = spellings_of(drawn, section(block, IDS))
    # Of tokens, so that some walks are long.
    words = [*filter(None, drawn.tokens), b"?", *(random_text(rng, letters, 9) for _ in range(9))]
    text = b"".join(rng.choices(words, k=60))
    data = np.frombuffer(text + bytes(READ), dtype=np.uint8)
    table = new_columns(count)
    expected = []
    for index in range(count):
        position = rng.randrange(len(text) + 1)
        end = min(len(text), position + rng.choice([0, 1, 3, 4, 5, 8, 9, 100]))
        table[columns.POSITION, index], table[columns.LIMIT, index] = position, end
        token, stop = longest_at(walk, inner, data, position, end)
        expected.append((token, stop))
        ends = [at for at in range(position + 1, end + 1) if text[position:at] in spellings]
        assert stop == max(ends, default=position)
        assert token == (spellings.index(text[position:stop]) if ends else EMPTY)
    find_longest(walk, inner, data, table, count)

    assert (
        list(zip(*table[[columns.TOKEN, columns.STOP], :count].tolist(), strict=True)) == expected
    )
