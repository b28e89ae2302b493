"""All exact encoders give the definition's answer; the others keep their own laws."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from corpora.vocabularies.model import Merges, RankOrder
from corpora.vocabularies.sources import resolve
from impls.bpe import (
    backtracking,
    dropout,
    greedy,
    heap,
    incremental,
    minimal,
    naive,
    table,
)
from impls.fast.bpe import implementations as fast
from impls.interface import Mode, Rejected
from tests.breadth import thorough
from tests.data import data_path
from tests.impls.bpe_vocabularies import (
    encodings,
    is_proper,
    oracle,
    oracle_by_spelling,
    random_text,
    vocabulary,
)

RAW = Mode(pretokenize=False)
LINEAR = [
    backtracking.IMPLEMENTATION,
    fast.IMPLEMENTATION,
    fast.CACHED,
    table.IMPLEMENTATION,
    incremental.IMPLEMENTATION,
]
EXACT = [naive.IMPLEMENTATION, heap.IMPLEMENTATION, *LINEAR]
INEXACT = [greedy.IMPLEMENTATION, minimal.IMPLEMENTATION, dropout.IMPLEMENTATION]


def by_name(implementations):
    return pytest.mark.parametrize("implementation", implementations, ids=lambda i: i.about.name)


def spelled(implementation, vocabulary, text):
    ids = implementation.load(vocabulary).encode(text.encode(), RAW)
    return [vocabulary.tokens[i].decode() for i in ids]


@by_name([*EXACT, *INEXACT])
def test_a_byte_without_a_token_is_rejected(implementation):
    encoder = implementation.load(vocabulary([b"a", b"b", b"ab", b"z\0"]))

    for data in (b"abz", b"z", b"abz\0a"):
        with pytest.raises(Rejected, match="0x7a"):
            encoder.encode(data, RAW)
    assert encoder.decode(encoder.encode(b"abba", RAW)) == b"abba"


@by_name([*EXACT, *INEXACT])
def test_a_batch_is_its_inputs_one_by_one(implementation):
    encoder = implementation.load(resolve("toy_bytes"))
    inputs = [b"", b"ab", b"\xff\x00", b"", "né".encode(), b"ababab" * 9, b""]
    ids, ends = encoder.encode_batch(b"".join(inputs), np.cumsum([len(i) for i in inputs]), RAW)
    parts = np.split(ids, ends[:-1])

    assert ids.dtype == np.int32
    assert [part.tolist() for part in parts] == [encoder.encode(i, RAW) for i in inputs]


COMPILING = """
from impls.bpe import heap, naive
from impls.interface import Mode
from tests.impls.bpe_vocabularies import vocabulary

for module in (naive, heap):
    encoder = module.IMPLEMENTATION.load(vocabulary([b"a", b"b", b"ab"]))
    encoder.encode(b"abab", Mode())
    print(len(encoder._encode_pieces.func.compiled.stats.cache_misses) > 0)
"""


@pytest.mark.thorough  # it compiles all of it from nothing
def test_the_loop_over_pieces_is_kept_on_disk_for_each_algorithm(tmp_path):
    """They are copies of one function, and none may take the place of another."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    missed = [
        subprocess.run(
            [sys.executable, "-c", COMPILING],
            cwd=Path(__file__).parents[2],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]

    assert missed == [["True", "True"], ["False", "False"]]


@given(encodings())
def test_exact_encoders_are_the_definition(encoding):
    drawn, texts = encoding
    encoders = [implementation.load(drawn) for implementation in EXACT]
    for data in texts:
        expected = oracle(drawn, data)
        for encoder in encoders:
            assert encoder.encode(data, RAW) == expected


@given(encodings(proper=False))
def test_exact_encoders_are_the_definition_on_improper_vocabularies(encoding):
    drawn, texts = encoding
    define = oracle_by_spelling if drawn.rank_order is RankOrder.IDS else oracle
    encoders = [implementation.load(drawn) for implementation in EXACT]
    for data in texts:
        whole = drawn.ignore_merges and data in drawn.ids
        expected = [drawn.ids[data]] if whole else define(drawn, data)
        for encoder in encoders:
            assert encoder.encode(data, RAW) == expected


