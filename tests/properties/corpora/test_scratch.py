"""What killed processes left goes at the next start; what living ones use never does."""

import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from corpora import whole_files
from corpora.vocabularies import scratch
from tests.doubles.command import python

HOLDER = """
import sys, time
from corpora.vocabularies import scratch
(scratch.folder() / "worker-x").mkdir()
print(scratch.folder(), flush=True)
sys.stdin.read()
"""


def holder(where):
    """A process with a folder of its own in ``where``, which lives until its input ends."""
    running = subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(where)},
    )  # fmt: skip
    return running, Path(running.stdout.readline().strip())


def killed(where):
    """The folder that a killed process left."""
    running, folder = holder(where)
    running.kill()
    running.communicate()
    assert (folder / "worker-x").is_dir()
    return folder


def nested(folder, levels):
    """Make so many folders within one another, more than a path or Python's stack can have."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_folders_of_killed_processes_go_and_those_of_living_ones_stay(tmp_path):
    running, folder = holder(tmp_path)
    assert folder.parent == tmp_path
    left = killed(tmp_path)
    nested(left, 3000)
    os.kill(running.pid, signal.SIGSTOP)  # it lives, though it does nothing
    assert scratch.sweep(tmp_path) == [left]
    os.kill(running.pid, signal.SIGCONT)
    assert folder.is_dir() and not left.exists()
    running.communicate()
    assert running.returncode == 0
    assert not folder.exists()  # it goes with its process
    assert scratch.sweep(tmp_path / "nowhere") == []


def test_a_new_process_sweeps(tmp_path, monkeypatch):
    killed(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = scratch.folder()
    assert own == scratch.folder()
    assert [*tmp_path.iterdir()] == [own]
    assert own.stat().st_mode & 0o777 == 0o700


def test_what_is_not_ours_stays(tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    (kept / "worker-x").mkdir(parents=True)
    (kept / scratch.OWNER).write_text("1")
    (tmp_path / f"{scratch.PREFIX}link").symlink_to(kept)
    (tmp_path / f"{scratch.PREFIX}file").write_text("")
    link = (kept / scratch.OWNER).resolve()
    for name, make in (
        ("dir", Path.mkdir), ("fifo", os.mkfifo), ("linked", lambda path: path.symlink_to(link)),
    ):  # fmt: skip
        odd = tmp_path / f"{scratch.PREFIX}{name}"
        odd.mkdir()
        make(odd / scratch.OWNER)
    before = sorted(tmp_path.rglob("*"))
    assert scratch.sweep(tmp_path) == []
    assert sorted(tmp_path.rglob("*")) == before

    dead = tmp_path / f"{scratch.PREFIX}dead"
    dead.mkdir()
    (dead / scratch.OWNER).write_text("1")
    monkeypatch.setattr(os, "geteuid", lambda: dead.stat().st_uid + 1)
    assert scratch.sweep(tmp_path) == []  # another user's
    monkeypatch.undo()
    assert scratch.sweep(tmp_path) == [dead]


def test_a_folder_that_is_being_made_stays(tmp_path):
    new = scratch._new(tmp_path)
    old = tmp_path / f"{scratch.PREFIX}old"  # its maker was killed at it
    old.mkdir()
    (old / ".owner").write_text("")
    assert scratch.sweep(tmp_path) == [old]
    descriptor = scratch._own(new)
    assert scratch.sweep(tmp_path) == []
    os.close(descriptor)
    assert scratch.sweep(tmp_path) == [new]


def test_removal_is_deep_follows_no_link_and_heeds_no_mode(tmp_path):
    with scratch.temporary("deep-") as name:
        nested(Path(name), 3000)
    assert not Path(name).exists()
    kept, going = tmp_path / "kept", tmp_path / "going"
    (kept / "below").mkdir(parents=True)
    (going / "closed" / "within").mkdir(parents=True)
    (going / "link").symlink_to(kept)
    (going / "closed").chmod(0)
    assert scratch.remove(going)
    (tmp_path / "link").symlink_to(kept)
    assert not scratch.remove(tmp_path / "link")
    assert (kept / "below").is_dir()
    assert scratch.remove(tmp_path / "nothing")


# Files that are there whole or not at all

KILLED = """
import os, signal, sys
from pathlib import Path
from corpora import whole_files
os.replace = lambda *given: os.kill(os.getpid(), signal.SIGKILL)
whole_files.write(Path(sys.argv[1]), b"new")
"""


def test_the_part_of_a_killed_writer_goes_with_the_next_write(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    ended = python("-c", KILLED, str(path))
    assert ended.returncode == -9
    assert path.read_bytes() == b"old"
    (part,) = (one for one in tmp_path.iterdir() if one != path)
    assert whole_files.PART.fullmatch(part.name)
    whole_files.write(tmp_path / "other", b"x")
    assert {one.name for one in tmp_path.iterdir()} == {"file", "other"}
    modes = {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    assert len(modes) == 1, "as readable as any other"


def test_what_is_no_part_or_is_being_written_stays(tmp_path):
    names = [".hidden", "file.part", ".file.short.part", ".file.toolongforit.part"]
    for name in names:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".link.12345678.part").symlink_to(tmp_path / ".hidden")
    part, descriptor = whole_files._locked_part(tmp_path / "file")
    assert whole_files.sweep(tmp_path) == []
    os.close(descriptor)
    assert whole_files.sweep(tmp_path) == [part]
    assert {one.name for one in tmp_path.iterdir()} == {*names, ".link.12345678.part"}


def test_a_part_that_was_swept_before_it_was_locked_is_made_again(tmp_path, monkeypatch):
    real, swept = whole_files.fcntl.flock, []

    def late(descriptor, how):
        if not swept:
            swept.extend(tmp_path.iterdir())
            swept[0].unlink()
        real(descriptor, how)

    monkeypatch.setattr(whole_files.fcntl, "flock", late)
    whole_files.write(tmp_path / "file", b"x")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_threads_write_one_file_and_a_write_that_fails_leaves_nothing(tmp_path):
    path, contents = tmp_path / "file", [bytes([n]) * 5000 for n in range(8)]
    threads = [threading.Thread(target=whole_files.write, args=(path, one)) for one in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError):
        whole_files.write(path, b"x")
    assert list(tmp_path.iterdir()) == [path]


def test_finding_the_folder_writes_nothing(tmp_path):
    """A kill in that moment would leave what ``tempfile`` writes to try a folder."""
    look = "import sys; from corpora.vocabularies import scratch; sys.addaudithook("
    look += "lambda name, given: print(given[0]) if name == 'open' and given[2] & 1 else None); "
    look += "print(scratch.system_folder())"
    done = python("-c", look, TMPDIR=str(tmp_path))
    assert done.stdout.splitlines() == [str(tmp_path)]
