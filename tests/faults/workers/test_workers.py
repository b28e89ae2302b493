"""Worker processes: deaths pinned to their inputs, neighbours answered, limits kept, no orphans."""

import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import pytest

from corpora.vocabularies import sources
from harness.core.excused import TOGETHER
from harness.core.messages import Decode, Encode, Measure
from harness.core.outcomes import (
    Encoded,
    Inputs,
    Rejected,
    Results,
    Status,
)
from harness.workers import Limits, Worker, kept, rows
from harness.workers.pool import WorkerPool
from harness.workers.requests import taken
from harness.workers.tracebacks import EACH_REQUEST
from tests.breadth import thorough
from tests.doubles.plugged import RAW, ask, of, plugged

QUICK = Limits(seconds=1.0, memory=1 << 30)

# An encoder that gives the bytes as ids, and does what some inputs ask for.
PLUGIN = '''
import atexit, gc, os, signal, subprocess, sys, threading, time, weakref
import numpy as np
from impls.interface import About, Rejected, Unsupported

def act(data):
    if b"exit" in data:
        os.write(2, b"I was asked to\\n")
        os._exit(7)
    if b"segv" in data:
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(9)
    if b"rt40" in data:
        os.kill(os.getpid(), 40)
        time.sleep(9)
    if b"hang" in data:
        time.sleep(600)
    if b"huge" in data:
        bytearray(64 << 30)
    if b"grow" in data:
        kept = []
        while True:
            kept.append(bytearray(b"x") * (1 << 20))
    if b"kill" in data:
        os.kill(os.getpid(), 9)
    if b"panic" in data:
        raise BaseException("like a Rust panic")
    if b"oops" in data:
        raise ValueError("oops")
    if b"reject" in data:
        raise Rejected("not today")
    if b"never" in data:
        raise Unsupported("not ever")
    return list(data)

class Plain:
    about = About(name="plain", version="1")
    def supports(self, vocabulary, mode): return None
    def load(self, vocabulary):
        if vocabulary.id == "toy_acbb":
            raise RuntimeError("not this one")
        if vocabulary.id == "toy_unigram":
            raise Unsupported("not for me")
        return self
    def encode(self, data, mode): return act(data)
    def decode(self, ids): return bytes(act(bytes(ids)))

class Batches(Plain):
    def encode_batch(self, data, ends, mode):
        starts = [0, *ends.tolist()]
        ids = [act(data[a:b]) for a, b in zip(starts, ends.tolist())]
        flat = np.array([i for one in ids for i in one], dtype=np.int32)
        return flat, np.cumsum([len(one) for one in ids], dtype=np.int64)

def badly(data, ends, mode):
    """A batch of two that is not what was promised."""
    flat, stops = Batches().encode_batch(data, ends, mode)
    return {
        b"list": (flat, stops.tolist()), b"narrow": (flat, stops.astype(np.int32)),
        b"back": (flat, stops[::-1].copy()), b"short": (flat, stops - 1),
        b"wide": (flat.astype(np.int64), stops), b"flat": (flat.tolist(), stops),
        b"deep": (flat.reshape(-1, 1), stops), b"many": (flat, np.append(stops, stops[-1])),
    }[data[: int(ends[0])]]

class BadBatches(Plain):
    encode_batch = staticmethod(badly)

class Together(Plain):
    """Fails on a batch for what is right alone."""
    def encode_batch(self, data, ends, mode):
        if b"raise" in data or b"reject" in data:
            raise ValueError("the buffer is full")
        return np.frombuffer(data, np.uint8).astype(np.int32), ends[b"short" in data:]

class Others(Plain):
    """Has a method of that name for something else."""
    def encode_batch(self, texts): return [self.encode(text, None) for text in texts]

class Threads(Plain):
    """Dies where two calls meet."""
    def encode(self, data, mode):
        if threading.active_count() > 2:
            os._exit(5)
        return act(data)

class Helped(Plain):
    """Has a helper in a session of its own, which it ends when it ends."""
    def load(self, vocabulary):
        command = [sys.executable, "-c", "import time; time.sleep(600)"]
        helper = subprocess.Popen(command, start_new_session=True)
        atexit.register(helper.wait)
        atexit.register(helper.terminate)
        return self

class Circular(Plain):
    """What it loads is part of a circle, and says how many of its kind there are."""
    loaded = weakref.WeakSet()
    def load(self, vocabulary):
        new = type(self)()
        new.circle = new
        self.loaded.add(new)
        return new
    def encode(self, data, mode):
        gc.collect()
        return [len(self.loaded)]

'''


