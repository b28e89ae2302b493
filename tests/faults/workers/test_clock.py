"""The time that counts against a limit: of the implementation, and not of the machine."""

import errno
import os
import subprocess
import sys
import time
from unittest.mock import Mock

import psutil
import pytest

from harness.workers.clock import LEAST_WALL, WALL, Control, Stopwatch, Usage, usage_of
from impls import processes

WALL_SECONDS = max(LEAST_WALL, WALL)
CPU, SAT = "no answer within 1.0 s of CPU time", "no answer within 1.0 s, in which it only waited"


@pytest.mark.parametrize(
    ("steps", "slowness", "late"),
    [
        ([(0.5, 0.5, True)], 1.0, None),
        ([(0.5, 0.5, True), (1.2, 1.1, True)], 1.0, CPU),
        # A machine that has slowed down gives as much more time.
        ([(2.0, 2.0, True)], 1.0, CPU),
        ([(2.0, 2.0, True)], 3.0, None),
        # Twenty seconds on the wall, in which others had the processor.
        ([(n, 0.01 * n, True) for n in range(1, 20)], 1.0, None),
        # Who sits is late by the wall; who works now and then does not sit.
        ([(n / 10, 0.0, False) for n in range(1, 12)], 1.0, SAT),
        ([(n / 10, 0.05 * n, False) for n in range(1, 12)], 1.0, None),
        # What no counter shows ends all the same.
        ([(WALL_SECONDS - 1, 0.0, True)], 1.0, None),
        ([(WALL_SECONDS + 1, 0.0, True)], 1.0, f"no answer within {WALL_SECONDS:.0f} s"),
    ],
)
def test_whose_time_is_up(steps, slowness, late):
    """Steps: the time on the wall, CPU time so far, whether anybody had work."""
    watch = Stopwatch(1.0, 0.0, 0.0)
    for now, cpu, awake in steps:
        watch.look(now, Usage(cpu, 0, awake), place=-1, compiling=False)
    assert watch.overdue(lambda: slowness) == late


def late(steps, count, *, compiling=lambda place: False):
    """Whether time is up by the end. Steps: the time on the wall, all worked, and the place."""
    watch, said = Stopwatch(1.0, 0.0, 0.0, count=count), []
    for now, place in steps:
        usage = Usage(now, 0, awake=True)
        watch.look(now, usage, place=place, compiling=compiling(place))
        said.append(watch.overdue(lambda: 1.0))
    assert said[:-1] == [None] * (len(said) - 1) or count == 2
    return said[-1] is not None


@pytest.mark.parametrize("place", [10, 9])
def test_each_input_has_its_own_time(place):
    steps = [(0.9 * n, n) for n in range(10)]
    assert not late(steps, 10)
    assert late([*steps, (9.2, place)], 10)


def test_a_compiler_takes_nobodys_time_but_not_for_ever():
    steps = [(float(n), -1) for n in range(1, 10)]
    assert not late(steps, 0, compiling=lambda place: True)
    assert late([*steps, (10.5, -2)], 0, compiling=lambda place: place == -1)
    minutes = [(60.0 * n, n % 3) for n in range(1, 32)]
    assert not late(minutes[:-1], 3, compiling=lambda place: True)
    assert late(minutes, 3, compiling=lambda place: True)


@pytest.mark.parametrize("places", [[0, 1] * 500, [5] * 1000, range(-1000, 0), [2**40, 3] * 500])
def test_who_says_more_inputs_than_there_are_is_late(places):
    assert late([(n / 10, place) for n, place in enumerate(places)], 2)


def test_usage_counts_children_and_their_threads():
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'while True: pass'])"
    with subprocess.Popen([sys.executable, "-c", script], start_new_session=True) as parent:
        try:
            before = usage_of(parent.pid)
            while usage_of(parent.pid).cpu < before.cpu + 0.3:
                time.sleep(0.05)
            assert usage_of(parent.pid).awake
            assert usage_of(parent.pid).memory > 0
        finally:
            os.killpg(parent.pid, 9)


def test_who_sleeps_is_not_awake_and_who_is_gone_spends_nothing():
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as parent:
        while usage_of(parent.pid).awake or not usage_of(parent.pid).memory:  # on its way to sleep
            time.sleep(0.01)
    assert usage_of(parent.pid) == Usage(0.0, 0, awake=False)


def test_the_control_is_never_faster_than_its_best(monkeypatch):
    costs = iter([0.004, 0.002, 0.003, 0.006, 0.001, 0.002])
    monkeypatch.setattr(Control, "_cost", staticmethod(lambda: next(costs)))
    control = Control()
    assert control.slowness() == 3.0
    assert control.slowness() == 1.0  # faster than ever
    assert control.slowness() == 2.0


@pytest.mark.parametrize("listed", [True, False], ids=["kernel", "psutil"])
def test_the_family_has_grandchildren(listed, monkeypatch):
    if not listed:
        monkeypatch.setattr(processes, "_children", refused)
        monkeypatch.setattr(processes, "_lists_children", lambda: False)
    code = (
        "import subprocess, sys\n"
        "one = subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE)\n"
        "print(one.pid, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        grandchild = int(child.stdout.readline())
        assert processes.descendants(child.pid) == [grandchild]
        assert {child.pid, grandchild} <= set(processes.descendants(os.getpid()))
        child.kill()


def refused(*given, **options):
    """What a system says that does not show a process to its user."""
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@pytest.mark.parametrize("listed", [True, False], ids=["kernel", "psutil"])
def test_what_a_process_spends_is_told_without_its_family(listed, monkeypatch):
    monkeypatch.setattr(processes, "_children", refused)
    monkeypatch.setattr(processes, "_lists_children", lambda: listed)
    for children in (refused, Mock(side_effect=psutil.AccessDenied(1))):
        monkeypatch.setattr(psutil.Process, "children", children)
        assert usage_of(os.getpid()).memory > 0
