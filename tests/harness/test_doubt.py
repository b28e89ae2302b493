"""What may be the machine's doing is asked again before it counts, wherever it comes from."""

from __future__ import annotations

import errno
import threading

import pytest

from corpora.vocabularies import sources
from harness.core.excused import LEAKING
from harness.core.messages import Encode, Meter
from harness.core.outcomes import Encoded, Failed, Inputs, Outcome, Results, Status, Unsupported
from harness.workers import Limits, Worker, rows
from harness.workers.kept import Nursery
from harness.workers.pool import WorkerPool
from harness.workers.process import WorkerDied
from harness.workers.requests import FAULT, taken
from tests.harness.plugged import RAW, ask, plugged

PLUGIN = '''
import atexit, os, subprocess, sys, time
from pathlib import Path
from impls.interface import About, Died

FOLDER = Path(os.environ["TOKGATE_TEST_MARKS"])

def first_time(name):
    mark = FOLDER / name
    if mark.exists():
        return False
    mark.touch()
    return True

class Plain:
    about = About(name="plain", version="1")
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary): return self
    def encode(self, data, mode):
        name = data.decode()
        if name.startswith("memory") and first_time(name) or name == "always":
            raise MemoryError("no more of it")
        if name.startswith("program") and first_time(name):
            raise Died("crashed", "the program was killed by SIGKILL during 'encode'")
        if name.startswith("killed") and first_time(name):
            os.kill(os.getpid(), 9)
        if name.startswith("hang"):
            time.sleep(600)
        return list(data)

class Loads(Plain):
    def load(self, vocabulary):
        if first_time("load"):
            raise MemoryError("no more of it")
        return self

class LoadsProgram(Plain):
    def load(self, vocabulary):
        if first_time("load"):
            raise Died("crashed", "the program was killed by SIGKILL during 'load'")
        return self

class LoadsAgain(Plain):
    """Cannot be loaded on the second time."""
    def load(self, vocabulary):
        if not first_time("load") and first_time("again"):
            raise MemoryError("no more of it")
        return self

class Helped(Plain):
    """Has a helper in a session of its own, which it ends when it ends."""
    def load(self, vocabulary):
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        helper = subprocess.Popen(command, start_new_session=True)
        atexit.register(helper.wait)
        atexit.register(helper.terminate)
        return self
'''


@pytest.fixture(scope="module")
def vocabulary():
    return sources.resolve("toy_bytes")


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Start a worker of one of the plug-in's classes."""
    monkeypatch.setenv("TOKGATE_TEST_MARKS", str(tmp_path))
    monkeypatch.setattr("harness.workers.worker.PAUSE_SECONDS", 0.0)
    with plugged(tmp_path, PLUGIN, Limits()) as start:
        yield start


@pytest.mark.parametrize("data", [b"memory", b"program"])
def test_a_row_in_doubt_is_asked_again(make, data):
    asked = make()
    assert ask(asked, b"a", data, b"b") == [Encoded(tuple(one)) for one in (b"a", data, b"b")]
    [excused] = taken(asked.excused)
    assert excused.data == data
    assert asked.losses == (0, 0)


def test_a_row_that_comes_back_counts_and_the_others_are_not_asked(make):
    asked = make()
    outcomes = ask(asked, b"a", b"always", b"always", b"b")
    assert [one.status for one in outcomes] == [
        Status.ENCODED, Status.OUT_OF_MEMORY, Status.UNSUPPORTED, Status.ENCODED
    ]  # fmt: skip
    assert taken(asked.excused) == []


@pytest.mark.parametrize("name", ["Loads", "LoadsProgram"])
def test_a_load_in_doubt_is_tried_again(make, name):
    assert ask(make(name), b"a") == [Encoded((97,))]


def test_it_is_started_again_though_that_fails_once(make):
    asked = make("LoadsAgain")
    assert ask(asked, b"killed") == [Encoded(tuple(b"killed"))]
    assert asked.withdrawn is None
    assert asked.losses == (0, 0)


def refuse(*given, **options):
    """What a machine says that has no room for another process."""
    raise BlockingIOError(errno.EAGAIN, "no room")


def test_a_fault_of_the_machine_is_no_crash(make, monkeypatch, vocabulary):
    asked = make()
    with monkeypatch.context() as patch:
        patch.setattr(Nursery, "begin", refuse)
        outcomes = ask(asked, b"killed", b"b")
        assert asked.withdrawn.startswith(f"could not be started again: {FAULT}")
        assert [one.status for one in outcomes] == [Status.UNSUPPORTED] * 2
        assert asked.losses == (0, 0)
        assert taken(asked.excused) == []
        loaded = asked.load(vocabulary).result(timeout=300)
        assert loaded.error.startswith(FAULT)
    # The machine has room again.
    assert asked.load(vocabulary).result(timeout=300).error is None
    assert ask(asked, b"b") == [Encoded((98,))]


