"""Workers that are copies of one process: what they answer, how they end, and who is none."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from corpora.vocabularies import sources
from harness.core.messages import Encode, Load, Loaded, packed
from harness.core.outcomes import Inputs, Outcome, Results, Status
from harness.engine import selection
from harness.workers import Limits, Worker, rows
from harness.workers.fork_server import ANSWER, LONGEST
from harness.workers.forking import Copy, ForkServer, shared_server
from harness.workers.pool import WorkerPool
from harness.workers.process import Process, WorkerDied
from impls.external import IN_WORKER
from impls.interface import Mode

HANG_SECONDS = 120
OURS = "bpe.naive"
PLAIN = Mode(pretokenize=False)
INPUTS = Inputs.of([b"abracadabra", b"", b"\xff"])


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    made = ForkServer()
    yield made
    made.close()


def begun(server: ForkServer | None, **environment: str) -> Process:
    name = "PYTEST_CURRENT_TEST"  # changes with each test, and would tell the environments apart
    if server is not None:
        server._environment[name] = os.environ[name]
    return Process("harness.workers.server", 1 << 32, environment, server=server)


def loaded(process: Process) -> dict[str, str]:
    """Load a vocabulary; what confines the process, by the kernel's word."""
    content = packed(sources.resolve("toy_bytes"))
    answer = process.ask(Load(OURS, content, (PLAIN,)), 60.0, Loaded)
    assert answer.error is None
    lines = Path(f"/proc/{child_of(process).pid}/status").read_text().splitlines()
    said = dict(line.split(":", 1) for line in lines)
    return {name: said[name] for name in ("NoNewPrivs", "Seccomp", "Seccomp_filters")}


def answers(process: Process) -> list[Outcome]:
    return rows(process.ask(Encode(INPUTS, PLAIN), 60.0, Results, len(INPUTS)))


def child_of(process: Process) -> psutil.Process:
    (found,) = psutil.Process(process._kept.pid).children()
    return found


def test_a_copy_is_as_one_that_was_started_anew(server: ForkServer) -> None:
    copy, anew = begun(server), begun(None)
    try:
        assert isinstance(copy._kept._popen, Copy) and not isinstance(anew._kept._popen, Copy)
        assert loaded(copy) == loaded(anew)
        assert answers(copy) == answers(anew)
        one, other = child_of(copy), child_of(anew)
        # By this word its whole family is found where its keeper was killed.
        assert one.environ()[IN_WORKER] == copy._kept._word
        # Numpy begins one beside it where it is imported, which no copy has.
        assert one.num_threads() == other.num_threads() - 1
        # It has what it inherits and what it has opened, and nothing of another's.
        assert sorted(map(kind, descriptors(one))) == sorted(map(kind, descriptors(other)))
        assert os.getsid(one.pid) == one.pid and os.getsid(copy._kept.pid) == copy._kept.pid
    finally:
        left = copy.close()
        anew.close()
    assert left is None


def descriptors(process: psutil.Process) -> list[str]:
    folder = Path(f"/proc/{process.pid}/fd")
    return [str(path.readlink()) for path in folder.iterdir()]


def kind(target: str) -> str:
    """What a descriptor leads to, without numbers that are another process's."""
    return re.split("[0-9:]", target)[0]


def test_how_a_copy_dies_is_told(server: ForkServer) -> None:
    copy = begun(server)
    try:
        assert isinstance(copy._kept._popen, Copy)
        loaded(copy)
        child_of(copy).send_signal(signal.SIGSEGV)
        with pytest.raises(WorkerDied) as died:
            answers(copy)
        assert died.value.outcome.status is Status.CRASHED
        assert "killed by SIGSEGV" in died.value.outcome.message
    finally:
        copy.close()


def test_a_copy_dies_with_its_keeper(server: ForkServer) -> None:
    copy = begun(server)
    assert isinstance(copy._kept._popen, Copy)
    loaded(copy)
    worker = child_of(copy)
    os.kill(copy._kept.pid, signal.SIGKILL)
    assert psutil.wait_procs([worker], HANG_SECONDS)[1] == []  # it dies with its parent
    with pytest.raises(WorkerDied):
        answers(copy)
    copy.close()
    assert copy._kept.fault is None  # an implementation may have killed it


def test_nothing_is_left_of_a_copy(server: ForkServer) -> None:
    copy = begun(server)
    assert isinstance(copy._kept._popen, Copy)
    loaded(copy)
    family = [psutil.Process(copy._kept.pid), child_of(copy)]
    copy.close()
    assert psutil.wait_procs(family, HANG_SECONDS)[1] == []


