"""What the compiler makes of the hot loops."""

import pytest

from tests.doubles.command import python

PROGRAM = """
from corpora.vocabularies.patterns import PATTERNS
from impls.fast.bpe import backtracking_kernel, batched_backtracking, piece_results
from impls.fast.bpe import short_rows, wide_rows, words
from impls.fast.scanner import windows
from impls.fast.bpe.implementations import CACHED
from impls.interface import Mode
from tests.properties.impls.bpe_vocabularies import vocabulary

tokens = [bytes([byte]) for byte in range(256)]
drawn = vocabulary([*tokens, b"ab", b"abab"], splits=PATTERNS["gpt2"])
CACHED.load(drawn).encode(b"abc ababc", Mode())
for function in (
    batched_backtracking.encode_batched,
    backtracking_kernel._encode,
    piece_results.emit,
    short_rows.recall,
    short_rows.remember,
    wide_rows.recall_wide,
    wide_rows.remember_wide,
    words.look_up,
    words.spell,
    windows.piece_bits,
    backtracking_kernel.encode_remembering,
):
    for code in function.inspect_asm().values():
        body = code[: code.index(".Lfunc_end0:")]
        print(function.__name__, len(body) > 100, "NRT_" in body)
"""


@pytest.mark.thorough  # compiles the largest kernels anew
def test_hot_loops_count_no_references(tmp_path):
    """A function that does, for each array with an atomic operation, costs a piece 100 ns more.

    Numba leaves it out where it can prove that it may, which one more way out, or a call, prevents.
    """
    # Only what is compiled can be read.
    lines = python("-c", PROGRAM, NUMBA_CACHE_DIR=str(tmp_path)).stdout.splitlines()

    counts = {name: found for name, whole, found in map(str.split, lines) if whole == "True"}

    assert counts.pop("encode_remembering") == "True"  # new arrays, so that counting shows
    kernels = ("_encode", "emit", "encode_batched", "look_up", "piece_bits", "recall")
    kernels += ("recall_wide", "remember", "remember_wide", "spell")
    assert counts == dict.fromkeys(kernels, "False")
