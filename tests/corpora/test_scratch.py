"""Temporary folders of killed runs go at the next start, those of living ones never."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from corpora.vocabularies import scratch
from tests.harness.command import TOKGATE

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
    assert running.stdout is not None
    return running, Path(running.stdout.readline().strip())


def test_the_folder_of_a_living_process_stays(tmp_path):
    running, folder = holder(tmp_path)
    assert folder.parent == tmp_path
    assert scratch.sweep(tmp_path) == []
    assert folder.is_dir()
    os.kill(running.pid, signal.SIGSTOP)  # it lives, though it does nothing
    assert scratch.sweep(tmp_path) == []
    os.kill(running.pid, signal.SIGCONT)
    running.communicate()
    assert running.returncode == 0
    assert not folder.exists()  # it goes with its process


def test_the_folder_of_a_killed_process_goes(tmp_path):
    living, other = holder(tmp_path)
    running, folder = holder(tmp_path)
    running.kill()
    running.communicate()
    assert (folder / "worker-x").is_dir()
    assert scratch.sweep(tmp_path) == [folder]
    assert not folder.exists()
    assert other.is_dir()
    living.communicate()


def test_a_new_process_sweeps(tmp_path, monkeypatch):
    running, left = holder(tmp_path)
    running.kill()
    running.communicate()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    own = scratch.folder()
    assert own == scratch.folder()
    assert not left.exists()
    assert [path.name for path in tmp_path.iterdir()] == [own.name]
    assert own.stat().st_mode & 0o777 == 0o700


def test_what_is_not_ours_stays(tmp_path, monkeypatch):
    kept = tmp_path / "kept"
    (kept / "worker-x").mkdir(parents=True)
    (kept / scratch.OWNER).write_text("1")
    (tmp_path / f"{scratch.PREFIX}link").symlink_to(kept)
    (tmp_path / f"{scratch.PREFIX}file").write_text("")
    for name, make in (("dir", Path.mkdir), ("fifo", os.mkfifo)):
        odd = tmp_path / f"{scratch.PREFIX}{name}"
        odd.mkdir()
        make(odd / scratch.OWNER)
    linked = tmp_path / f"{scratch.PREFIX}linked"
    linked.mkdir()
    (linked / scratch.OWNER).symlink_to(kept / scratch.OWNER)
    (tmp_path / "tokgate-other").mkdir()
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
    assert new.is_dir()
    descriptor = scratch._own(new)
    assert scratch.sweep(tmp_path) == []
    os.close(descriptor)
    assert scratch.sweep(tmp_path) == [new]


def test_a_folder_that_is_not_there_is_no_error(tmp_path):
    assert scratch.sweep(tmp_path / "nowhere") == []


@pytest.mark.thorough  # a whole run
def test_a_killed_run_leaves_nothing_for_long(tmp_path):
    """As it happens: the command is killed with its workers at work, and another one starts."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [TOKGATE, "run", "--vocab=toy_runs", "--impl=tiktoken", "--impl=bpe.naive"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        [*command, "--budget=60s", f"--out={tmp_path / 'a'}"], env=environment,
        stderr=subprocess.DEVNULL,
    ) as running:  # fmt: skip
        deadline = time.monotonic() + 60
        while not list(temporary.glob("*/worker-*")) and time.monotonic() < deadline:
            time.sleep(0.05)
        running.kill()
    (left,) = temporary.iterdir()
    assert list(left.glob("worker-*"))
    done = subprocess.run(
        [*command, "--budget=10cases", "--check=equivalence", f"--out={tmp_path / 'b'}"],
        env=environment, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not left.exists()
    assert list(temporary.glob(f"{scratch.PREFIX}*")) == []


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


def test_a_folder_of_any_depth_is_removed(tmp_path):
    with scratch.temporary("deep-") as name:
        nested(Path(name), 3000)
    assert not Path(name).exists()
    nested(tmp_path, 3000)
    assert scratch.remove(tmp_path)


def test_a_deep_folder_of_a_killed_process_is_swept(tmp_path):
    running, folder = holder(tmp_path)
    nested(folder, 3000)
    running.kill()
    running.communicate()
    assert scratch.sweep(tmp_path) == [folder]
    assert not folder.exists()


def test_removal_follows_no_link_and_heeds_no_mode(tmp_path):
    kept, going = tmp_path / "kept", tmp_path / "going"
    (kept / "below").mkdir(parents=True)
    (going / "closed" / "within").mkdir(parents=True)
    (going / "link").symlink_to(kept)
    (going / "closed").chmod(0)
    assert scratch.remove(going)
    assert (kept / "below").is_dir()
    (tmp_path / "link").symlink_to(kept)
    assert not scratch.remove(tmp_path / "link")
    assert (kept / "below").is_dir()
    assert scratch.remove(tmp_path / "nothing")
