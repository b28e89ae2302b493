"""Who is accused of a failure, and who is excused: a worker, with a process that is played.

Each input says what goes wrong with it, and how often. The model says in plain terms what is to
come of it.
"""

from collections import Counter
from itertools import repeat
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.excused import LEAKING, TOGETHER
from harness.core.messages import Encode, Loaded, Meter
from harness.core.outcomes import Encoded, Failed, Inputs, Results, Status, Unsupported
from harness.workers import Limits, Worker, rows
from harness.workers import worker as workers
from harness.workers.clock import Usage
from harness.workers.process import WorkerDied
from harness.workers.requests import FAULT, taken
from tests.doubles.plugged import RAW

DEATHS = {
    "crash": Failed(Status.CRASHED, "killed by SIGSEGV"),
    "killed": Failed(Status.CRASHED, "killed by SIGKILL"),
    "hang": Failed(Status.TIMED_OUT, "no answer"),
    "full": Failed(Status.OUT_OF_MEMORY, "took more than 1 GiB"),
}
ANSWERED = {
    "memory": Failed(Status.OUT_OF_MEMORY, "MemoryError"),
    "program": Failed(Status.CRASHED, "the program was killed by SIGKILL"),
    "error": Failed(Status.ERRORED, "ValueError"),
}
SURE = ("crash", "error")
SLOW = {Status.TIMED_OUT, Status.OUT_OF_MEMORY}

LIMITS = Limits(deaths=5, hangs=2)


class World:
    """What all processes of a worker share: what was done once, the clock, how loading goes."""

    def __init__(self, *loads, known=True):
        self.known, self.now, self.done = known, 0.0, Counter()
        self.loads = iter([*loads, *repeat(Loaded(), 99)])
        self.leave = None

    def fails(self, data, count, seconds):
        """The fault of an input, if it shows now."""
        fault, often, *_ = data.decode().split()
        self.done[data] += 1
        due = {
            "always": True,
            "never": False,
            "once": self.done[data] == 1,
            "together": count > 1,
            "hurried": count > 1 and seconds < 20,
        }
        return fault if due[often] else None

    def process(self, *given, **options):
        """Start a process. Raises OSError."""
        return Played(self)


class Played:
    """A process in which an input does as it says."""

    printed = ""
    at_work = 0.0

    def __init__(self, world):
        self._world = world
        self._load = next(world.loads)
        if isinstance(self._load, OSError):
            raise self._load

    def usage(self):
        return Usage(0.0, 0, awake=False)

    def kill(self):
        pass

    def close(self):
        pass

    def ask(self, request, seconds, kind, count=0):
        if kind is Loaded:
            if isinstance(self._load, WorkerDied):
                raise self._load
            return self._load
        world, outcomes = self._world, []
        world.now += 5.0
        for row, data in enumerate(request.inputs):
            fault = world.fails(data, count, seconds)
            if fault == "leave":
                world.leave()
                fault = "killed"
            if fault in DEATHS:
                index = row if world.known or count == 1 else -1
                raise WorkerDied(DEATHS[fault], index, over=fault == "full")
            outcomes.append(ANSWERED[fault] if fault else Encoded((1,)))
        return Results.of(outcomes)


@pytest.fixture
def started(monkeypatch):
    """Start a worker in a world."""
    made = []

    def start(world, **how):
        monkeypatch.setattr(workers, "Process", world.process)
        clock = SimpleNamespace(monotonic=lambda: world.now, sleep=lambda seconds: None)
        monkeypatch.setattr(workers, "time", clock)
        made.append(Worker("played", "played", LIMITS, **how))
        made[-1].load(b"").result()
        return made[-1]

    yield start
    for one in made:
        one.close()


def ask(worker, *inputs, **how):
    return rows(worker.ask(Encode(Inputs.of(inputs), RAW, **how)).result(timeout=60))


