"""What workers and helpers answer is data of a type, or their clear end: nothing of it is run."""

import logging
import os
import time
from itertools import count
from types import SimpleNamespace

import pytest

from harness.core.outcomes import Status
from harness.studies.fuzz import coverage
from harness.workers import clock, wire
from harness.workers import process as processes
from harness.workers.clock import Usage
from harness.workers.pool import Stopped
from harness.workers.process import Process, WorkerDied


def main(arguments, held=None):
    """Answer byte by byte; to the second request for ever, and never with a whole answer."""
    inlet, outlet = map(int, arguments[1:3])
    with os.fdopen(inlet, "rb") as requests:
        sequence, answer = wire.read_request(requests.read)
        for byte in wire.packed_answer(sequence, None) + wire.packed_answer(sequence, answer):
            os.write(outlet, bytes((byte,)))
            time.sleep(0.005)  # so that not all of them are there at one look
        wire.read_request(requests.read)
        os.write(outlet, wire.PREFIX.pack(wire.MAGIC, 1 << 20, 0))
        while True:
            os.write(outlet, b"x")
            time.sleep(0.03)


def test_an_answer_may_come_byte_by_byte_but_not_for_ever(monkeypatch):
    process = Process(__name__, 1 << 30, others="a test")
    try:
        with monkeypatch.context() as patch:
            # It waits for the harness all the time, which takes more than its limit for each look.
            now = count(0.0, 1000.0)
            patch.setattr(clock, "WALL", 1e6)
            patch.setattr(processes, "LOOK_SECONDS", 60.0)
            patch.setattr(processes, "time", SimpleNamespace(monotonic=lambda: next(now)))
            patch.setattr(process, "usage", lambda: Usage(0.0, 0, awake=False))
            assert process.ask("whole", 900.0, str) == "whole"
            assert next(now) >= 4000.0  # it was looked at in between
        monkeypatch.setattr(clock, "LEAST_WALL", 0.5)
        with pytest.raises(WorkerDied) as died:
            process.ask("endless", 0.01, str)
    finally:
        process.close()
    assert died.value.outcome.status is Status.TIMED_OUT


@pytest.mark.parametrize("framed", [0, 1])
def test_a_pickle_of_a_helper_is_refused(framed, tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        request = str(tmp_path / "ran"), framed
        said = coverage.ask("tests.doubles.bomb", request, lambda: False)
    assert said is None
    assert "tests.doubles.bomb: " in caplog.text
    assert not (tmp_path / "ran").exists()


def test_a_helper_ends_when_the_campaign_is_stopped():
    with pytest.raises(Stopped):
        coverage.ask("tests.doubles.bomb", ("", 0), lambda: True)
