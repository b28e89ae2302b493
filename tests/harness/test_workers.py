"""Worker processes: deaths pinned to their inputs, neighbours answered, limits kept, no orphans."""

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from corpora.vocabularies import sources
from harness.core.messages import Decode, Encode, Measure
from harness.core.outcomes import (
    Encoded,
    Failed,
    Inputs,
    Results,
    Status,
)
from harness.workers import Limits, Worker, kept, rows
from harness.workers.tracebacks import EACH_REQUEST
from tests.harness.plugged import RAW, ask, plugged

QUICK = Limits(seconds=1.0, memory=1 << 30)

# An encoder that gives the bytes as ids, and does what some inputs ask for.
PLUGIN = '''
import gc, os, signal, sys, threading, time, weakref
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
    if b"log!" in data:
        os.write(2, b"begin" + b"." * 100_000 + b"the end")
        os._exit(1)
    if b"hang" in data:
        time.sleep(60)
    if b"huge" in data:
        bytearray(64 << 30)
    if b"grow" in data:
        kept = []
        while True:
            kept.append(bytearray(b"x") * (1 << 20))
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

class Once(Plain):
    """Dies on the first `once`, and not again."""
    def encode(self, data, mode):
        if b"once" in data and not os.path.exists(os.environ["TOKGATE_TEST_MARK"]):
            open(os.environ["TOKGATE_TEST_MARK"], "w").close()
            os._exit(1)
        return act(data)

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

class Threads(Plain):
    """Dies where two calls meet."""
    def encode(self, data, mode):
        if threading.active_count() > 2:
            os._exit(5)
        return act(data)

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

class Prints(Plain):
    def encode(self, data, mode):
        print("chatter")
        os.write(1, b"more chatter")
        return act(data)
'''


@pytest.fixture(scope="module")
def vocabulary():
    return sources.resolve("toy_bytes")


@pytest.fixture
def make(tmp_path):
    """Start a worker of one of the plug-in's classes."""
    with plugged(tmp_path, PLUGIN, QUICK) as start:
        yield start


def statuses(outcomes):
    return [outcome.status.label for outcome in outcomes]


def said(outcome):
    return outcome.message


def of(data):
    return Encoded(tuple(data))


def test_answers_in_order(make):
    worker = make()
    futures = [worker.ask(Encode(Inputs.of([bytes([i])]), RAW)) for i in range(20)]
    assert [future.result().ids_of(0) for future in futures] == [[i] for i in range(20)]


def test_what_an_encoder_raises_is_its_inputs_outcome(make):
    outcomes = ask(make(), b"a", b"oops", b"panic", b"reject", b"never", b"huge", b"z")
    assert statuses(outcomes) == [
        *("encoded", "errored", "crashed", "rejected", "unsupported", "out-of-memory", "encoded")
    ]
    assert said(outcomes[1]).startswith("ValueError: oops\nTraceback")
    assert "BaseException: like a Rust panic" in said(outcomes[2])
    assert outcomes[6] == of(b"z")


def test_an_error_is_told_with_the_users_frames_and_no_others(make):
    worker = make()
    first, *_, last = outcomes = ask(worker, *[b"oops"] * (EACH_REQUEST + 1))
    frames = [line for line in said(first).splitlines() if line.startswith("  File ")]
    assert [line.rpartition(" in ")[2] for line in frames] == ["encode", "act"]
    assert all("plugin.py" in line for line in frames)
    assert said(last) == "ValueError: oops", "a batch in which all fails does not fill the pipe"
    assert set(outcomes) == {last}, "two errors are alike whatever they tell"
    assert "plugin.py" in said(ask(worker, b"oops")[0])
    crash = said(ask(worker, b"segv")[0])
    assert 'plugin.py", line' in crash
    assert "harness" not in crash


@pytest.mark.parametrize("name", ["Plain", "Batches"])
@pytest.mark.parametrize(
    ("data", "status", "message"),
    [
        (b"exit", Status.CRASHED, "exited with status 7\nI was asked to"),
        (b"segv", Status.CRASHED, "killed by SIGSEGV"),
    ],
)
def test_a_death_is_pinned_and_its_neighbours_are_answered(make, name, data, status, message):
    outcomes = ask(make(name), b"a", b"b", data, b"c", b"d")
    assert outcomes[2].status is status
    assert message in said(outcomes[2])
    assert [outcomes[i] for i in (0, 1, 3, 4)] == [of(b"a"), of(b"b"), of(b"c"), of(b"d")]


def test_two_deaths_in_a_batch_are_pinned_and_a_third_is_not_asked(make):
    worker = make()
    outcomes = ask(worker, b"exit 1", b"a", b"exit 2", b"b", b"exit 3")
    assert statuses(outcomes) == ["crashed", "encoded", "crashed", "unsupported", "unsupported"]
    assert "died too often in this batch" in said(outcomes[3])
    assert ask(worker, b"b") == [of(b"b")]


def test_a_death_that_does_not_come_back_says_so(make, tmp_path, monkeypatch):
    # Where a batch is one call, the input at work is not known, and each is tried alone.
    monkeypatch.setenv("TOKGATE_TEST_MARK", str(tmp_path / "mark"))
    outcomes = ask(make("Once"), b"a", b"once", threads=True)
    assert [outcome.status for outcome in outcomes].count(Status.CRASHED) == 1
    assert "not when asked again alone" in "".join(
        said(outcome) for outcome in outcomes if isinstance(outcome, Failed)
    )


