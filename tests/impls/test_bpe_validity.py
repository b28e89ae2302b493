"""Merges by the boundary that they go over: found all the same, whatever else goes over it."""

import random
from itertools import product

import numpy as np
import pytest

from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.sources import resolve
from impls.bpe.tokens import spellings_of, tokens_of
from impls.fast.bpe import pair_validity as validity
from impls.fast.bpe.block import BLOOM, BOUNDARIES, MERGED, wide
from impls.fast.bpe.implementations import IMPLEMENTATION as FAST
from impls.fast.bpe.pair_validity import (
    OLDEST_BITS,
    TOKEN_BITS,
    TOKEN_MASK,
    boundary_of,
    first_entry,
    may_merge,
    pair_bits,
    parts_of,
    validity_tables,
    word_asked,
)
from impls.kernels.layout import EMPTY
from tests.impls.bpe_vocabularies import vocabulary

TEKKEN = "tekken_240911"


def tables_of(drawn):
    """Tokens by age, their spellings, and the tables of pair validity."""
    tokens = tokens_of(drawn)
    spellings = spellings_of(drawn, tokens.ids)
    return tokens, spellings, validity_tables(tokens, spellings)


@pytest.fixture(scope="module")
def tekken():
    return tables_of(resolve(TEKKEN))


def found(tables, spellings, left, right):
    """The token that a pair merges to by MERGED, EMPTY for none."""
    boundary = boundary_of(wide(tables[BOUNDARIES]), spellings[left][-1], spellings[right][0])
    merged = wide(tables[MERGED])
    mixed = pair_bits(left, right)
    first_word, words, _ = parts_of(boundary)
    slot = first_entry(word_asked(first_word, words, mixed), mixed)
    while merged[slot] != EMPTY and merged[slot] >> TOKEN_BITS != left << TOKEN_BITS | right:
        slot += 1
    return int(merged[slot]) & TOKEN_MASK if merged[slot] != EMPTY else EMPTY


def passes(tables, boundary, left, right):
    """Whether the filter lets a pair through."""
    mixed = pair_bits(left, right)
    first_word, words, _ = parts_of(boundary)
    return bool(may_merge(int(tables[BLOOM][word_asked(first_word, words, mixed)]), mixed))


def test_every_merge_is_found_and_passes_the_filter(tekken):
    tokens, spellings, tables = tekken
    base_tokens = int(tokens.base[256])
    boundaries = wide(tables[BOUNDARIES])
    halves = tokens.splits.reshape(-1, 2).tolist()
    for token in random.Random(1).sample(range(base_tokens, len(halves)), 3000):
        left, right = halves[token]
        boundary = boundary_of(boundaries, spellings[left][-1], spellings[right][0])

        assert found(tables, spellings, left, right) == token
        assert passes(tables, boundary, left, right)


def test_of_each_seam_the_oldest_merge_is_known(tekken):
    tokens, spellings, tables = tekken
    base_tokens = int(tokens.base[256])
    oldest = {}
    for token, (left, right) in enumerate(
        tokens.splits.reshape(-1, 2)[base_tokens:].tolist(), base_tokens
    ):
        oldest.setdefault((spellings[left][-1], spellings[right][0]), token)
    boundaries = wide(tables[BOUNDARIES])

    assert np.count_nonzero(boundaries) == len(oldest)
    for facing, token in oldest.items():
        assert boundary_of(boundaries, *facing) >> OLDEST_BITS & TOKEN_MASK == token


def test_few_pairs_that_do_not_merge_pass_the_filter(tekken):
    tokens, spellings, tables = tekken
    rng = random.Random(2)
    boundaries = wide(tables[BOUNDARIES])
    merging = {tuple(pair) for pair in tokens.splits.reshape(-1, 2).tolist()}
    passed = []
    while len(passed) < 3000:
        left, right = rng.randrange(len(spellings)), rng.randrange(len(spellings))
        boundary = boundary_of(boundaries, spellings[left][-1], spellings[right][0])
        if boundary and (left, right) not in merging:
            passed.append(passes(tables, boundary, left, right))

    assert np.mean(passed) < 0.1


def test_no_merge_goes_over_a_seam_without_an_entry():
    _, _, tables = tables_of(vocabulary([b"a", b"b", b"c", b"ab", b"abc"]))
    boundaries = wide(tables[BOUNDARIES])
    over = {pair for pair in product(b"abc", repeat=2) if boundary_of(boundaries, *pair)}

    assert over == {(ord("a"), ord("b")), (ord("b"), ord("c"))}


def test_a_crowded_seam_overflows_into_the_room_of_the_next(monkeypatch):
    """With room for one in eight, all merges stand in one long run, and are found there."""
    monkeypatch.setattr(validity, "BITS_PER_MERGE", 1)
    letters = [bytes([97 + index]) for index in range(3)]
    tokens = [bytes(word) for size in (1, 2, 3, 4, 5) for word in product(b"abc", repeat=size)]
    ages, spellings, tables = tables_of(vocabulary(tokens))
    halves = ages.splits.reshape(-1, 2)[len(letters) :].tolist()
    entries = wide(tables[MERGED])

    assert np.count_nonzero(entries != EMPTY) == len(halves) > len(entries) // 3
    for token, (left, right) in enumerate(halves, len(letters)):
        assert found(tables, spellings, left, right) == token
    assert entries[-1] == EMPTY


def test_more_tokens_than_an_entry_can_number_are_refused(monkeypatch):
    monkeypatch.setattr(validity, "TOKEN_MASK", 2)

    with pytest.raises(VocabularyError, match=r"3 tokens are more than 2.*bpe\.heap"):
        FAST.load(vocabulary([b"a", b"b", b"ab"]))
