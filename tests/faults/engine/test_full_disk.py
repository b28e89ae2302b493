"""A full disk is one line that names the path and the mend, status 2, and no half of a file."""

import contextlib
import errno
import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from harness.core.output import Lines, OutputError, cannot_write, write_whole, writing
from tests.doubles.command import TOKGATE, here

RUN = (
    "run --vocab toy_runs --impl tiktoken "
    "--impl harness.studies.selftest.catalog:merging.rightmost-tie --budget 300cases"
)

COMMANDS = {
    "run": (RUN, "16k", "256k"),
    "ledger": (f"{RUN} --ledger {{disk}}/runs.db", "4k"),
    "fuzz": (RUN.replace("run", "fuzz", 1) + " --no-coverage --no-structured", "64k"),
    "bench": ("bench --vocab toy_runs --impl bpe.naive --input one-piece --size 1KB --rounds 1 "
              "--cold 0", "4k"),
    "forced": ("forced own --limit 3 --vocab tekken_240911 --policy none", "4k"),
    "adversary": ("adversary --vocab toy_runs --budget 20cases", "4k"),
    "worst": ("worst --impl bpe.heap --vocab toy_bytes --budget 4s --no-keep", "4k"),
    "selftest": ("selftest --mutant merging.* --budget 5s", "4k"),
}  # fmt: skip
"""By name: a command, and sizes of disks on which it cannot end."""

THOROUGH = pytest.mark.thorough
"""Of a command that runs whole."""

QUICK = {("ledger", "4k")}
CASES = [
    pytest.param(name, size, id=f"{name}-{size}", marks=() if (name, size) in QUICK else THOROUGH)
    for name, (_, *sizes) in COMMANDS.items()
    for size in sizes
]


def on_a_small_disk(disk, size, command):
    """Run a command where ``disk`` is a file system of this size; copy what is there at the end.

    The file system is gone with the command, as is the name space that it was mounted in.
    """
    mount = f"mount -t tmpfs -o size={size} none {shlex.quote(str(disk))}"
    script = (
        f"{mount} || exit 99; {shlex.join(command)}; status=$?; "
        f"cp -a {shlex.quote(str(disk))}/. {shlex.quote(str(disk))}.left; exit $status"
    )
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="session")
def mounts(tmp_path_factory):
    disk = tmp_path_factory.mktemp("disk")
    try:
        done = on_a_small_disk(disk, "4k", ["true"])
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if done.returncode != 0:
        pytest.skip(f"nothing can be mounted here: {done.stderr}")


@pytest.mark.usefixtures("mounts")
@pytest.mark.parametrize(("name", "size"), CASES)
def test_a_small_disk(name, size, tmp_path):
    disk, left = tmp_path / "disk", tmp_path / "disk.left"
    disk.mkdir()
    command = COMMANDS[name][0].format(disk=disk)
    out = tmp_path / "out" if name == "ledger" else disk / "out"
    done = on_a_small_disk(disk, size, [TOKGATE, *shlex.split(command), "--out", str(out)])

    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith("tokgate: ")
    assert str(disk) in last or "--ledger" in last
    assert "make room there" in last
    assert done.stderr.count("make room") == 1
    for path in left.rglob("*"):
        assert not path.name.startswith(".")
        assert path.suffix != ".part"
        if path.suffix == ".jsonl":
            assert all(json.loads(line) for line in path.read_text().split("\n")[:-1])
            assert path.read_text()[-1:] in ("", "\n")
        elif path.suffix == ".json":
            json.loads(path.read_text())


FULL = Path("/dev/full")


@pytest.mark.thorough  # whole commands
@pytest.mark.parametrize(
    ("line", "mend", "streams"),
    [
        (f"{TOKGATE} list vocabs", "make room there", {"stdout": FULL}),
        (f"{TOKGATE} list families --json", "make room there", {"stdout": FULL}),
        (f"{TOKGATE} report nowhere", None, {"stderr": FULL}),
        (f"ulimit -f 1; exec {TOKGATE} {COMMANDS['bench'][0]}", "ulimit -f", {}),
    ],
)
def test_whatever_is_full_is_told_in_one_line(line, mend, streams, tmp_path):
    with contextlib.ExitStack() as opened:
        given = {name: opened.enter_context(path.open("w")) for name, path in streams.items()}
        given = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, **given}
        done = subprocess.run(["sh", "-c", line], cwd=tmp_path, text=True, check=False, **given)
    assert done.returncode == 2, done.stderr
    if mend is not None:
        assert mend in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
        assert not streams or len(done.stderr.splitlines()) == 1


def fail_after(monkeypatch, room):
    """Let a disk have room for so many bytes."""
    real = os.write

    def write(descriptor, data):
        nonlocal room
        if room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        done = real(descriptor, memoryview(data)[:room])
        room -= done
        return done

    monkeypatch.setattr(os, "write", write)


@pytest.mark.parametrize("room", [0, 5, 6, 7])
def test_lines_are_whole_at_any_point(room, tmp_path, monkeypatch):
    lines = Lines(tmp_path / "record", afresh=True)
    fail_after(monkeypatch, room)
    with pytest.raises(OutputError, match="record: No space left on device; make room there"):
        for _ in range(3):
            lines.add("12345")
    monkeypatch.undo()
    assert (tmp_path / "record").read_text() == "12345\n" * (room // 6)
    lines.add("67890")  # there is room again
    lines.close()
    lines.close()
    assert (tmp_path / "record").read_text() == "12345\n" * (room // 6) + "67890\n"
    with pytest.raises(OutputError, match="is closed"):
        lines.add("more")


def full(*arguments, **options):
    """Anything that finds no room."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere")


@pytest.mark.parametrize("step", ["os.open", "os.fdopen", "pathlib.Path.replace"])
def test_what_was_there_stays_whole(step, tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, "before")
    monkeypatch.setattr(step, full)
    with pytest.raises(OutputError, match=r"^[^\n]*make room there$"):
        write_whole(path, "after")
    monkeypatch.undo()
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_a_file_has_the_rights_of_its_neighbours(tmp_path):
    old = os.umask(0o027)
    try:
        write_whole(tmp_path / "file", b"\xff")
        lines = Lines(tmp_path / "lines", afresh=True)
        lines.close()
    finally:
        os.umask(old)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "lines").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "file").read_bytes() == b"\xff"


def test_the_mend_is_that_of_the_fault():
    def told(number):
        return str(cannot_write("x", OSError(number, os.strerror(number))))

    assert told(errno.EACCES) == "x: Permission denied; name a writable folder"
    assert "quota" in told(errno.EDQUOT)
    with pytest.raises(OutputError, match=r"^/somewhere: "), writing("the-folder"):
        full()


def test_a_full_disk_anywhere_is_one_line(monkeypatch):
    monkeypatch.setattr("harness.cli.commands.report.recorded", full)
    done = here("report")
    assert done.returncode == 2
    assert done.stderr == "tokgate: /somewhere: No space left on device; make room there\n"