# One that answers many inputs at once, and fails on some of them together.
PROGRAM = """
import base64, json, sys

for line in sys.stdin:
    request = json.loads(line)
    op, answer = request["op"], {}
    if op == "stop":
        break
    if op == "hello":
        answer = {"protocol": 1, "name": "mine", "version": "1", "operations": ["encode"]}
    if op == "load":
        answer = {"ok": True}
    if op == "encode":
        texts = [base64.b64decode(one) for one in request["inputs"]]
        results = [{"ids": list(one)} for one in texts]
        answer = {"results": results}
        many = len(texts) > 1
        if many and b"short" in texts:
            results.pop()
        if many and b"whole" in texts:
            answer = {"rejected": "one of them is invalid"}
        if many and b"exit" in texts:
            sys.exit(7)
        if b"invalid" in texts:
            answer = {"results": [{"rejected": "invalid"} for _ in texts]}
        if many and b"floats" in texts:
            results[texts.index(b"floats")] = {"ids": [1.5]}
        if many and b"nothing" in texts:
            results[texts.index(b"nothing")] = {}
        if b"faulty" in texts:
            results[texts.index(b"faulty")] = {"error": "a fault of its own"}
    print(json.dumps({"seq": request["seq"], **answer}), flush=True)
"""


@pytest.fixture(scope="module")
def vocabulary():
    return sources.resolve("toy_bytes")


@pytest.fixture
def make(tmp_path):
    """Start a worker of one of the plug-in's classes."""
    with plugged(tmp_path, PLUGIN, QUICK, PROGRAM) as start:
        yield start


def statuses(outcomes):
    return [outcome.status.label for outcome in outcomes]


def test_answers_in_order(make):
    worker = make()
    futures = [worker.ask(Encode(Inputs.of([bytes([i])]), RAW)) for i in range(20)]
    assert [future.result().ids_of(0) for future in futures] == [[i] for i in range(20)]


def test_what_an_encoder_raises_is_its_inputs_outcome(make):
    outcomes = ask(make(), b"a", b"oops", b"panic", b"reject", b"never", b"huge", b"z")
    assert statuses(outcomes) == [
        *("encoded", "errored", "crashed", "rejected", "unsupported", "out-of-memory", "encoded")
    ]
    assert outcomes[1].message.startswith("ValueError: oops\nTraceback")
    assert "BaseException: like a Rust panic" in outcomes[2].message
    assert outcomes[6:] == of(b"z")


def test_an_error_is_told_with_the_users_frames_and_no_others(make):
    worker = make()
    first, *_, last = outcomes = ask(worker, *[b"oops"] * (EACH_REQUEST + 1))
    frames = [line for line in first.message.splitlines() if line.startswith("  File ")]
    assert [line.rpartition(" in ")[2] for line in frames] == ["encode", "act"]
    assert all("plugin.py" in line for line in frames)
    assert last.message == "ValueError: oops", "a batch in which all fails does not fill the pipe"
    assert set(outcomes) == {last}, "two errors are alike whatever they tell"
    assert "plugin.py" in ask(worker, b"oops")[0].message
    crash = ask(worker, b"segv")[0].message
    assert 'plugin.py", line' in crash
    assert "harness" not in crash


@pytest.mark.parametrize("name", ["Plain", "Batches"])
@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        (b"exit", Status.CRASHED, "exited with status 7\nI was asked to"),
        (b"segv", Status.CRASHED, "killed by SIGSEGV"),
        (b"rt40", Status.CRASHED, "killed by signal 40"),
    ],
)
def test_a_death_is_pinned_and_its_neighbours_are_answered(make, name, data, status, message):
    outcomes = ask(make(name), b"a", b"b", data, b"c", b"d")
    assert outcomes[2].status is status
    assert message in outcomes[2].message
    assert [*outcomes[:2], *outcomes[3:]] == of(b"a", b"b", b"c", b"d")


