"""A fault, done at a step over a transport, and what the harness makes of it."""

import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psutil

from corpora.vocabularies import scratch, sources
from harness.confinement import probe
from harness.core.messages import Decode, Encode
from harness.core.outcomes import Encoded, Failed, Inputs, Status
from harness.workers import Limits, Worker, rows
from harness.workers import kept as nurseries
from harness.workers.requests import taken
from impls.interface import Mode
from tests.faults.actions import COMPUTING, HERE, SHARED_FILE, SLEEPER

RAW = Mode(pretokenize=False)
LIMITS = Limits(seconds=1.0, load_seconds=2.0, memory=1 << 30, hangs=9)

TRANSPORTS = {
    "plug-in": f"{HERE / 'plugin.py'}:Faulty",
    "stdio": f"cmd:{sys.executable} {HERE / 'program.py'}",
}

LEFT = Status.LEFT_PROCESSES.label

BEFORE, AFTER = [b"before", b"\xff\x00"], [b"after", b"and after"]

LEAVING = frozenset(
    {
        "a child in a session of its own",
        "a child that computes for ever",
        "a grandchild in a session of its own",
    }
)
"""Faults that leave a process behind when the worker has ended, which is a finding of its own."""

HARMLESS = LEAVING | frozenset(
    {
        "a grandchild without a parent",
        "a daemon that ends soon",
        "changes its folder",
        "ignores signals",
        "changes its umask",
        "another clock",
        "leaves shared memory",
        "100 MB on each stream",
    }
)
"""Faults after which the implementation answers as ever."""

AT_WILL = frozenset(
    {"lowers its limits", "closes all descriptors", "garbage of 1 bytes", "forks and goes on"}
)
"""Faults that may or may not be noticed, by whether they meet what is needed later. A program that
answers a batch twice is started again, and asked input by input, which it answers."""


REFUSED = {
    "opens a socket": probe.held_here().network == "seccomp",
    "writes to the home": probe.held_here().files > 0,
}
"""Faults that a confined worker is kept from, and whether this machine can keep it from them: where
it cannot, nothing is wrong."""


SECONDS_TO_END = 20.0
"""Processes that are still there so long after their worker was closed are left behind. Other tests
that run beside have faults of their own, which last some seconds."""


def descendants():
    """The processes of this one's family, and those that have left their sessions."""
    every = {child.pid for child in psutil.Process().children(recursive=True)}
    begun = [one._popen for one in (nurseries.ANEW, nurseries.OURS) if one._popen]
    return every - {one.pid for one in begun}


def descriptors():
    """How many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


@contextmanager
def nothing_left(found):
    """Take note of what stays behind."""
    nurseries.ANEW.start()  # it stays as long as this process does
    files, opened = set(scratch.folder().iterdir()), descriptors()
    before = descendants() | sleepers()
    yield
    if kept := set(scratch.folder().iterdir()) - files:
        found.append(f"files: {sorted(one.name for one in kept)}")
    # Those that other tests of this machine start later, or end soon, are none of this one's.
    stray = (descendants() | sleepers()) - before
    end = time.monotonic() + SECONDS_TO_END
    while stray & (descendants() | sleepers()):
        if time.monotonic() > end:
            found.append("processes")
            break
        time.sleep(0.05)
    if descriptors() > opened:
        found.append("descriptors")
    if Path(SHARED_FILE).exists():
        Path(SHARED_FILE).unlink()
        if probe.held_here().own_memory:
            found.append("shared memory")


def sleepers():
    """The processes that the faults start, wherever they hang in the tree."""
    found = set()
    for process in psutil.process_iter(["cmdline"]):
        if {SLEEPER[-1], COMPUTING[-1]} & {*(process.info["cmdline"] or [])}:
            found.add(process.pid)
    return found


def tried(fault, step, transport):
    """Do one fault, and see: what it is called, whether the rest is intact, and what is left.

    The first is the kinds of the outcomes of the faulty input and of a batch after it; ``excused``
    is a failure that did not come back when asked again. Intact are the inputs around it that have
    their ids, or no answer, but never other ids. Left are processes, files and descriptors.
    """
    left = []
    with nothing_left(left):
        environment = {"TOKGATE_FAULT_AT_LOAD": f"fault: {fault}"} if step == "load" else {}
        worker = Worker("faulty", TRANSPORTS[transport], LIMITS, environment)
        try:
            labels, intact = _asked(worker, fault, step)
        finally:
            worker.close()
    return [*labels, *(LEFT for _ in taken(worker.left))], intact, left


def _asked(worker, fault, step):
    loaded = worker.load(sources.resolve("toy_bytes")).result(timeout=300)
    if step == "load":
        if loaded.error is not None:
            return [loaded.kind], True
        after = rows(worker.ask(Encode(Inputs.of(AFTER), RAW)).result(timeout=300))
        return ["loaded", *_failures(after)], _right(after, AFTER)
    faulty = f"fault: {fault}".encode()
    inputs = [*BEFORE, faulty, *AFTER]
    first = rows(_ask(worker, step, inputs))
    time.sleep(0.3)  # for what comes a moment later
    second = rows(_ask(worker, step, [*BEFORE, *AFTER]))
    place = len(BEFORE)
    around = [*first[:place], *first[place + 1 :]]
    intact = _right(around, [*BEFORE, *AFTER]) and _right(second, [*BEFORE, *AFTER])
    excused = [f"excused: {one.status.label}" for one in taken(worker.excused)]
    return [first[place].status.label, *_failures([*around, *second]), *excused], intact


def _ask(worker, step, inputs):
    if step == "encode":
        return worker.ask(Encode(Inputs.of(inputs), RAW)).result(timeout=300)
    ids = np.array([i for data in inputs for i in data], dtype=np.int32)
    ends = np.cumsum([len(data) for data in inputs], dtype=np.int64)
    return worker.ask(Decode(ids, ends)).result(timeout=300)


def _failures(outcomes):
    return [one.status.label for one in outcomes if isinstance(one, Failed)]


def _right(outcomes, inputs):
    """Whether every answer is the right one; no answer is none that is wrong."""
    return all(
        not isinstance(one, Encoded) or one.ids == tuple(data)
        for one, data in zip(outcomes, inputs, strict=True)
    )


def named(fault, step, labels):
    """Whether the labels say what was wrong, if anything was."""
    if (LEFT in labels) != (fault in LEAVING):
        return False
    failed = {"crashed", "timed-out", "protocol", "out-of-memory", "errored"} & set(labels)
    if fault in AT_WILL:
        return True
    if fault in REFUSED:
        return bool(failed) == REFUSED[fault]
    if fault in HARMLESS:
        return not failed
    if step == "load" and fault in {"stopped when idle", "deadlock in __del__"}:
        return True
    return bool(failed) or any(label.startswith("excused") for label in labels)
