"""The time that counts against a limit: of the implementation, and not of the machine."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from unittest.mock import Mock

import psutil
import pytest

from harness.workers.clock import LEAST_WALL, WALL, Control, Stopwatch, Usage, usage_of
from impls import processes


def quiet() -> float:
    return 1.0


def slowed() -> float:
    return 3.0


def fed(
    steps: list[tuple[float, float, bool]], *, seconds: float = 1.0, place: int = -1
) -> Stopwatch:
    """A watch that saw these: the time on the wall, CPU time so far, whether anybody had work."""
    watch = Stopwatch(seconds, 0.0, 0.0)
    for now, cpu, awake in steps:
        watch.look(now, Usage(cpu, 0, awake), place=place, compiling=False)
    return watch


def test_cpu_time_beyond_the_limit_is_too_late() -> None:
    assert fed([(0.5, 0.5, True)]).overdue(quiet) is None
    late = fed([(0.5, 0.5, True), (1.2, 1.1, True)]).overdue(quiet)
    assert late == "no answer within 1.0 s of CPU time"


def test_a_machine_that_has_slowed_down_gives_as_much_more_time() -> None:
    watch = fed([(2.0, 2.0, True)])
    assert watch.overdue(quiet) is not None
    assert watch.overdue(slowed) is None


def test_who_waits_for_a_processor_is_not_late() -> None:
    # Twenty seconds on the wall, in which others had the processor.
    assert fed([(n, 0.01 * n, True) for n in range(1, 20)]).overdue(quiet) is None


def test_who_sits_is_late_by_the_wall() -> None:
    watch = fed([(n / 10, 0.0, False) for n in range(1, 12)])
    late = watch.overdue(quiet)
    assert late == "no answer within 1.0 s, in which it only waited"


def test_who_works_now_and_then_does_not_sit() -> None:
    assert fed([(n / 10, 0.05 * n, False) for n in range(1, 12)]).overdue(quiet) is None


def test_each_input_has_its_own_time() -> None:
    watch = Stopwatch(1.0, 0.0, 0.0, count=10)
    for place in range(10):
        watch.look(place, Usage(0.9 * place, 0, awake=True), place=place, compiling=False)
        assert watch.overdue(quiet) is None


def test_a_compiler_takes_nobodys_time() -> None:
    watch = Stopwatch(1.0, 0.0, 0.0)
    for second in range(1, 10):
        watch.look(second, Usage(second, 0, awake=True), place=-1, compiling=True)
        assert watch.overdue(quiet) is None
    watch.look(10.5, Usage(10.5, 0, awake=True), place=-1, compiling=False)
    assert watch.overdue(quiet) is not None  # what followed took a second and a half


def test_who_compiles_for_ever_is_late() -> None:
    watch = Stopwatch(1.0, 0.0, 0.0, count=3)
    for minute in range(1, 40):
        watch.look(60.0 * minute, Usage(0.0, 0, awake=False), place=minute % 3, compiling=True)
    assert "in which it said that it compiles" in str(watch.overdue(quiet))


@pytest.mark.parametrize("places", [[0, 1] * 500, [5] * 1000, range(-1000, 0), [2**40, 3] * 500])
def test_who_says_more_inputs_than_there_are_is_late(places: Sequence[int]) -> None:
    watch = Stopwatch(1.0, 0.0, 0.0, count=2)
    for now, place in enumerate(places):
        watch.look(now / 10, Usage(now / 10, 0, awake=True), place=place, compiling=False)
    assert watch.overdue(quiet) is not None


def test_what_no_counter_shows_ends_all_the_same() -> None:
    wall = max(LEAST_WALL, WALL)
    assert fed([(wall - 1, 0.0, True)]).overdue(quiet) is None
    assert "no answer within" in str(fed([(wall + 1, 0.0, True)]).overdue(quiet))


def test_usage_counts_children_and_their_threads() -> None:
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


def test_who_sleeps_is_not_awake() -> None:
    script = "import time; print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as parent:
        try:
            assert parent.stdout is not None
            parent.stdout.readline()
            while usage_of(parent.pid).awake:  # on its way to sleep
                time.sleep(0.01)
        finally:
            parent.kill()


def test_nothing_is_spent_by_who_is_gone() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as parent:
        pass
    assert usage_of(parent.pid) == Usage(0.0, 0, awake=False)


def test_the_control_is_never_faster_than_its_best(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = iter([0.004, 0.002, 0.003, 0.006, 0.001, 0.002])
    monkeypatch.setattr(Control, "_cost", staticmethod(lambda: next(costs)))
    control = Control()
    assert control.slowness() == 3.0
    assert control.slowness() == 1.0  # faster than ever
    assert control.slowness() == 2.0


@pytest.mark.parametrize("listed", [True, False], ids=["kernel", "psutil"])
def test_the_family_has_grandchildren(listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
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
        assert child.stdout is not None
        grandchild = int(child.stdout.readline())
        assert processes.descendants(child.pid) == [grandchild]
        assert {child.pid, grandchild} <= set(processes.descendants(os.getpid()))
        child.kill()


def refused(*given: object, **options: object) -> list[int]:
    """What a system says that does not show a process to its user."""
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@pytest.mark.parametrize("listed", [True, False], ids=["kernel", "psutil"])
def test_what_a_process_spends_is_told_without_its_family(
    listed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_children", refused)
    monkeypatch.setattr(processes, "_lists_children", lambda: listed)
    for children in (refused, Mock(side_effect=psutil.AccessDenied(1))):
        monkeypatch.setattr(psutil.Process, "children", children)
        assert usage_of(os.getpid()).memory > 0
