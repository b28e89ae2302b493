"""The plain encoder, on which the judgement of others rests, and who falls back to it."""

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
from harness.cli.catalogues import rows
from harness.engine import selection
from impls import registry, roster
from impls.bpe.algorithms import backtracking, heap, plain
from impls.bpe.algorithms.plain_backtracking_kernel import encode_piece
from impls.bpe.fast import cached
from impls.bpe.tables.plain_pair_validity import plain_sections, valid_pair
from impls.conformance import run_conformance_test
from impls.interface import Capability, Mode
from impls.kernels import intrinsics
from impls.kernels.layout import AGED_PAIRS, IDS, PREFIXES, SPLITS, pack
from tests.impls.bpe_vocabularies import encodings, oracle, random_vocabulary, vocabulary
from tests.impls.test_pretokenizers import adversarial

RAW, TEXT = Mode(pretokenize=False), Mode()
ROOT = Path(__file__).parents[2]


@given(encodings())
def test_a_pair_is_valid_exactly_if_its_text_encodes_to_it(encoding):
    drawn, _ = encoding
    tables = plain_sections(drawn)
    ids = tables[IDS].tolist()
    for left, right in product(range(min(len(ids), 25)), repeat=2):
        text = b"".join(drawn.tokens[ids[token]] for token in (left, right))
        expected = oracle(drawn, text) == [ids[left], ids[right]]

        assert valid_pair(tables[AGED_PAIRS], tables[SPLITS], left, right) == expected