def test_a_half_that_a_later_merge_makes_again():
    """Halves come before wholes in the list, but ``aaa`` alone is built by the last merge but one.

    So ``aaaaa`` is older than its half, as if the merges were out of order.
    """
    tokens = [b"a", b"aa", b"aaa", b"aaaaa"]
    merges = [(0, 0, 1), (0, 1, 2), (1, 2, 3), (1, 0, 2), (2, 1, 3)]
    drawn = vocabulary(tokens, Merges.of(merges), rank_order=RankOrder.MERGES)

    assert not is_proper(drawn)
    assert oracle(drawn, b"a" * 5) == [3]
    for implementation in EXACT:
        encoder = implementation.load(drawn)
        for length in range(20):
            assert encoder.encode(b"a" * length, RAW) == oracle(drawn, b"a" * length)


@given(encodings())
def test_inexact_encoders_keep_their_laws(encoding):
    drawn, texts = encoding
    exact, *others = (i.load(drawn) for i in (heap.IMPLEMENTATION, *INEXACT))
    for data in texts:
        for encoder in others:
            ids = encoder.encode(data, RAW)
            assert encoder.decode(ids) == data
            assert encoder.encode(data, RAW) == ids
        assert len(others[1].encode(data, RAW)) == fewest(drawn, data)
        assert len(others[1].encode(data, RAW)) <= len(exact.encode(data, RAW))


def fewest(vocabulary, data):
    best = [0]
    for end in range(1, len(data) + 1):
        begins = [b for b in range(end) if data[b:end] in vocabulary.ids]
        best.append(1 + min(best[b] for b in begins))
    return best[-1]


def test_greedy_takes_the_longest_from_the_left():
    dictionary = vocabulary([b"a", b"b", b"c", b"bc", b"ab", b"cabab"])

    assert spelled(greedy.IMPLEMENTATION, dictionary, "abcabab") == ["ab", "cabab"]


def test_dropout_leaves_some_merges_out():
    dictionary = vocabulary([b"a", b"aa", b"aaaa"])
    encoder = dropout.IMPLEMENTATION.load(dictionary)
    lengths = {len(encoder.encode(b"a" * 64 + b"aaaa" * k, RAW)) - 16 - k for k in range(40)}

    assert min(lengths) >= 0
    assert len(lengths) > 3  # not one of them, nor all alike
    assert sum(lengths) / len(lengths) < 20  # one merge in ten


def agree(vocabulary, texts):
    ends = np.cumsum([len(text) for text in texts])
    expected = None
    for implementation in EXACT:
        if max(map(len, texts)) > 5000 and implementation is naive.IMPLEMENTATION:
            continue
        encoder = implementation.load(vocabulary)
        ids, id_ends = encoder.encode_batch(b"".join(texts), ends, RAW)
        expected = expected or (ids.tobytes(), id_ends.tolist())
        assert (ids.tobytes(), id_ends.tolist()) == expected, implementation.about.name


def mixed_texts(vocabulary, seed, count):
    """Tokens and bytes repeated and strung together."""
    rng = random.Random(seed)
    tokens = [token for token in vocabulary.tokens if token]
    texts = []
    for _ in range(count):
        alphabet = [*rng.sample(tokens, 3), bytes([rng.randrange(256)])]
        texts.append(b"".join(rng.choices(alphabet, k=rng.randrange(12))))
    return texts + [random_text(rng, b"ab \n\0\xe2") for _ in range(count)]


@pytest.mark.thorough  # a large vocabulary in nine encoders
def test_encoders_agree_on_tekken():
    tekken = resolve("tekken_240911")
    agree(tekken, mixed_texts(tekken, 3, 1000))


def test_encoders_agree_on_a_megabyte_of_random_bytes():
    agree(resolve("tekken_240911"), [random.Random(4).randbytes(1 << 20)])


@pytest.mark.data
@pytest.mark.parametrize("name", [thorough("o200k_base"), "cl100k_base", thorough("llama3")])
def test_encoders_agree_on_real_vocabularies(name):
    found = resolve(str(data_path(f"vocabs/{name}.tiktoken.gz")))
    agree(found, mixed_texts(found, 5, 500))
    agree(found, [random.Random(6).randbytes(1 << 20)])


@pytest.mark.data
@pytest.mark.thorough  # a large vocabulary
def test_late_tokens_of_llama3():
    llama = resolve(str(data_path("vocabs/llama3.tiktoken.gz")))
    late = [llama.tokens[111954], b".:.:", " ω".encode()]
    rng = random.Random(8)
    texts = [
        b"".join(rng.choices([*late, b".", b":", b" ", b"o"], k=rng.randrange(9)))
        for _ in range(1000)
    ]

    agree(llama, texts)