def test_a_death_in_threads_alone_is_seen(make):
    worker = make("Threads")
    assert ask(worker, b"a", b"b") == of(b"a", b"b")
    outcomes = ask(worker, *[b"x" * 50] * 200, threads=True)
    assert Status.CRASHED in [outcome.status for outcome in outcomes]


@pytest.mark.parametrize("name", ["Plain", thorough("Batches")])
def test_a_hang_that_came_back_is_not_in_doubt_again(make, vocabulary, name):
    worker = make(name, Limits(seconds=0.4, hangs=2))
    # The first one is of the second attempt, which has twice the time.
    first, second = ask(worker, b"a", b"hang")
    assert [first] == of(b"a")
    assert "within 0.8 s" in second.message
    assert "within 0.4 s" in ask(worker, b"hang")[0].message
    assert worker.withdrawn == "withdrawn after 2 time-outs"
    assert worker.load(vocabulary).result().error is None
    assert "within 0.8 s" in ask(worker, b"hang")[0].message


def test_who_is_abandoned_answers_nothing_and_starts_again(make, vocabulary):
    worker = make("Plain", Limits(seconds=60.0))
    assert ask(worker, b"a") == of(b"a")
    assert worker.at_work == 0.0
    future = worker.ask(Encode(Inputs.of([b"hang", b"a"]), RAW))
    while worker._process is None or worker._process.usage().awake:
        pass
    worker.abandon()
    assert statuses(rows(future.result(timeout=300))) == ["unsupported"] * 2
    assert worker.load(vocabulary).result(timeout=300).error is None
    assert ask(worker, b"a") == of(b"a")
    assert worker.losses == (0, 0)


def test_a_question_that_was_withdrawn_hides_none_that_is_asked(make):
    worker = make("Plain", Limits(seconds=600.0))
    asked = [worker.ask(Encode(Inputs.of([b"hang"]), RAW)) for _ in range(2)]
    assert asked[1].cancel()
    worker.stop()  # else it would be waited for
    worker.close()
    assert asked[0].done()


@pytest.mark.parametrize("data", [b"hang", b"kill"])
def test_who_is_killed_in_a_call_has_left_nothing(make, data):
    worker = make("Helped", Limits(seconds=0.2))
    ask(worker, data)
    assert taken(worker.left) == []


def test_growing_memory_is_stopped_at_its_limit(make):
    limits = Limits(seconds=20.0, memory=400 << 20)
    (outcome,) = ask(make("Plain", limits), b"grow")
    assert outcome.status is Status.OUT_OF_MEMORY


def test_no_circle_of_the_vocabulary_before_stays(make, vocabulary):
    worker = make("Circular")
    assert worker.ask(Measure(Inputs.of([b""]), RAW)).result(timeout=300).timed is not None
    assert worker.load(vocabulary).result().error is None
    assert ask(worker, b"") == [Encoded((1,))]


def test_a_batch_of_another_form_is_asked_for_one_by_one(make):
    worker = make("BadBatches")
    for form in (b"list", b"narrow", b"back", b"short", b"wide", b"flat", b"deep", b"many"):
        assert ask(worker, form, b"ab") == of(form, b"ab"), form


def test_a_vocabulary_that_does_not_load_is_one_line(make):
    worker = make()
    loaded = worker.load(sources.resolve("toy_acbb")).result()
    assert loaded.error.split("\n")[0] == "RuntimeError: not this one"
    assert 'raise RuntimeError("not this one")' in loaded.error  # and the plug-in's own frames
    assert "server.py" not in loaded.error
    assert not loaded.unsupported
    assert statuses(ask(worker, b"a")) == ["unsupported"]
    loaded = worker.load(sources.resolve("toy_unigram")).result()
    assert (loaded.unsupported, loaded.error) == (True, "not for me")