def test_a_death_in_threads_alone_is_seen(make):
    worker = make("Threads")
    assert ask(worker, b"a", b"b") == [of(b"a"), of(b"b")]
    outcomes = ask(worker, *[b"x" * 50] * 200, threads=True)
    assert Status.CRASHED in [outcome.status for outcome in outcomes]


def test_a_hang_ends_in_time_and_the_rest_of_its_batch_is_not_asked(make):
    worker = make()
    outcomes = ask(worker, b"a", b"hang", b"b")
    assert statuses(outcomes) == ["encoded", "timed-out", "unsupported"]
    # The second time, when it was asked alone.
    assert "no answer within 2.0 s" in said(outcomes[1])
    assert ask(worker, b"b") == [of(b"b")]


def test_growing_memory_is_stopped_at_its_limit(make):
    limits = Limits(seconds=20.0, memory=400 << 20)
    (outcome,) = ask(make("Plain", limits), b"grow")
    assert outcome.status is Status.OUT_OF_MEMORY


def test_a_death_by_a_signal_without_a_name(make):
    (outcome,) = ask(make(), b"rt40")
    assert said(outcome).startswith("killed by signal 40")


def test_the_next_vocabulary_ends_the_program_of_the_one_before(vocabulary):
    before = descendants()
    program = Path(__file__).parents[2] / "harness" / "studies" / "selftest" / "program.py"
    worker = Worker("program", f"cmd:{sys.executable} {program} --kind correct", QUICK)
    for _ in range(3):
        assert worker.load(vocabulary).result().error is None
        assert len(descendants() - before) == 3  # the worker, its keeper, and its program
    worker.close()


def test_no_circle_of_the_vocabulary_before_stays(make, vocabulary):
    worker = make("Circular")
    assert worker.ask(Measure(Inputs.of([b""]), RAW)).result(timeout=300).timed is not None
    assert worker.load(vocabulary).result().error is None
    assert ask(worker, b"") == [Encoded((1,))]


def test_withdrawn_after_so_many_deaths_and_back_with_the_next_vocabulary(make, vocabulary):
    worker = make("Plain", replace(QUICK, deaths=3))
    assert statuses(ask(worker, b"exit")) == ["crashed"]
    assert worker.withdrawn is None
    assert statuses(ask(worker, b"exit", b"exit", b"a")) == ["crashed", "crashed", "unsupported"]
    assert worker.withdrawn == "withdrawn after 3 deaths"
    assert statuses(ask(worker, b"a")) == ["unsupported"]
    assert worker.load(vocabulary).result().error is None
    assert worker.withdrawn is None
    assert ask(worker, b"a") == [of(b"a")]


def test_a_batch_of_another_form_is_asked_for_one_by_one(make):
    worker = make("BadBatches")
    for form in (b"list", b"narrow", b"back", b"short", b"wide", b"flat", b"deep", b"many"):
        assert ask(worker, form, b"ab") == [of(form), of(b"ab")], form


@pytest.mark.thorough  # it waits for time-outs
def test_withdrawn_after_so_many_hangs(make):
    worker = make("Plain", Limits(seconds=0.3, hangs=2))
    assert statuses(ask(worker, b"hang") + ask(worker, b"hang")) == ["timed-out", "timed-out"]
    assert worker.withdrawn == "withdrawn after 2 time-outs"


def test_a_vocabulary_that_does_not_load_is_one_line(make):
    worker = make()
    loaded = worker.load(sources.resolve("toy_acbb")).result()
    assert loaded.error.split("\n")[0] == "RuntimeError: not this one"
    assert 'raise RuntimeError("not this one")' in loaded.error  # and the plug-in's own frames
    assert "server.py" not in loaded.error
    assert not loaded.unsupported
    assert statuses(ask(worker, b"a")) == ["unsupported"]


def test_a_vocabulary_that_is_refused_is_no_failure(make):
    loaded = make().load(sources.resolve("toy_unigram")).result()
    assert loaded.unsupported
    assert loaded.error == "not for me"


def test_a_death_while_decoding_is_pinned(make):
    worker = make()
    packed = Results.of([of(b"a"), of(b"exit"), of(b"b")])
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
    program = Path(__file__).parents[2] / "harness" / "studies" / "selftest" / "program.py"
    spec = f"cmd:{sys.executable} {program} --kind correct"
    worker = Worker("program", spec, QUICK)
    assert worker.load(vocabulary).result().error is None
    assert len(descendants() - before) >= 2  # the worker and its program
    assert list(tmp_path.glob("tokgate-scratch-*/worker-*/*"))  # with the bundle
    worker.close()
    end = time.monotonic() + 60
    while not descendants() <= before:  # the kernel is not done with a keeper at once
        assert time.monotonic() < end, descendants() - before
        time.sleep(0.05)
    assert not list(tmp_path.glob("tokgate-scratch-*/worker-*"))
    assert [path.name for path in tmp_path.glob("*/*")] == ["owner"]  # until the harness ends


def test_a_kill_from_another_thread_ends_a_waiting_request(make):
    worker = make("Plain", Limits(seconds=30.0))
    future = worker.ask(Encode(Inputs.of([b"hang", b"a"]), RAW))
    time.sleep(0.5)
    worker.stop()
    assert statuses(rows(future.result(timeout=300))) == ["unsupported", "unsupported"]
