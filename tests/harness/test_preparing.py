"""What is said of functions that are being compiled, while a vocabulary is loaded."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from corpora.vocabularies import caches, jit
from harness.core.messages import Compiling, Progress
from harness.workers.cell import Cell
from harness.workers.compiling import told


def test_the_display_says_which_of_how_many() -> None:
    line = Compiling("impls.bpe.algorithms.heap.merge", 4, 8).line
    assert line == "compiling impls.bpe.algorithms.heap.merge (function 5 of at most about 12)"


def test_no_number_is_said_that_is_not_known() -> None:
    assert Compiling("mine.kernel", 4).line == "compiling mine.kernel (4 functions so far)"


def test_it_travels_through_the_shared_cell() -> None:
    cell = Cell()
    worker = Progress(cell.descriptor)
    try:
        worker.set(3)
        worker.compile(Compiling("f" * 200, 2, 7))
        assert cell.compiling == Compiling("f" * 96, 2, 7)
        worker.compile(None, 3)
        assert (cell.index, cell.compiling) == (3, None)
    finally:
        worker.close()
        cell.close()


def test_a_cell_that_a_worker_cuts_off_says_nothing() -> None:
    cell = Cell()
    worker = Progress(cell.descriptor)
    try:
        worker.set(3)
        worker.compile(Compiling("f", 2, 7))
        assert (cell.index, cell.compiling) == (3, Compiling("f", 2, 7))
        worker.set(-(2**62))
        assert cell.index == -1
        with pytest.raises(PermissionError):
            os.ftruncate(cell.descriptor, 0)
        with pytest.raises(PermissionError):
            os.ftruncate(cell.descriptor, 1 << 30)
        assert cell.compiling is not None
    finally:
        worker.close()
        cell.close()
    assert (cell.index, cell.compiling) == (-1, None)


def test_a_cell_without_seals_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    cell = Cell()
    worker = Progress(cell.descriptor)
    try:
        worker.set(3)
        assert cell.index == 3
        os.ftruncate(cell.descriptor, 0)
        assert (cell.index, cell.compiling) == (-1, None)  # and no SIGBUS
    finally:
        worker.close()
        cell.close()


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


def test_a_lock_that_is_never_let_go_of_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with path.open("w") as held, path.open("w") as wanted:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert not jit._lock(wanted.fileno(), 0.05)
        fcntl.flock(held, fcntl.LOCK_UN)
        assert jit._lock(wanted.fileno(), 0.05)


def test_a_file_system_without_locks_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(descriptor: int, operation: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refusing)
    with (tmp_path / "lock").open("w") as file:
        assert not jit._lock(file.fileno(), 60.0)


def test_a_folder_of_its_own_gets_what_is_compiled_already(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, own = tmp_path / "ours", tmp_path / "own"
    (ours / "module").mkdir(parents=True)
    for name in ("a.f-1.py311.nbi", "a.f-1.py311.1.nbc", "a.g-9.py311.1.nbc"):
        (ours / "module" / name).write_text(name)
    index = own / "module" / "a.f-1.py311.nbi"
    monkeypatch.setenv(caches.COMPILED, str(own))
    jit._copy_ours(index)  # there is nothing to be copied from
    assert not own.exists()
    monkeypatch.setenv(caches.OURS, str(ours))
    jit._copy_ours(index)
    assert {path.name for path in index.parent.iterdir()} == {index.name, "a.f-1.py311.1.nbc"}
    index.write_text("newer")
    jit._copy_ours(index)
    assert index.read_text() == "newer"
