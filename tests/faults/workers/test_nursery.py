"""Workers that are copies of a nursery: what they answer, how they end, and who is none."""

import contextlib
import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import psutil
import pytest

from corpora.vocabularies import sources
from harness.confinement.probe import caches_of
from harness.core.messages import Encode, Load, Loaded, packed
from harness.core.outcomes import Inputs, Results
from harness.engine import selection
from harness.workers import Limits, kept, rows
from harness.workers.kept import Nursery
from harness.workers.pool import WorkerPool
from harness.workers.process import Process, WorkerDied
from impls.external import IN_WORKER
from impls.interface import Mode

HANG_SECONDS = 120
OURS = "bpe.naive"
PLAIN = Mode(pretokenize=False)
INPUTS = Inputs.of([b"abracadabra", b"", b"\xff"])


@contextlib.contextmanager
def same_environment():
    """Without the variable that changes with each test, by which no worker would be a copy."""
    with mock.patch.dict(os.environ):
        del os.environ["PYTEST_CURRENT_TEST"]
        if not kept.OURS.fits({**os.environ, **caches_of(None, os.environ)}):
            kept.OURS.close()  # it was begun in another environment
        yield


def begun(**environment):
    with same_environment():
        return Process("harness.workers.server", 1 << 32, environment)


@pytest.fixture
def copy():
    process = begun()
    yield process
    process.close()


def loaded(process):
    """Load a vocabulary; what confines the process, by the kernel's word."""
    content = packed(sources.resolve("toy_bytes"))
    answer = process.ask(Load(OURS, content, (PLAIN,)), 60.0, Loaded)
    assert answer.error is None
    lines = Path(f"/proc/{child_of(process).pid}/status").read_text().splitlines()
    said = dict(line.split(":", 1) for line in lines)
    return {name: said[name] for name in ("NoNewPrivs", "Seccomp", "Seccomp_filters")}


def answers(process):
    return rows(process.ask(Encode(INPUTS, PLAIN), 60.0, Results, len(INPUTS)))


def keeper_of(process):
    return psutil.Process(process._kept.pid)


def child_of(process):
    (found,) = keeper_of(process).children()
    return found


def is_copy(process):
    """Whether a worker is a copy of the nursery of our own."""
    ours = kept.OURS._popen
    return ours is not None and keeper_of(process).ppid() == ours.pid


def test_a_copy_is_as_one_that_was_started_anew(copy):
    anew = begun(ANOTHER="variable", LONG="x" * 100_000, NO_TEXT=os.fsdecode(b"\xff"))
    try:
        assert is_copy(copy) and not is_copy(anew)
        assert loaded(copy) == loaded(anew)
        assert answers(copy) == answers(anew)
        one, other = child_of(copy), child_of(anew)
        # By this word its whole family is found where its keeper was killed.
        assert other.environ()[IN_WORKER] == anew._kept._word
        # Numpy begins one beside it where it is imported, which no copy has.
        assert one.num_threads() == 1 < other.num_threads()
        # It has what it inherits and what it has opened, and nothing of another's.
        assert sorted(map(kind, descriptors(one))) == sorted(map(kind, descriptors(other)))
        assert os.getsid(one.pid) == one.pid and os.getsid(copy._kept.pid) == copy._kept.pid
    finally:
        anew.close()


def descriptors(process):
    folder = Path(f"/proc/{process.pid}/fd")
    return [str(path.readlink()) for path in folder.iterdir()]


def kind(target):
    """What a descriptor leads to, without numbers that are another process's."""
    return re.split("[0-9:]", target)[0]


def test_a_copy_dies_with_its_keeper(copy):
    loaded(copy)
    worker = child_of(copy)
    os.kill(copy._kept.pid, signal.SIGKILL)
    assert psutil.wait_procs([worker], HANG_SECONDS)[1] == []  # it dies with its parent
    with pytest.raises(WorkerDied):
        answers(copy)
    copy.close()
    assert copy._kept.report is None  # an implementation may have killed it


def test_an_end_is_seen_by_several_threads_at_once():
    copy = begun()
    with ThreadPoolExecutor(8) as threads:
        waiting = [threads.submit(copy._kept.wait, HANG_SECONDS) for _ in range(4)]
        ending = [threads.submit(copy._kept.end) for _ in range(4)]
        assert [one.result() for one in ending] == [None] * 4
        assert all(one.done() or one.result() for one in waiting)
    copy.close()


def test_a_nursery_that_has_ended_is_begun_again(copy):
    loaded(copy)
    kept.OURS._popen.kill()
    kept.OURS._popen.wait()
    second = begun()
    try:
        loaded(second)
        assert answers(copy) == answers(second)  # a keeper is no child that ends with it
        assert is_copy(second)
    finally:
        second.close()


NAMES = ("bpe.naive", "bpe.heap", "tiktoken")


def test_a_pool_has_copies_of_our_own_alone():
    pool = WorkerPool(selection.participants(NAMES)[0], Limits())
    try:
        with same_environment():
            assert pool.load(sources.resolve("toy_bytes"), NAMES) == {}
        processes = [pool.workers[name]._process for name in NAMES]
        assert [one is not None and is_copy(one) for one in processes] == [True, True, False]
    finally:
        pool.close()


def test_a_nursery_ends_when_nobody_has_its_socket():
    nursery = Nursery()
    nursery.start()
    nursery._socket.close()  # as the kernel does when the harness is killed
    assert nursery._popen.wait(HANG_SECONDS) == 0
    nursery.close()