class Model:
    """What is to come of batches of which it shows at once which input was at work."""

    def __init__(self):
        self.world = World()
        self.deaths = self.hangs = self.leaks = 0
        self.hanging, self.excused = set(), []

    @property
    def withdrawn(self):
        return self.deaths >= LIMITS.deaths or self.hangs >= LIMITS.hangs

    def count(self, fault):
        if fault == "hang":
            self.hangs += 1
        elif fault in DEATHS:
            self.deaths += 1

    def batch(self, inputs):
        """The statuses of a batch; an input that is not asked is unsupported."""
        if self.withdrawn:
            return [Status.UNSUPPORTED] * len(inputs)
        faults = []
        for data in inputs:
            faults.append(self.world.fails(data, len(inputs), 0))
            if faults[-1] in DEATHS:
                break
        dead = bool(faults) and faults[-1] in DEATHS
        if dead and faults[-1] == "crash":
            self.count("crash")
        room, found = LIMITS.batch_deaths, []
        for row, data in enumerate(inputs):
            fault, new = (faults[row], False) if row < len(faults) else (None, True)
            last = dead and row == len(faults) - 1
            if dead and not last:  # the answers of all others went with the process
                fault, new = None, True
            if not new and (fault is None or fault == "error"):
                found.append(ANSWERED[fault].status if fault else Status.ENCODED)
                continue
            if room <= 0 or (new and self.withdrawn):
                found.append(Status.UNSUPPORTED)
                continue
            if new:
                fault = self.world.fails(data, 1, 0)
                if fault == "crash":
                    self.count("crash")
                if fault is None or fault == "error":
                    found.append(ANSWERED[fault].status if fault else Status.ENCODED)
                    continue
            room -= 1
            status = self.settled(data, fault)
            found.append(status)
            if status in SLOW:
                room = 0
        return found

    def settled(self, data, fault):
        """The status of an input that has failed: sure, known to hang, or asked again."""
        if fault in SURE:
            return Status.CRASHED
        if fault == "hang" and data in self.hanging:
            self.count("hang")
            return Status.TIMED_OUT
        if self.withdrawn:
            return Status.UNSUPPORTED
        again = self.world.fails(data, 1, 0)
        if again is not None:
            self.count(again)
            if again == fault == "hang":
                self.hanging.add(data)
            return {**DEATHS, **ANSWERED}[again].status
        self.leaks += fault == "full"
        if fault == "full" and self.leaks >= workers.LEAKS:
            self.count("full")
            return Status.OUT_OF_MEMORY
        self.excused.append(data)
        return Status.ENCODED


INPUTS = st.builds(
    "{} {} {}".format,
    st.sampled_from([*DEATHS, *ANSWERED]),
    st.sampled_from(["always", "once", "never", "never"]),
    st.integers(0, 2),
).map(str.encode)


@given(st.lists(st.lists(INPUTS, min_size=1, max_size=5), max_size=5))
def test_accused_is_what_is_sure_or_comes_back_and_no_more_is_asked_than_is_worth_it(batches):
    with pytest.MonkeyPatch.context() as patch:
        world, model = World(), Model()
        patch.setattr(workers, "Process", world.process)
        worker = Worker("played", "played", LIMITS)
        try:
            worker.load(b"").result()
            for inputs in batches:
                outcomes = ask(worker, *inputs)
                assert [one.status for one in outcomes] == model.batch(inputs)
                assert [one.data for one in taken(worker.excused)] == model.excused
                assert world.done == model.world.done  # nobody is asked more often
                assert worker.losses == (model.deaths, model.hangs)
                assert (worker.withdrawn is not None) == model.withdrawn
                model.excused.clear()
        finally:
            worker.close()


FINE = b"error never"


@pytest.mark.parametrize(
    ("data", "status", "note", "losses"),
    [
        (b"hang once", None, "", (0, 0)),
        (b"hang hurried", None, "", (0, 0)),
        (b"hang always", Status.TIMED_OUT, "", (0, 1)),
        (b"hang together", Status.TIMED_OUT, TOGETHER, (0, 1)),
        (b"crash once", Status.CRASHED, TOGETHER, (1, 0)),
        (b"crash always", Status.CRASHED, "", (2, 0)),
        (b"full together", Status.OUT_OF_MEMORY, LEAKING, (1, 0)),
    ],
)
def test_where_nobody_knows_which_input_was_at_work(started, data, status, note, losses):
    worker = started(World(known=False))
    first, *others = ask(worker, FINE, FINE, data)
    failed = [one for one in (first, *others) if isinstance(one, Failed)]
    assert [one.status for one in failed] == ([status] if status else [])
    assert [first] == failed if note else others[0] == Encoded((1,))
    assert all(one.message.endswith(note) for one in failed)
    assert [one.data for one in taken(worker.excused)] == ([] if status else [b""])
    assert worker.losses == losses


