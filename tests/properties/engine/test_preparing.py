"""The cell in which a process says what it is at, and functions that several want compiled."""

import errno
import fcntl
import os
from contextlib import closing

import pytest

from corpora.vocabularies import caches
from harness.workers.cell import Cell, Progress
from impls.compiled import jit


@pytest.fixture
def cell():
    with closing(Cell()) as made:
        yield made


def test_what_a_process_is_at_travels_through_the_cell(cell):
    progress = Progress(cell.descriptor)
    progress.set(3)
    progress.compile(True)
    assert cell.said == (3, True)
    progress.compile(False)
    assert cell.said == (3, False)
    progress.set(-(2**62))
    assert cell.said == (-1, False)
    progress.close()
    progress.compile(True)  # a compiler may end later than the process serves
    cell.close()
    assert cell.said == (-1, False)


def test_a_cell_that_was_cut_off_says_nothing(cell):
    with closing(Progress(cell.descriptor)) as progress:
        progress.set(3)
        assert cell.said == (3, False)
        os.ftruncate(cell.descriptor, 0)
        assert cell.said == (-1, False)  # and no SIGBUS


def test_a_lock_that_is_never_let_go_of_is_not_waited_for(tmp_path):
    path = tmp_path / "lock"
    with path.open("w") as held, path.open("w") as wanted:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert not jit._lock(wanted.fileno(), 0.05)
        fcntl.flock(held, fcntl.LOCK_UN)
        assert jit._lock(wanted.fileno(), 0.05)


def test_a_file_system_without_locks_is_no_error(tmp_path, monkeypatch):
    def refusing(descriptor, operation):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", refusing)
    with (tmp_path / "lock").open("w") as file:
        assert not jit._lock(file.fileno(), 60.0)


def test_a_folder_of_its_own_gets_what_is_compiled_already(tmp_path, monkeypatch):
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