def test_a_death_while_decoding_is_pinned(make):
    worker = make()
    packed = Results.of(of(b"a", b"exit", b"b"))
    outcomes = rows(worker.ask(Decode(packed.ids, packed.ends)).result())
    assert outcomes[1].status is Status.CRASHED
    outcomes = rows(worker.ask(Decode(packed.ids[:1], packed.ends[:1])).result())
    assert outcomes == [Encoded((97,), text=b"a")]


def descendants():
    every = {child.pid for child in psutil.Process().children(recursive=True)}
    return every - {one._popen.pid for one in (kept.ANEW, kept.OURS) if one._popen}


def test_nothing_is_left_after_close(vocabulary, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = descendants()
    program = Path(__file__).parents[3] / "harness" / "studies" / "selftest" / "program.py"
    spec = f"cmd:{sys.executable} {program} --kind correct"
    worker = Worker("program", spec, QUICK)
    for _ in range(3):  # the next vocabulary ends the program of the one before
        assert worker.load(vocabulary).result().error is None
        assert len(descendants() - before) == 3  # the worker, its keeper, and its program
    assert list(tmp_path.glob("tokgate-scratch-*/worker-*/*"))  # with the bundle
    worker.close()
    end = time.monotonic() + 60
    while not descendants() <= before:  # the kernel is not done with a keeper at once
        assert time.monotonic() < end, descendants() - before
        time.sleep(0.05)
    assert not list(tmp_path.glob("tokgate-scratch-*/worker-*"))
    assert [path.name for path in tmp_path.glob("*/*")] == ["owner"]  # until the harness ends


# A failure of a batch that none of its inputs explains is told, though each of them is answered.


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"short", Status.PROTOCOL, "the program gave 2 results for 3 inputs of 'encode'"),
        (b"whole", Status.PROTOCOL, "the program gave no list of results for 'encode'"),
        (b"exit", Status.CRASHED, "the program exited with status 7 during 'encode'"),
    ],
)
def test_a_program_that_fails_many_inputs_and_no_single_one(make, data, status, words):
    worker = make("program")
    first, *others = ask(worker, b"a", data, b"b")
    assert first.status is status
    assert first.message.startswith(words)
    assert first.message.endswith(TOGETHER)
    assert others == of(data, b"b")
    assert ask(worker, data) == of(data)
    assert not taken(worker.excused)


def test_one_invalid_input_that_spoils_its_neighbours_shows(make):
    worker = make("program")
    assert ask(worker, b"a", b"invalid", b"b") == [Rejected()] * 3
    assert ask(worker, b"a", b"b") == of(b"a", b"b")


@pytest.mark.parametrize(
    ("data", "status"),
    [(b"floats", Status.ERRORED), (b"nothing", Status.PROTOCOL), (b"faulty", Status.ERRORED)],
)
def test_each_input_of_a_request_has_its_own_result(make, data, status):
    before, found, after = ask(make("program"), b"a", data, b"b")
    assert [before, after] == of(b"a", b"b")
    assert found.status is status


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"short", "TypeError: encode_batch gave no int32 ids with an int64 end for each of 2"),
        (b"raise", "ValueError: the buffer is full"),
    ],
)
def test_a_batch_of_a_plug_in_that_fails_though_each_input_is_encoded(make, data, words):
    worker = make("Together")
    assert ask(worker, b"a", b"b") == of(b"a", b"b")
    first, second = ask(worker, b"a", data)
    assert first.message.startswith(words)
    assert first.message.endswith(TOGETHER)
    assert second == Encoded(tuple(data))


def test_a_plug_in_may_raise_anything_for_a_batch_with_an_invalid_input(make):
    worker = make("Together")
    assert ask(worker, b"a", b"b") == of(b"a", b"b")
    assert ask(worker, b"a", b"reject") == [*of(b"a"), Rejected()]


def test_a_method_of_that_name_for_something_else_is_nobodys_fault(make):
    assert ask(make("Others"), b"a", b"b") == of(b"a", b"b")


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