def test_dead_ends_are_left_behind():
    """``aab``, ``aba`` and so on lead astray again and again, and marks are gone afterwards."""
    for seed in range(200):
        letters, drawn = random_vocabulary(random.Random(seed))
        block = pack(plain_sections(drawn))
        text = bytes(random.Random(seed).choices(letters, k=300))
        dead = np.zeros(300 // 32 + 1, dtype=np.int64)
        tokens = np.empty(300, dtype=np.int32)
        count = encode_piece(block, np.frombuffer(text, dtype=np.uint8), dead, tokens)

        assert plain_sections(drawn)[IDS][tokens[:count]].tolist() == oracle(drawn, text)
        assert not dead.any()


def test_wrong_tables_are_an_error_and_no_answer():
    """With all next shorter prefixes forgotten, what has to be taken back cannot be replaced."""
    drawn = vocabulary([b"a", b"b", b"c", b"ab", b"bc", b"abc", b"bcb", b"cb", b"abcb"])
    tables = plain_sections(drawn)
    texts = [bytes(text) for size in range(1, 7) for text in product(b"abc", repeat=size)]
    block = pack({**tables, PREFIXES: np.full_like(tables[PREFIXES], -1)})
    for text in texts:
        data, dead = np.frombuffer(text, dtype=np.uint8), np.zeros(1, dtype=np.int64)
        tokens = np.empty(len(text), dtype=np.int32)
        try:
            count = encode_piece(block, data, dead, tokens)
        except AssertionError as error:
            assert "the tables are wrong" in str(error)
            return
        assert tables[IDS][tokens[:count]].tolist() == oracle(drawn, text)
    pytest.fail("no text had to go back")


@pytest.mark.parametrize("name", ["tekken_240911", "toy_bytes"])
def test_texts_with_a_pre_tokenizer_come_out_as_from_the_others(name):
    """The one cuts with the `regex` package, the others with a compiled scanner."""
    drawn = resolve(name)
    texts = [text.encode() for text in adversarial(random.Random(7), 3000)]
    ends = np.cumsum([len(text) for text in texts])
    found = [
        implementation.load(drawn).encode_batch(b"".join(texts), ends, TEXT)
        for implementation in (plain.IMPLEMENTATION, heap.IMPLEMENTATION)
    ]

    assert found[0][0].tolist() == found[1][0].tolist()
    assert found[0][1].tolist() == found[1][1].tolist()


def test_it_conforms():
    run_conformance_test("bpe.plain", [resolve("toy_bytes")])


def test_it_takes_part_only_when_named():
    assert registry.resolve("bpe.plain") is plain.IMPLEMENTATION
    named = set(roster.joining(roster.Joins.NAMED))
    assert not named & {row["name"] for row in rows("impls")}
    present, missing = selection.participants([])
    assert not named & ({one.name for one in present} | set(missing))


QUESTIONS = """
import numpy as np
from impls.bpe.algorithms import plain_backtracking_kernel as kernel
from impls.kernels.layout import pack
from impls.bpe.tables.plain_pair_validity import plain_sections, valid_pair
from tests.impls.bpe_vocabularies import vocabulary

asked = 0

def counted(*arguments):
    global asked
    asked += 1
    return valid_pair(*arguments)

kernel.valid_pair = counted
block = pack(plain_sections(vocabulary([b"a", b"b", b"ab", b"aba", b"ababa", b"abababa"])))
for size in (500, 1000, 2000):
    asked = 0
    data = np.frombuffer(b"ba" * size + b"b", dtype=np.uint8)
    tokens = np.empty(len(data), dtype=np.int32)
    kernel.encode_piece(block, data, np.zeros(len(data) // 32 + 1, dtype=np.int64), tokens)
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
    assert not backtracking.IMPLEMENTATION.about.version.endswith("+plain")
    assert cached.IMPLEMENTATION.supports(resolve("toy_bytes"), RAW) is None


def test_what_is_lacking_is_said_in_one_line(without_intrinsics):
    reason = intrinsics.lacking()

    assert reason is not None
    assert reason.endswith(f"does not know {without_intrinsics}")
    assert "\n" not in reason
    assert cached.IMPLEMENTATION.supports(resolve("toy_bytes"), RAW).endswith(reason)


def test_an_operation_that_llvm_refuses_is_lacking(without_intrinsics):
    reason = intrinsics._tried("define i32 @probe() {\n ret i64 1\n}")

    assert reason is not None
    assert "\n" not in reason


def test_interpreted_nothing_is_lacking(without_intrinsics, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    intrinsics.lacking.cache_clear()

    assert intrinsics.lacking() is None


def test_backtracking_falls_back_and_says_so(without_intrinsics):
    implementation = backtracking.BacktrackingImplementation(
        name="bpe.backtracking", kernel="impls.bpe.fast.backtracking_kernel", linear=True
    )
    assert implementation.about.version.endswith("+plain")
    assert Capability.APPEND in implementation.about.capabilities

    drawn = resolve("tekken_240911")
    fallen, expected = implementation.load(drawn), heap.IMPLEMENTATION.load(drawn)
    for text in (b"", "Über 1234 l'été\n\n  là".encode(), b"a" * 1000):
        for mode in (RAW, TEXT):
            assert fallen.encode(text, mode) == expected.encode(text, mode)
            assert fallen.count(text, mode) == len(expected.encode(text, mode))
    assert fallen.append([b"a", b"b c"], RAW)[-1] == len(expected.encode(b"ab c", RAW))


HIDING = """
import sys
from impls.kernels import intrinsics
intrinsics._PROBE = intrinsics._PROBE.replace("compress", "kompress")
hidden = ["impls.bpe.fast", "impls.kernels.processor"]
for name in [*hidden, "impls.fast.scanner.masks", "impls.fast.scanner.windows"]:
    sys.modules[name] = None
from corpora.vocabularies.sources import resolve
from impls.bpe.algorithms import backtracking, heap
from impls.interface import Mode
drawn = resolve("toy_bytes")
for implementation in (backtracking.IMPLEMENTATION, heap.IMPLEMENTATION):
    print(implementation.load(drawn).encode("Hello wörld 12".encode(), Mode()))
"""


def test_fallen_back_nothing_loads_what_cannot_be_compiled():
    """A kernel that LLVM cannot translate would end the process, whoever loads it."""
    result = subprocess.run(
        [sys.executable, "-c", HIDING], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert result.returncode == 0, result.stderr
    first, second = result.stdout.splitlines()
    assert first == second
