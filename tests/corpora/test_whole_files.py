"""Files are there whole or not at all, and parts of killed writers go."""

import os
import stat
import subprocess
import sys
import threading

import pytest

from corpora import whole_files

KILLED = """
import os, signal, sys
from pathlib import Path
from corpora import whole_files
real = os.replace
def dies(*given):
    os.kill(os.getpid(), signal.SIGKILL)
os.replace = dies
whole_files.write(Path(sys.argv[1]), b"new")
"""


def killed_at_the_rename(path):
    ended = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, timeout=60)
    assert ended.returncode == -9


def test_the_part_of_a_killed_writer_goes_with_the_next_write(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    killed_at_the_rename(path)
    assert path.read_bytes() == b"old"
    (part,) = (one for one in tmp_path.iterdir() if one != path)
    assert whole_files.PART.fullmatch(part.name)
    whole_files.write(tmp_path / "other", b"x")
    assert {one.name for one in tmp_path.iterdir()} == {"file", "other"}


def test_a_part_that_is_being_written_stays(tmp_path):
    part, descriptor = whole_files._locked_part(tmp_path / "file")
    assert whole_files.sweep(tmp_path) == []
    os.close(descriptor)
    assert whole_files.sweep(tmp_path) == [part]


def test_what_is_no_part_stays(tmp_path):
    names = [".hidden", "file.part", ".file.short.part", ".file.toolongforit.part"]
    for name in names:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".link.12345678.part").symlink_to(tmp_path / ".hidden")
    assert whole_files.sweep(tmp_path) == []
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


def test_threads_write_one_file_without_disturbing_one_another(tmp_path):
    path = tmp_path / "file"
    contents = [bytes([n]) * 5000 for n in range(8)]
    threads = [threading.Thread(target=whole_files.write, args=(path, one)) for one in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in contents
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_as_readable_as_any_other(tmp_path):
    whole_files.write(tmp_path / "file", b"x")
    (tmp_path / "other").write_text("x")
    modes = {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    assert len(modes) == 1


def test_a_write_that_fails_leaves_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError):
        whole_files.write(tmp_path / "folder", b"x")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]
