"""The fast byte-pair encoders give the ids of the plain one: any pieces, through any cache."""

import os
import random
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpora.vocabularies.model import VocabularyError
from corpora.vocabularies.sources import resolve
from impls.bpe import heap
from impls.bpe.encoder import SPARE
from impls.bpe.out_of_order import in_order
from impls.bpe.tokens import tokens_of
from impls.fast.bpe import candidates, implementations, pair_validity
from impls.fast.bpe.backtracking_kernel import BLOCK, block_of, encode_remembering
from impls.fast.bpe.piece_cache import new_cache
from impls.fast.kernels import intrinsics
from impls.interface import Mode
from impls.kernels.layout import EMPTY
from tests.properties.impls.bpe_vocabularies import random_text, random_vocabulary, vocabulary

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
RAW = Mode(pretokenize=False)
FAST = in_order(implementations.encoder_of)
CACHED = in_order(implementations.caching_encoder_of)
LENGTHS = (0, 1, 2, 3, 5, 8, 9, 12, 15, 16, 17, 20, 31, 32, 33, 40, 61, 62, 63, 100, 127, 128, 300)
"""Around the longest pieces that have a key, a row in the cache, a run, and a place in a batch."""


def run(encode, pieces, given=()):
    """The ids and where those of each piece end; or the number that says what has no token."""
    data = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    ends = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
    ids, id_ends = np.empty(len(data) + SPARE, np.int32), np.empty(len(ends), np.int64)
    count = encode(data, ends, np.array(given, np.int64), ids, id_ends)
    return count if count < 0 else (ids[:count].tolist(), id_ends.tolist())


def encoders(drawn):
    """Without a cache, with one that grows, and with small ones, whose rows are given away."""
    yield from (FAST(drawn), CACHED(drawn))
    if not len(tokens_of(drawn).out_of_order):
        for slots in (16, 32):
            yield partial(encode_remembering, block_of(drawn), new_cache(slots))


def assert_alike(drawn, pieces, given=()):
    expected = run(heap.encoder_of(drawn), pieces, given)
    for encode in encoders(drawn):
        for _ in range(2):  # the second time much is remembered
            assert run(encode, pieces, given) == expected


def drawn_pieces(rng, letters, count):
    """Pieces of all lengths, runs among them, and many of them again and again."""
    several = [random_text(rng, letters, 800)[: rng.choice(LENGTHS)] for _ in range(30)]
    several += [bytes([rng.choice(letters)]) * rng.choice(LENGTHS) for _ in range(6)]
    for text in filter(None, several[:]):  # one of its length that differs near its end
        at = max(0, len(text) - rng.choice([1, 1, 7, 9, 40]))
        several.append(text[:at] + bytes([rng.choice(letters)]) + text[at + 1 :])
    several += [text[:-1] + b"\0" for text in several[:4]]  # as what fills a key up, for one
    several = [text for text in several if set(text) <= set(letters)]
    return rng.choices(several, k=count)


@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([1, 7, 80]))
def test_drawn_pieces(seed, proper, count):
    rng = random.Random(seed)
    letters, drawn = random_vocabulary(rng, proper=proper)
    pieces = drawn_pieces(rng, letters, count)
    for _ in range(rng.choice([0, 0, 2])):  # bytes without a token, of which the first is named
        at = rng.randrange(len(pieces))
        pieces[at] = pieces[at] + b"\2" + pieces[-1]
    assert_alike(drawn, pieces)
    assert_alike(drawn, pieces, [rng.choice([EMPTY, EMPTY, 7]) if one else EMPTY for one in pieces])


@pytest.mark.skipif(INTERPRETED, reason="slow")
@pytest.mark.parametrize("count", [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 9])
def test_more_pieces_than_are_encoded_together(count):
    rng = random.Random(count)
    letters, drawn = random_vocabulary(rng)
    pieces = drawn_pieces(rng, letters, count)
    assert_alike(drawn, pieces)
    faulty = [*pieces[:-5], b"\2", *pieces[-5:]]
    assert run(FAST(drawn), faulty) == -1 - len(b"".join(pieces[:-5]))


@pytest.mark.parametrize("crowded", ["BITS_PER_MERGE", "MOST_WORDS", None])
def test_merges_that_stand_far_from_their_place_are_found(crowded, monkeypatch):
    if crowded:
        monkeypatch.setattr(pair_validity, crowded, 1)
    tokens = [bytes(word) for size in (1, 2, 3, 4) for word in product(b"abc", repeat=size)]
    rng = random.Random(5)
    assert_alike(vocabulary(tokens), [bytes(rng.choices(b"abc", k=60)) for _ in range(12)])


def test_a_candidate_may_be_shorter_by_more_than_an_entry_holds():
    """Spaces double from token to token; the longest have over a thousand more than the next."""
    drawn = vocabulary([b"x", *(b" " * (1 << power) for power in range(13))])
    lengths = (1023, 1024, 4096, 4097)
    assert_alike(drawn, [b"x" + b" " * length + b"x" for length in lengths])


@pytest.mark.parametrize("tokens", [[], [None], [b"ab"]])
def test_without_a_token_of_one_byte_nothing_is_read(tokens):
    """The compiled loop would read behind an empty table; interpreted, that is an error."""
    assert run(FAST(vocabulary(tokens)), [b"bbb", b"b" * 7]) == -1


@pytest.mark.parametrize(
    ("module", "limit", "most", "said"),
    [
        (candidates, "VALUE_MASK", 500, "slots of a trie and 3 tokens are more than 500"),
        (pair_validity, "TOKEN_MASK", 2, r"3 tokens are more than 2.*bpe\.heap"),
    ],
)
def test_what_is_too_large_for_the_tables_is_refused(module, limit, most, said, monkeypatch):
    monkeypatch.setattr(module, limit, most)
    with pytest.raises(VocabularyError, match=said):
        implementations.IMPLEMENTATION.load(vocabulary([b"a", b"b", b"ab"]))


def test_where_the_kernel_cannot_be_compiled_that_is_said_in_one_line(monkeypatch):
    """As if LLVM did not know one of the operations, or refused it."""
    toy, supports = resolve("toy_bytes"), implementations.CACHED.supports
    assert intrinsics.lacking() is None
    assert supports(toy, RAW) is None
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    unknown = intrinsics.COMPRESS.replace("compress", "kompress")
    probe = intrinsics._PROBE.replace(intrinsics.COMPRESS, unknown)
    for wrong, said in (
        (probe, f"does not know {unknown}"),
        ("define i32 @probe() {\n", "refuses"),
    ):
        monkeypatch.setattr(intrinsics, "_PROBE", wrong)
        intrinsics.lacking.cache_clear()
        reason = supports(toy, RAW)
        assert said in reason
        assert "\n" not in reason
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    intrinsics.lacking.cache_clear()
    assert intrinsics.lacking() is None
    monkeypatch.undo()
    intrinsics.lacking.cache_clear()
