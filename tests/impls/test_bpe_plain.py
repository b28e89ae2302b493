"""The plain encoder, on which the judgement of others rests, and what the fast ones need."""

import os
import random
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from corpora.vocabularies.sources import resolve
from impls.bpe import backtracking, heap
from impls.bpe.backtracking import encode_piece
from impls.bpe.pair_validity import valid_pair
from impls.bpe.tokens import tokens_of
from impls.fast.bpe import implementations as fast
from impls.fast.kernels import intrinsics
from impls.interface import Mode
from tests.impls.bpe_vocabularies import encodings, oracle, random_vocabulary, vocabulary
from tests.impls.test_pretokenizers import adversarial

RAW, TEXT = Mode(pretokenize=False), Mode()
ROOT = Path(__file__).parents[2]


@given(encodings())
def test_a_pair_is_valid_exactly_if_its_text_encodes_to_it(encoding):
    drawn, _ = encoding
    tokens = tokens_of(drawn)
    ids = tokens.ids.tolist()
    for left, right in product(range(min(len(ids), 25)), repeat=2):
        text = b"".join(drawn.tokens[ids[token]] for token in (left, right))
        expected = oracle(drawn, text) == [ids[left], ids[right]]

        assert valid_pair(tokens.pairs, tokens.splits, left, right) == expected


def encoded(tokens, text):
    ids = np.empty(len(text), dtype=np.int32)
    return ids[: encode_piece(tokens, np.frombuffer(text, dtype=np.uint8), ids)].tolist()


def test_dead_ends_are_left_behind():
    """``aab``, ``aba`` and so on lead astray again and again."""
    for seed in range(200):
        letters, drawn = random_vocabulary(random.Random(seed))
        text = bytes(random.Random(seed).choices(letters, k=300))

        assert encoded(tokens_of(drawn), text) == oracle(drawn, text)


def test_wrong_tables_are_an_error_and_no_answer():
    """With all next shorter prefixes forgotten, what has to be taken back cannot be replaced."""
    drawn = vocabulary([b"a", b"b", b"c", b"ab", b"bc", b"abc", b"bcb", b"cb", b"abcb"])
    tokens = tokens_of(drawn)
    texts = [bytes(text) for size in range(1, 7) for text in product(b"abc", repeat=size)]
    none = np.full_like(tokens.prefixes, -1)
    none.flags.writeable = False
    for text in texts:
        try:
            found = encoded(tokens._replace(prefixes=none), text)
        except AssertionError as error:
            assert "the tables are wrong" in str(error)
            return
        assert found == oracle(drawn, text)
    pytest.fail("no text had to go back")


@pytest.mark.parametrize("name", ["tekken_240911", "toy_bytes"])
def test_texts_with_a_pre_tokenizer_come_out_as_from_the_others(name):
    """The first one cuts with the `regex` package, the others with compiled scanners."""
    drawn = resolve(name)
    texts = [text.encode() for text in adversarial(random.Random(7), 3000)]
    ends = np.cumsum([len(text) for text in texts])
    found = [
        implementation.load(drawn).encode_batch(b"".join(texts), ends, TEXT)
        for implementation in (
            backtracking.IMPLEMENTATION,
            fast.IMPLEMENTATION,
            heap.IMPLEMENTATION,
        )
    ]

    for ids, id_ends in found[1:]:
        assert ids.tolist() == found[0][0].tolist()
        assert id_ends.tolist() == found[0][1].tolist()


QUESTIONS = """
import numpy as np
from impls.bpe import backtracking
from impls.bpe.pair_validity import valid_pair
from impls.bpe.tokens import tokens_of
from tests.impls.bpe_vocabularies import vocabulary

asked = 0

def counted(*arguments):
    global asked
    asked += 1
    return valid_pair(*arguments)

backtracking.valid_pair = counted
tokens = tokens_of(vocabulary([b"a", b"b", b"ab", b"aba", b"ababa", b"abababa"]))
for size in (500, 1000, 2000):
    asked = 0
    data = np.frombuffer(b"ba" * size + b"b", dtype=np.uint8)
    backtracking.encode_piece(tokens, data, np.empty(len(data), dtype=np.int32))
    print(asked / len(data))
"""


def test_dead_ends_save_questions_and_their_number_is_linear():
    """Counted, and not timed, since a busy machine says nothing of time.

    Every other beginning of this text is a dead end. Without marks it takes 2.4 questions a byte.
    """
    result = subprocess.run(
        [sys.executable, "-c", QUESTIONS],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    rates = [float(line) for line in result.stdout.split()]

    assert len(rates) == 3
    assert all(1 < rate < 1.7 for rate in rates), rates


@pytest.fixture
def without_intrinsics(monkeypatch):
    """As if LLVM did not know one of the operations, until the test ends."""
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    unknown = intrinsics.COMPRESS.replace("compress", "kompress")
    broken = intrinsics._PROBE.replace(intrinsics.COMPRESS, unknown)
    monkeypatch.setattr(intrinsics, "_PROBE", broken)
    intrinsics.lacking.cache_clear()
    yield unknown
    intrinsics.lacking.cache_clear()


def test_nothing_is_lacking_here():
    assert intrinsics.lacking() is None
    assert fast.CACHED.supports(resolve("toy_bytes"), RAW) is None


def test_what_is_lacking_is_said_in_one_line(without_intrinsics):
    reason = intrinsics.lacking()

    assert reason is not None
    assert reason.endswith(f"does not know {without_intrinsics}")
    assert "\n" not in reason
    assert fast.CACHED.supports(resolve("toy_bytes"), RAW).endswith(reason)


def test_an_operation_that_llvm_refuses_is_lacking(without_intrinsics):
    reason = intrinsics._tried("define i32 @probe() {\n ret i64 1\n}")

    assert reason is not None
    assert "\n" not in reason


def test_interpreted_nothing_is_lacking(without_intrinsics, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    intrinsics.lacking.cache_clear()

    assert intrinsics.lacking() is None
