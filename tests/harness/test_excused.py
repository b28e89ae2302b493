"""What does not come back when asked again, alone and unhurried, is excused; the rest is named."""

import numpy as np
import pytest

from corpora.vocabularies import sources
from harness.core.messages import Encode, Meter
from harness.core.outcomes import Encoded, Inputs, Status
from harness.workers import Limits, rows
from harness.workers.requests import taken
from tests.breadth import thorough_from
from tests.harness.plugged import RAW, ask, of, plugged

LIMITS = Limits(seconds=0.4, memory=1 << 30)

# Slow or greedy as long as a mark is not there, which it leaves on the first time.
PLUGIN = '''
import mmap, os, threading, time
from impls.interface import About, Capability

MARK = os.environ["TOKGATE_TEST_MARK"]

def first_time():
    if os.path.exists(MARK):
        return False
    open(MARK, "w").close()
    return True

def spin(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass

KEPT = []

class Plain:
    about = About(name="plain", version="1", capabilities=frozenset({Capability.DECODE}))
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary): return self
    def act(self, data):
        if b"once" in data and first_time():
            time.sleep(60)
        if b"spin" in data and first_time():
            spin(60)
        if b"always" in data:
            time.sleep(60)
        if b"burn" in data:
            spin(60)
        if b"killed" in data and first_time():
            os.kill(os.getpid(), 9)
        if b"leak" in data:
            kept = mmap.mmap(-1, 96 << 20)  # shared, so that it is resident and no data
            for _ in range(96):  # at once it would take twice as much for a moment
                kept.write(b"x" * (1 << 20))
            KEPT.append(kept)
            time.sleep(0.15)
        if b"slow" in data:
            spin(0.25)
        return list(data)
    def encode(self, data, mode): return self.act(data)
    def decode(self, ids): return bytes(self.act(bytes(ids)))

class Batches(Plain):
    """Answers a batch at once, so that nobody knows at which input it is."""
    def encode_batch(self, data, ends, mode):
        import numpy as np
        starts = [0, *ends.tolist()]
        ids = [self.act(data[a:b]) for a, b in zip(starts, ends.tolist())]
        return (np.array([i for one in ids for i in one], dtype=np.int32),
                np.cumsum([len(one) for one in ids], dtype=np.int64))

class Locked(Plain):
    """Waits for itself where two calls meet."""
    def encode(self, data, mode):
        time.sleep(0.05)
        if threading.active_count() > 2:
            time.sleep(60)
        return list(data)
'''


@pytest.fixture(scope="module")
def vocabulary():
    return sources.resolve("toy_bytes")


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Start a worker of one of the plug-in's classes."""
    monkeypatch.setenv("TOKGATE_TEST_MARK", str(tmp_path / "mark"))
    with plugged(tmp_path, PLUGIN, LIMITS) as start:
        yield start


@pytest.mark.parametrize("name", thorough_from(1, ["Plain", "Batches"]))
@pytest.mark.parametrize("data", thorough_from(2, [b"once", b"spin", b"killed"]))
def test_a_failure_that_does_not_come_back_is_excused(make, name, data):
    worker = make(name)
    assert ask(worker, b"a", data, b"b") == of(b"a", data, b"b")
    [excused] = taken(worker.excused)
    assert excused.implementation == name
    assert taken(worker.excused) == []  # told once
    assert worker.losses == (0, 0)
    assert worker.withdrawn is None


@pytest.mark.parametrize("name", thorough_from(1, ["Plain", "Batches"]))
@pytest.mark.parametrize("data", thorough_from(1, [b"burn", b"always"]))
def test_a_hang_that_comes_back_is_one_on_its_own_input(make, name, data):
    worker = make(name)
    outcomes = ask(worker, b"a", data)
    assert outcomes[0] == Encoded((97,))
    assert outcomes[1].status is Status.TIMED_OUT
    assert taken(worker.excused) == []
    assert worker.losses == (0, 1)


def test_a_hang_that_came_back_once_is_not_in_doubt_again(make, vocabulary):
    worker = make()
    # The first one is of the second attempt, which has twice the time.
    assert "within 0.8 s" in getattr(ask(worker, b"always")[0], "message", "")
    assert "within 0.4 s" in getattr(ask(worker, b"always")[0], "message", "")
    assert worker.losses == (0, 2)
    assert worker.load(vocabulary).result().error is None
    assert "within 0.8 s" in getattr(ask(worker, b"always")[0], "message", "")


@pytest.mark.thorough
def test_a_batch_that_is_too_slow_as_a_whole_is_excused_and_has_more_time(make):
    inputs = [b"slow" + bytes([n]) for n in range(6)]
    worker = make("Batches")
    assert ask(worker, *inputs) == of(*inputs)
    assert [one.status for one in taken(worker.excused)] == [Status.TIMED_OUT]
    assert ask(worker, *inputs) == of(*inputs)
    assert taken(worker.excused) == []


@pytest.mark.thorough  # it fills memory
def test_a_leak_is_named_though_no_input_takes_so_much_alone(make):
    worker = make(limits=Limits(seconds=10.0, memory=400 << 20))
    outcomes = []
    for _ in range(6):
        outcomes += ask(worker, *[b"leak"] * 6)
    failed = [one for one in outcomes if one.status is Status.OUT_OF_MEMORY]
    assert failed
    assert "leak" in getattr(failed[0], "message", "")
    assert all(one.status in (0, Status.UNSUPPORTED, Status.OUT_OF_MEMORY) for one in outcomes)


@pytest.mark.thorough
def test_a_deadlock_of_threads_is_no_excuse(make):
    outcomes = ask(make("Locked"), *[b"a"] * 8, threads=True)
    assert Status.TIMED_OUT in [one.status for one in outcomes]


@pytest.mark.thorough
def test_what_is_measured_is_measured_again_whole(make):
    worker = make()
    request = Encode(Inputs.of([b"a", b"once", b"b"]), RAW, meter=Meter.TIME)
    results = worker.ask(request).result(timeout=300)
    assert results.costs is not None
    assert np.all(results.status == 0)
    assert len(taken(worker.excused)) == 1


def test_who_is_abandoned_answers_nothing_and_starts_again(make, vocabulary):
    worker = make(limits=Limits(seconds=60.0))
    future = worker.ask(Encode(Inputs.of([b"always", b"a"]), RAW))
    while worker._process is None or worker._process.usage().awake:
        pass
    worker.abandon()
    assert [one.status for one in rows(future.result(timeout=300))] == [Status.UNSUPPORTED] * 2
    assert taken(worker.excused) == []
    assert worker.losses == (0, 0)
    assert worker.load(vocabulary).result(timeout=300).error is None
    assert ask(worker, b"a") == of(b"a")


def test_who_was_abandoned_is_resumed_without_another_vocabulary(make):
    worker = make(limits=Limits(seconds=60.0))
    worker.abandon()
    assert [one.status for one in ask(worker, b"a")] == [Status.UNSUPPORTED]
    worker.resume().result(timeout=300)
    assert ask(worker, b"a") == of(b"a")
    assert worker.losses == (0, 0)


def test_who_has_answered_is_at_nothing(make):
    worker = make(limits=Limits(seconds=60.0))
    assert ask(worker, b"slow") == of(b"slow")
    assert worker.at_work == 0.0