@pytest.mark.parametrize("data", [b"hang", b"killed"])
def test_who_is_killed_in_a_call_has_left_nothing(make, data):
    asked = make("Helped", Limits(seconds=0.2))
    ask(asked, data)
    assert taken(asked.left) == []


class Scripted(Worker):
    """A worker whose answers are given: outcomes, or deaths, one after another."""

    def __init__(self, *answers, abandoned_after=-1):
        super().__init__("scripted", "scripted", Limits())
        self._answers = iter(answers)
        self._left_to_ask = abandoned_after

    def _asked(self, *given, **options):
        self._abandoned = self._abandoned or self._left_to_ask == 0
        self._left_to_ask -= 1
        if self._abandoned:
            return self._refused(1)
        answer = next(self._answers)
        if isinstance(answer, WorkerDied):
            raise answer
        return Results.of(answer)


@pytest.fixture
def scripted():
    """Make a scripted worker, which is closed with the test."""
    made = []

    def script(*answers, abandoned_after=-1):
        made.append(Scripted(*answers, abandoned_after=abandoned_after))
        return made[-1]

    yield script
    for one in made:
        one.close()


FULL = Failed(Status.OUT_OF_MEMORY, "took 0.8 GiB of memory and was still at it")
A = Encode(Inputs.of([b"a"]), RAW)
ANSWER: list[Outcome] = [Encoded((97,))]


@pytest.mark.parametrize("over", [False, True])
def test_only_who_was_over_its_limit_leaks(scripted, *, over):
    asked = scripted(ANSWER, ANSWER)
    death = WorkerDied(FULL, 0, over=over)
    outcomes = [asked._settled(A, death), asked._settled(A, death)]
    assert outcomes[0] == ANSWER[0]
    assert (outcomes[1] == ANSWER[0]) is not over
    assert (LEAKING in getattr(outcomes[1], "message", "")) is over
    assert asked.losses == ((1, 0) if over else (0, 0))


def test_another_failure_of_what_is_measured_again_is_one(
    scripted,
):
    crash = Failed(Status.CRASHED, "killed by SIGSEGV")
    asked = scripted(WorkerDied(Failed(Status.TIMED_OUT, "no answer"), 0), WorkerDied(crash, 1))
    request = Encode(Inputs.of([b"a", b"b"]), RAW, meter=Meter.TIME)
    assert rows(asked.ask(request).result()) == [Encoded(()), crash]
    assert taken(asked.excused) == []


class Falling(Scripted):
    """A worker that dies on the last of several inputs, however many, unless it has more time."""

    questions = 0

    def _asked(self, request, seconds=None):
        self.questions += 1
        if len(request) > 1 and seconds is None:
            raise WorkerDied(Failed(Status.TIMED_OUT, "no answer"), len(request) - 1)
        return Results.of([Encoded((97,))] * len(request))


def test_what_dies_wherever_a_batch_is_cut_is_asked_one_by_one():
    asked, count = Falling(), 300
    try:
        assert ask(asked, *[b"a"] * count) == [Encoded((97,))] * count
    finally:
        asked.close()
    assert asked.questions <= count + 5


@pytest.mark.parametrize("message", ["killed by SIGKILL", "killed by SIGSEGV"])
def test_who_is_let_go_meanwhile_has_not_answered(scripted, message):
    asked = scripted(WorkerDied(Failed(Status.CRASHED, message)), ANSWER, abandoned_after=2)
    outcomes = rows(asked.ask(Encode(Inputs.of([b"a", b"b"]), RAW)).result())
    assert outcomes == [Unsupported(), Unsupported()]
    assert taken(asked.excused) == []


def test_all_that_owe_an_answer_are_killed_before_any_is_closed():
    told = []
    loading = threading.Event()

    class Waiting:
        """The second to load, which waits for the first to have loaded."""

        def __init__(self, name, first):
            self._name, self._first = name, first

        def stop(self):
            told.append(f"stop {self._name}")
            if self._name == "loading":
                self._first.set()

        def close(self, *, wait=True):
            assert self._first.wait(20), "the one that loads was not killed"
            told.append(f"{'close' if wait else 'end'} {self._name}")

    pool = WorkerPool([], Limits())
    pool.workers = {name: Waiting(name, loading) for name in ("waiting", "loading")}
    pool.close()
    # Their ends are waited for once all have begun: one after another they take seconds.
    every = [f"{what} {name}" for what in ("stop", "end", "close") for name in pool.workers]
    assert told == every
