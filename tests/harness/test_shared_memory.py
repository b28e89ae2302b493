"""What workers make in ``/dev/shm`` is seen by nobody else and goes with them, where it can."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.confinement import probing
from harness.confinement.plan import SHARED_MEMORY, SHARED_MEMORY_BYTES, Plan, sentence, shortfall
from harness.core.outcomes import Encoded
from harness.engine.selection import participants
from harness.workers.keeping import Kept
from tests.harness.test_confinement import ROOT, Fake, answered, applied

OWN = probing.held_here().own_memory
OWNED = pytest.mark.skipif(not OWN, reason="no name spaces of mounts here")

PLUGIN = """
import os
from pathlib import Path
from impls.interface import About

FOLDER = Path({folder!r})

class Sharing:
    about = About(name="sharing", version="1")
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary): return self
    def encode(self, data, mode):
        if data == b"new":
            (Path("/dev/shm") / {name!r}).write_text("left to lie there")
        if data == b"old":
            (FOLDER / "written").write_text((FOLDER / "read").read_text())
        if data == b"size":
            status = os.statvfs("/dev/shm")
            return [status.f_blocks * status.f_frsize]
        return [int(os.path.exists("/dev/shm/{name}"))]

class Declares(Sharing):
    about = About(name="declares", version="1", needs=("write:/dev/shm",))
"""


@pytest.fixture
def name() -> Iterator[str]:
    """A name in the shared memory of this machine, where nothing may stay."""
    word = f"tokgate-test-{secrets.token_hex(8)}"
    yield word
    path = Path(SHARED_MEMORY, word)
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def spec(folder: Path, name: str, attribute: str, shown: str = "") -> str:
    path = folder / "sharing.py"
    path.write_text(PLUGIN.format(name=name, folder=shown))
    return f"{path}:{attribute}"


@OWNED
def test_what_a_worker_makes_is_seen_by_it_alone_and_goes(tmp_path: Path, name: str) -> None:
    present, _ = participants([spec(tmp_path, name, "Sharing")])
    assert answered(present, b"new") == {b"new": Encoded((1,))}  # its worker has ended
    assert not Path(SHARED_MEMORY, name).exists()
    assert answered(present, b"again") == {b"again": Encoded((0,))}
    assert answered(present, b"size") == {b"size": Encoded((SHARED_MEMORY_BYTES,))}


@OWNED
def test_what_is_there_before_stays_in_its_place(tmp_path: Path, name: str) -> None:
    folder = Path(SHARED_MEMORY, name)  # such as TMPDIR, which may be there
    folder.mkdir()
    (folder / "read").write_text("read")
    present, _ = participants([spec(tmp_path, "x" + name, "Sharing", str(folder))])
    assert answered(present, b"old") == {b"old": Encoded((0,))}
    assert (folder / "written").read_text() == "read"


def test_who_declares_it_shares_it_with_all(tmp_path: Path, name: str) -> None:
    present, _ = participants([spec(tmp_path, name, "Declares")])
    assert answered(present, b"new") == {b"new": Encoded((1,))}
    assert Path(SHARED_MEMORY, name).exists()


NOBODY = """
import os, sys
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as dumpable as if it had been started by that user
from harness.confinement.applying import apply
from harness.confinement.plan import Plan
held = apply(Plan(network=False, writable=("/dev/shm",), own_memory=True))
open(sys.argv[1], "w").close()
capable = [line.split()[1] for line in open("/proc/self/status") if line.startswith("CapEff")]
print(held.own_memory, os.getuid(), int(capable[0], 16))
"""


@OWNED
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_without_privileges_has_it_and_gains_none(tmp_path: Path, name: str) -> None:
    # The modules are where anybody may read them; the interpreter is open by then.
    shutil.copytree(ROOT / "harness" / "confinement", tmp_path / "harness" / "confinement")
    code = f"import sys, ctypes, struct, json, platform, resource\nsys.path[0] = {str(tmp_path)!r}"
    code += "\nfrom harness.confinement import applying" + NOBODY
    path = Path(SHARED_MEMORY, name)
    done = subprocess.run(
        [sys.executable, "-S", "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"]},
    )
    if done.stdout.startswith("False"):
        pytest.skip("no name spaces of users here")
    assert done.stdout == "True 65534 0\n", done.stderr
    assert not path.exists()


OPENING = """
import mmap, os, sys, time
kept = []
for path, how in zip(sys.argv[2::2], sys.argv[3::2]):
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR)
    os.ftruncate(descriptor, 4096)
    if how == "mapped":
        kept.append(mmap.mmap(descriptor, 4096))
    if how != "open":
        os.close(descriptor)
os.write(int(sys.argv[1]), b"x")
time.sleep(600)
"""


def opened(*paths: tuple[Path, str]) -> Kept:
    """A kept process, not confined, that has these files open, mapped, or closed again by now."""
    inlet, outlet = os.pipe()
    given = [str(word) for pair in paths for word in pair]
    made = Kept(
        [sys.executable, "-c", OPENING, str(outlet), *given],
        descriptors=(outlet,),
        environment={},
        errors=subprocess.DEVNULL,
    )
    os.close(outlet)
    assert os.read(inlet, 1) == b"x"
    os.close(inlet)
    return made


@pytest.mark.parametrize("gently", [True, False])
def test_what_is_open_in_the_shared_one_goes_with_who_made_it(name: str, gently: bool) -> None:
    mapped, still_open = Path(SHARED_MEMORY, name), Path(SHARED_MEMORY, f"{name}-open")
    made = opened((mapped, "mapped"), (still_open, "open"))
    assert mapped.exists() and still_open.exists()
    made.end(gently=gently)
    assert not mapped.exists() and not still_open.exists()


def test_what_may_be_of_others_stays(name: str) -> None:
    before, used, closed = (Path(SHARED_MEMORY, name + word) for word in ("", "-used", "-closed"))
    try:
        before.touch()
        made = opened((before, "mapped"), (used, "mapped"), (closed, "closed"))
        with used.open():  # by this process, which is none of that family
            made.end()
        assert before.exists() and used.exists() and closed.exists()
    finally:
        used.unlink(missing_ok=True)
        closed.unlink(missing_ok=True)


def test_a_kernel_that_refuses_it_is_no_shortfall() -> None:
    kernel = Fake(7, {"own memory": errno.EPERM})
    held = applied(kernel, Plan(network=False, writable=(), own_memory=True))
    assert not held.own_memory
    assert held.files == 7 and held.network == "seccomp"
    assert shortfall(held) is None
    assert SHARED_MEMORY not in sentence(held, 1 << 30)


def test_it_is_asked_for_before_mounts_are_refused_and_only_where_it_is_planned() -> None:
    kernel = Fake(7)
    held = applied(kernel, Plan(network=False, writable=(), own_memory=True))
    assert kernel.asked.index("own memory") < kernel.asked.index("restrict")
    assert "/dev/shm of their own" in sentence(held, 1 << 30)
    kernel = Fake(7)
    assert not applied(kernel, Plan(network=False, writable=())).own_memory
    assert "own memory" not in kernel.asked
