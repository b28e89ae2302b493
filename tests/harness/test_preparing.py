"""What is said of functions that are being compiled, while a vocabulary is loaded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from corpora.vocabularies import jit
from harness.messages import CELL_BYTES, Compiling, Progress
from harness.workers.compiling import told


def test_the_display_says_which_of_how_many() -> None:
    line = Compiling("impls.bpe.heap.merge", 4, 8).line
    assert line == "compiling impls.bpe.heap.merge (function 5 of at most about 12)"


def test_no_number_is_said_that_is_not_known() -> None:
    assert Compiling("mine.kernel", 4).line == "compiling mine.kernel (4 functions so far)"


def test_it_travels_through_the_shared_cell() -> None:
    descriptor = os.memfd_create("cell")
    os.ftruncate(descriptor, CELL_BYTES)
    one, other = Progress(descriptor), Progress(descriptor)
    try:
        one.set(3)
        one.compile(Compiling("f" * 200, 2, 7))
        assert other.compiling == Compiling("f" * 96, 2, 7)
        one.compile(None, 3)
        assert other.compiling is None
        assert other.index == 3
    finally:
        one.close()
        other.close()
        os.close(descriptor)


def test_functions_without_compiled_code_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jit, "_COMPILED", ["a", "b", "c"])
    monkeypatch.setattr(jit, "_index_of", lambda name: tmp_path / name)
    assert jit.uncompiled() == 3
    (tmp_path / "b").touch()
    assert jit.uncompiled() == 2


def test_a_function_of_ours_has_its_index_where_numba_writes_it() -> None:
    def double(number: int) -> int:
        return 2 * number

    try:
        compiled = jit.njit(double)
        if not hasattr(compiled, "stats"):
            pytest.skip("nothing is compiled")
        index = jit._index_of(compiled)
        assert index.parent == Path(compiled.stats.cache_path)
        index.unlink(missing_ok=True)
        before = jit.uncompiled()
        assert compiled(2) == 4
        assert jit.uncompiled() == before - 1
    finally:
        if jit._COMPILED and jit._COMPILED[-1].py_func is double:
            jit._COMPILED.pop()


def test_parts_of_other_functions_are_not_told() -> None:
    assert told(test_parts_of_other_functions_are_not_told)
    assert not told(lambda: None)