def test_an_end_is_seen_by_several_threads_at_once(server: ForkServer) -> None:
    for _ in range(5):
        copy = begun(server)
        child = copy._kept._popen
        with ThreadPoolExecutor(8) as threads:
            waiting = [threads.submit(child.wait, HANG_SECONDS) for _ in range(4)]
            signalling = [threads.submit(signalled, child) for _ in range(3)]
            copy.close()
            assert len({one.result() for one in waiting}) == 1
            assert [one.result() for one in signalling] == [None] * 3


def signalled(child: Copy | subprocess.Popen[bytes]) -> None:
    """Signal a process until it has ended, and once more."""
    end = time.monotonic() + HANG_SECONDS
    while child.returncode is None:
        assert time.monotonic() < end
        child.send_signal(signal.SIGCONT)
    child.send_signal(signal.SIGCONT)


def test_another_environment_is_another_process(server: ForkServer) -> None:
    anew = begun(server, NUMBA_DISABLE_JIT="1")
    try:
        assert not isinstance(anew._kept._popen, Copy)
        loaded(anew)
    finally:
        anew.close()


def test_without_its_process_workers_are_started_anew() -> None:
    server = ForkServer()
    first = begun(server)
    assert isinstance(first._kept._popen, Copy)
    loaded(first)
    assert server._popen is not None
    server._popen.kill()
    server._popen.wait()
    second = begun(server)
    try:
        assert not isinstance(second._kept._popen, Copy)
        loaded(second)
        assert answers(first) == answers(second)  # a copy is no child of it, and goes on
    finally:
        first.close()
        second.close()
        server.close()


def answering(answer: bytes) -> ForkServer:
    """A server that answers so, once."""
    server = ForkServer()
    assert server._popen is not None and server._socket is not None
    server._popen.kill()
    server._socket.close()
    server._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    theirs.send(answer)
    theirs.shutdown(socket.SHUT_WR)
    theirs.detach()  # or there would be nobody to send to
    return server


def test_where_the_machine_has_no_room_that_is_said() -> None:
    server = answering(ANSWER.pack(-errno.EAGAIN))
    with pytest.raises(BlockingIOError):
        begun(server)
    server.close()


@pytest.mark.parametrize("answer", [b"{", b""], ids=["garbage", "end"])
def test_a_worker_of_which_nobody_knows_is_started_anew(answer: bytes) -> None:
    server = answering(answer)
    worker = Worker(OURS, OURS, Limits(), server=server)
    try:
        content = sources.resolve("toy_bytes")
        assert worker.load(packed(content), (PLAIN,)).result().error is None
        results = worker.ask(Encode(INPUTS, PLAIN)).result()
        assert results.outcome(0).status is Status.ENCODED
        assert worker.losses == (0, 0)
    finally:
        worker.close()
        server.close()


NAMES = ("bpe.naive", "bpe.heap", "bpe.table", "tiktoken")


def copies(pool: WorkerPool) -> list[bool]:
    """Whether the worker of each of them is a copy, when all have loaded a toy."""
    assert pool.load(sources.resolve("toy_bytes"), NAMES) == {}
    processes = [pool._workers[name]._process for name in NAMES]
    return [one is not None and isinstance(one._kept._popen, Copy) for one in processes]


def test_a_pool_has_copies_of_our_own_alone_and_ends_their_parent() -> None:
    before = psutil.Process().children()
    pool = WorkerPool(selection.participants(NAMES)[0], Limits())
    (parent,) = set(psutil.Process().children()) - set(before)
    try:
        assert copies(pool) == [True, True, True, False]
    finally:
        pool.close()
    assert psutil.wait_procs([parent], HANG_SECONDS)[1] == []


def test_several_pools_share_it() -> None:
    present = selection.participants(NAMES)[0]
    with shared_server(present) as server:
        assert server is not None
        for _ in range(2):
            pool = WorkerPool(present, Limits(), server=server)
            try:
                assert server._popen is not None
                assert copies(pool) == [True, True, True, False]
            finally:
                pool.close()
    assert server._popen is None
    with shared_server(present[1:]) as none:
        assert none is None


def test_it_ends_when_nobody_has_its_socket() -> None:
    server = ForkServer()
    assert server._popen is not None and server._socket is not None
    server._socket.close()  # as the kernel does when the harness is killed
    assert server._popen.wait(HANG_SECONDS) == 0
    server._socket = None
    server.close()


@pytest.mark.parametrize(
    "many",
    [
        {f"LONG_{number}": "x" * 1000 for number in range(LONGEST // 1000)},
        {"NO_TEXT": os.fsdecode(b"\xff")},
    ],
    ids=["long", "not UTF-8"],
)
def test_what_is_no_message_is_started_anew(
    server: ForkServer, many: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_environment", {**server._environment, **many})
    anew = begun(server, **many)
    try:
        assert not isinstance(anew._kept._popen, Copy)
    finally:
        anew.close()
