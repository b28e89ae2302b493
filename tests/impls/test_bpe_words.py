"""Probing for whole pieces, and remembering them, changes no id."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impls.bpe import heap
from impls.bpe.encoder import NONE_GIVEN, SPARE
from impls.fast.bpe import words
from impls.fast.bpe.backtracking_kernel import block_of, encode_remembering
from impls.fast.bpe.growing_cache import FIRST_SLOTS, MOST_SLOTS, fitting
from impls.fast.bpe.implementations import encoder_of
from impls.fast.bpe.piece_cache import SHORT_TAKEN, WIDE_TAKEN, new_cache, slots_of
from tests.breadth import thorough_from
from tests.impls.bpe_vocabularies import encodings, vocabulary


def cut(pieces):
    data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    return data, np.cumsum([len(piece) for piece in pieces], dtype=np.int64)


def run(encode, pieces):
    data, ends = cut(pieces)
    ids = np.empty(len(data) + SPARE, dtype=np.int32)
    id_ends = np.empty(len(ends), dtype=np.int64)
    count = encode(data, ends, NONE_GIVEN, ids, id_ends)
    return ids[: max(count, 0)].tolist(), id_ends.tolist() if count >= 0 else count


def with_cache(drawn, cache):
    """The encoder with one cache for all its calls."""
    return partial(encode_remembering, block_of(drawn), cache)


@given(drawn=encodings(), again=st.integers(1, 3))
@pytest.mark.parametrize("slots", thorough_from(1, [16, 32, 1024]))
def test_a_cache_of_any_size_gives_the_definitions_ids(slots, drawn, again):
    drawn, texts = drawn
    remembering = with_cache(drawn, new_cache(slots))

    # Many pieces of few spellings: rows are taken, found again, and given away. Some are empty.
    pieces = [text[at : at + at % 37] for text in texts for at in range(len(text))] * again
    expected = run(heap.encoder_of(drawn), pieces)
    assert run(encoder_of(drawn), pieces) == expected
    for _ in range(2):
        assert run(remembering, pieces) == expected


def test_rows_keep_to_the_ids_that_they_have_room_for():
    """Pieces of as many ids as bytes, 0 to 40, of ten beginnings, so that all rows are taken."""
    drawn = vocabulary([bytes([byte]) for byte in range(10)])
    remembering = with_cache(drawn, new_cache(16))

    pieces = [
        bytes((first + k * k) % 10 for k in range(n)) for first in range(10) for n in range(41)
    ]
    expected = run(heap.encoder_of(drawn), pieces)
    for _ in range(3):
        assert run(remembering, pieces) == expected


def test_a_larger_cache_has_all_that_the_smaller_one_had():
    drawn = vocabulary([bytes([byte]) for byte in range(10)])
    pieces = [bytes((7 * k + n) % 10 for k in range(n)) for n in range(1, 33)] + [b"\1" * 40]

    def taken(cache):
        return int(cache[SHORT_TAKEN]), int(cache[WIDE_TAKEN])

    cache = new_cache(4096)
    run(with_cache(drawn, cache), pieces)
    first = taken(cache)
    assert first[0] > 2 < first[1]
    larger = fitting(cache, 4 * 4 * 4096)
    assert slots_of(larger) == 4 * 4096
    assert taken(larger) == first
    for one in (cache, larger):
        run(with_cache(drawn, one), pieces)
        assert taken(one) == first  # all were there


def test_a_cache_grows_with_what_it_remembers_and_with_the_text():
    cache = fitting(None, 0)
    assert slots_of(cache) == FIRST_SLOTS
    assert fitting(cache, FIRST_SLOTS) is cache
    assert slots_of(fitting(None, 8 * FIRST_SLOTS)) == 4 * FIRST_SLOTS
    assert slots_of(fitting(None, 1 << 40)) == MOST_SLOTS
    cache[SHORT_TAKEN] = FIRST_SLOTS
    assert slots_of(fitting(cache, 0)) == 16 * FIRST_SLOTS
    cache[SHORT_TAKEN], cache[WIDE_TAKEN] = 0, FIRST_SLOTS // 16
    assert slots_of(fitting(cache, 0)) == 4 * FIRST_SLOTS


@pytest.mark.parametrize("length", [15, 16, 17, 31, 32, 33])
def test_what_is_emitted_whole_is_so_with_a_cache(length):
    """No merges lead to it; there is a row for it in the cache all the same, by its length."""
    whole = b"xy" * 20
    drawn = vocabulary([b"x", b"y", whole[:length]], ignore_merges=True)
    remembering = with_cache(drawn, new_cache(16))

    pieces = [b"x", whole[:length], whole, b"y", whole[: length - 1], whole[:length], b"x" * 40]
    expected = run(heap.encoder_of(drawn), pieces)
    assert expected[1][1] == 2
    for _ in range(2):
        assert run(remembering, pieces) == expected


def key_of(text):
    data = np.frombuffer(text.ljust(16, b"\0"), dtype=np.uint8)
    return words.key_at(data, 0, len(text))


def test_spellings_that_differ_in_zeros_at_their_end_are_told_apart():
    tokens = [b"a\0", b"a\0\0", b"a" * 8, b"a" * 8 + b"\0", b"a" * 15, b"a" * 16]
    table = words.word_table({text: index for index, text in enumerate(tokens)}).view(np.int64)

    def probe(text):
        low, high = key_of(text)
        return words.probe_on(table, words.row_of(table, words.word_hash(low, high)), low, high)

    assert [probe(text) for text in tokens[:5]] == [0, 1, 2, 3, 4]
    assert probe(b"a") == probe(b"a\0\0\0") == probe(b"a" * 9) == probe(b"a" * 14) == -1
    assert probe(b"") == -1


def test_a_run_has_a_key_of_its_own_if_it_is_not_too_long():
    texts = [b" " * n for n in (15, 16, 17, 24, 31, 127, 128, 300)]
    texts += [b" " * 16 + b"x", b"x" + b" " * 16, b" " * 9 + b"x" + b" " * 9, b"\xff" * 20, b""]
    data, ends = cut([*texts, b"." * 16])
    keys, hashes = np.zeros(26, dtype=np.int64), np.zeros(13, dtype=np.int64)
    words.spell(data, ends, 0, 0, 13, keys, hashes)

    has_none = [len(text) > 15 and (len(set(text)) > 1 or len(text) > 127) for text in texts]
    assert (hashes == words.UNKNOWN).tolist() == has_none
    known = [tuple(keys[2 * n : 2 * n + 2]) for n in range(13) if not has_none[n]]
    assert len(set(known)) == len(known)

    table = words.word_table({text: n for n, text in enumerate(texts)}).view(np.int64)
    assert np.count_nonzero(table[2::4]) == len(known) - 1  # the empty one is no token
    for index, none in enumerate(has_none):
        low, high = keys[2 * index : 2 * index + 2].tolist()
        row = words.row_of(table, words.word_hash(low, high))
        expected = -1 if none or not texts[index] else index
        assert words.probe_on(table, row, low, high) == expected


def test_what_has_no_key_is_told_from_all_that_have_one():
    texts = [b"xy" * 7, b"xy" * 8, b"xy" * 9, b"", b"xy" * 20, b"xy" * 100, b"y" * 9, b"z" * 7]
    data, ends = cut(texts)
    keys, hashes = np.zeros(16, dtype=np.int64), np.zeros(8, dtype=np.int64)
    words.spell(data, ends, 0, 0, 8, keys, hashes)

    keyless = [False, True, True, False, True, True, False, True]  # the last one: no 16 bytes
    assert (hashes == words.UNKNOWN).tolist() == keyless
    for index, text in enumerate(texts):
        low, high = keys[2 * index : 2 * index + 2].tolist()
        assert (high == -1) if keyless[index] else ((low, high) == key_of(text))


def test_the_filter_lets_every_token_pass_and_few_others():
    def mixed(text):
        return words.word_hash(*key_of(text))

    tokens = [str(number * number).encode() for number in range(3000)]
    filters = words.word_filter(words.word_table({text: i for i, text in enumerate(tokens)}))
    others = [b"x" + text for text in tokens]

    assert all(words.may_be(filters, mixed(text)) for text in tokens)
    assert sum(words.may_be(filters, mixed(text)) for text in others) < len(others) / 4
    assert not words.may_be(words.word_filter(words.word_table({})), 7)


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 15, 16, 17, 40])
def test_the_last_bytes_of_the_data_have_no_key_and_are_encoded_all_the_same(size):
    drawn = vocabulary([b"a", b"b", b"ab", b"abab", b"abababab"])
    pieces = [(b"ab" * 20)[:length] for length in range(size)]

    expected = run(heap.encoder_of(drawn), pieces)
    assert run(encoder_of(drawn), pieces) == expected