def test_a_batch_that_was_too_slow_as_a_whole_has_more_time_from_then_on(started):
    worker = started(World(known=False))
    for excused in (1, 0):
        assert ask(worker, FINE, b"hang hurried") == [Encoded((1,))] * 2
        assert len(taken(worker.excused)) == excused


def test_what_dies_wherever_a_batch_is_cut_is_asked_one_by_one(started):
    world = World()
    assert ask(started(world), *[b"killed together"] * 300) == [Encoded((1,))] * 300
    assert world.now <= 5.0 * 305


def test_what_is_measured_is_measured_again_whole(started):
    worker = started(World())
    assert ask(worker, FINE, b"hang once", meter=Meter.TIME) == [Encoded((1,))] * 2
    assert len(taken(worker.excused)) == 1
    outcomes = ask(worker, FINE, b"hang once 2", b"crash always", FINE, meter=Meter.TIME)
    assert outcomes == [*[Encoded(())] * 2, DEATHS["crash"], Unsupported()]
    assert taken(worker.excused) == []


MEMORY, PROGRAM = ("MemoryError no", "out-of-memory"), ("the program was killed by SIGKILL", "")
KILLED, CRASHED = WorkerDied(DEATHS["killed"]), WorkerDied(DEATHS["crash"])
FULL, WRONG = OSError("no room"), Loaded("ValueError: no", "errored")


@pytest.mark.parametrize(
    ("loads", "error", "attempts"),
    [
        ([Loaded(*MEMORY)], None, 2),
        ([Loaded(*PROGRAM)], None, 2),
        ([KILLED], None, 2),
        ([FULL], None, 2),
        ([KILLED, KILLED], "crashed: killed by SIGKILL", 2),
        ([FULL, FULL], f"{FAULT}: no room", 2),
        ([CRASHED], "crashed: killed by SIGSEGV", 1),
        ([WRONG], "ValueError: no", 1),
    ],
)
@pytest.mark.parametrize("again", [False, True])
def test_a_load_in_doubt_is_tried_once_more(started, loads, error, attempts, again):
    """At first, and where a death has to be followed by another process."""
    world = World(*([Loaded()] if again else []), *loads)
    worker = started(world)
    outcomes = ask(worker, b"killed once" if again else FINE, FINE)
    assert len(list(world.loads)) == 99 + len(loads) - attempts
    if error is None:
        assert outcomes == [Encoded((1,))] * 2
    elif not again:
        assert worker.withdrawn == error
    else:
        assert worker.withdrawn == f"could not be started again: {error}"
        assert worker.losses == ((0, 0) if loads[0] is FULL else (1, 0))
    assert len(taken(worker.excused)) == (again and error is None)


def test_what_is_too_long_is_not_asked(started):
    worker = started(World(), longest=len(FINE))
    long, *others = ask(worker, b"crash always", FINE, b"hang once")
    assert long == Unsupported() and long.message == "longer than its limit of 11 bytes"
    assert others == [Encoded((1,))] * 2
    assert ask(worker, b"crash always") == [Unsupported()]
    assert worker.losses == (0, 0)


@pytest.mark.parametrize("how", ["abandon", "stop"])
def test_who_is_let_go_meanwhile_has_not_answered(started, how):
    world = World()
    worker = started(world)
    world.leave = getattr(worker, how)
    for data in (b"leave once", b"leave always"):
        assert ask(worker, data, FINE) == [Unsupported()] * 2
        assert ask(worker, FINE) == [Unsupported()]
        worker.resume().result()
        assert ask(worker, FINE) == [Encoded((1,)) if how == "abandon" else Unsupported()]
    assert taken(worker.excused) == []
    assert worker.losses == (0, 0)


@pytest.mark.parametrize("share", [0.4, 0.6])
def test_who_is_refused_memory_leaks_where_it_has_much_of_it(started, monkeypatch, share):
    usage = Usage(0.0, int(share * LIMITS.memory), awake=False)
    monkeypatch.setattr(Played, "usage", lambda self: usage)
    worker = started(World())
    outcomes = [ask(worker, data)[0] for data in (b"memory once 1", b"memory once 2")]
    leaks = [LEAKING in getattr(one, "message", "") for one in outcomes]
    assert leaks == [False, share > 0.5]
    assert len(taken(worker.excused)) == (1 if share > 0.5 else 2)
