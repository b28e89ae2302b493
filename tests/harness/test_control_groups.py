"""Limits by control groups, on a folder that looks like the kernel's file system of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpora.vocabularies import sources
from harness.core.messages import Load, packed
from harness.core.outcomes import Status
from harness.workers import Limits, confined, control_groups
from harness.workers.control_groups import PREFIX, SPARE, controllers, limits, new, said
from harness.workers.keeping import Kept
from harness.workers.process import Process, WorkerDied
from impls.interface import Mode

MEMORY = 1 << 30
HARNESS = f"{PREFIX}{os.getpid()}-harness"


class Groups:
    """A group with this process alone in it, by default; what is written to it is read back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir()
        self.write("cgroup.kill", "")
        self.write("cgroup.controllers", "cpu memory pids\n")
        self.write("cgroup.subtree_control", "\n")
        self.write("cgroup.procs", f"{os.getpid()}\n")

    def write(self, name: str, text: str) -> None:
        (self.path / name).write_text(text)

    def read(self, name: str) -> str:
        return (self.path / name).read_text()


@pytest.fixture
def groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Groups]:
    made = Groups(tmp_path / "group")
    monkeypatch.setattr(control_groups, "own", lambda: made.path)
    monkeypatch.setattr(control_groups, "_ours", lambda path: True)
    monkeypatch.setattr(control_groups, "_marked", lambda path: True)
    # What the kernel removes as one, this file system does not.
    monkeypatch.setattr(control_groups, "EMPTYING_SECONDS", 0.0)
    for cached in (control_groups.delegated, controllers):
        cached.cache_clear()
    yield made
    for cached in (control_groups.delegated, controllers):
        cached.cache_clear()


def test_each_worker_is_limited_by_more_than_it_may_take(groups: Groups) -> None:
    one, other = new(MEMORY), new()
    assert one is not None and other is not None and one != other
    assert int((one / "memory.max").read_text()) == MEMORY * (1 + SPARE)
    assert (one / "memory.oom.group").read_text() == "1"
    assert int((one / "pids.max").read_text()) >= control_groups.TASKS
    assert not (other / "memory.max").exists()  # nobody said how much it may take
    assert said() == "each in a control group with memory.max, pids.max"
    assert confined.line(MEMORY).endswith(f"; {said()}")


def test_the_harness_makes_room_once(groups: Groups) -> None:
    new(MEMORY)
    assert groups.read("cgroup.subtree_control") == "+memory +pids"
    assert groups.read(f"{HARNESS}/cgroup.procs") == "0"  # that is the process that writes
    groups.write("cgroup.subtree_control", "memory pids\n")
    groups.write(f"{HARNESS}/cgroup.procs", "")
    new(MEMORY)
    assert groups.read("cgroup.subtree_control") == "memory pids\n"
    assert groups.read(f"{HARNESS}/cgroup.procs") == ""


def test_what_is_handed_down_already_is_used(groups: Groups) -> None:
    groups.write("cgroup.subtree_control", "memory pids\n")
    groups.write("cgroup.procs", "")
    made = new(MEMORY)
    assert made is not None and (made / "memory.max").exists()
    assert not (groups.path / HARNESS).exists()


@pytest.mark.parametrize("why", ["others", "not marked"])
def test_nobody_is_moved_who_is_not_ours(
    groups: Groups, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "others":
        groups.write("cgroup.procs", f"1\n{os.getpid()}\n")
    else:
        monkeypatch.setattr(control_groups, "_marked", lambda path: False)
    before = groups.read("cgroup.procs")
    made = new(MEMORY)
    assert made is not None and list(made.iterdir()) == []
    assert groups.read("cgroup.procs") == before
    assert groups.read("cgroup.subtree_control") == "\n"
    assert not (groups.path / HARNESS).exists()
    assert said() == ""
    assert "control group" not in confined.line(MEMORY)


def test_a_kernel_that_refuses_has_it_as_before(groups: Groups) -> None:
    (groups.path / "cgroup.subtree_control").unlink()
    (groups.path / "cgroup.subtree_control").mkdir()  # nothing can be written to it
    made = new(MEMORY)
    assert made is not None and list(made.iterdir()) == []
    assert groups.read("cgroup.procs") == "0"  # it has moved back
    assert said() == ""


def test_a_machine_with_one_of_the_two_limits_that(groups: Groups) -> None:
    groups.write("cgroup.controllers", "cpu pids\n")
    made = new(MEMORY)
    assert made is not None and [path.name for path in made.iterdir()] == ["pids.max"]
    assert said() == "each in a control group with pids.max"


def test_a_machine_without_groups_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_groups, "own", lambda: None)
    control_groups.delegated.cache_clear()
    assert new(MEMORY) is None
    assert said() == ""
    control_groups.delegated.cache_clear()
    assert limits(frozenset(), MEMORY) == {}


def test_a_worker_is_in_its_group_and_ended_by_it(groups: Groups) -> None:
    made = Kept(
        [sys.executable, "-c", ""],
        descriptors=(),
        environment={},
        errors=subprocess.DEVNULL,
        memory=MEMORY,
    )
    (group,) = (path for path in groups.path.iterdir() if path.is_dir() and path.name != HARNESS)
    made.wait(60)
    made.end()
    assert (group / "cgroup.procs").read_text() == "0"
    assert (group / "cgroup.kill").read_text() == "1"
    assert not made.over


KILLED = """
import os
from impls.interface import About

class Killed:
    about = About(name="killed", version="1")
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary): os.kill(os.getpid(), 9)
    def encode(self, data, mode): return list(data)
"""


@pytest.mark.parametrize(
    ("kills", "status"), [(1, Status.OUT_OF_MEMORY), (0, Status.CRASHED)], ids=["kernel", "itself"]
)
def test_whom_the_kernel_ends_for_memory_has_run_out_of_it(
    groups: Groups, kills: int, status: Status, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(memory: int | None = None) -> Path | None:
        path = new(memory)
        assert path is not None
        (path / "memory.events").write_text(f"low 0\nmax 7\noom_kill {kills}\n")
        return path

    monkeypatch.setattr("harness.workers.keeping.control_groups.new", made)
    (tmp_path / "killed.py").write_text(KILLED)
    spec = f"{tmp_path / 'killed.py'}:Killed"
    process = Process(Limits(), {}, spec=spec)
    content = packed(sources.resolve("toy_bytes"))
    with pytest.raises(WorkerDied) as died:
        process.ask(Load(spec, content, (Mode(pretokenize=False),)), 60.0, loading=True)
    process.close()
    assert died.value.outcome.status is status
