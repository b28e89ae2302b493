"""Made-up records of runs, and results of them, for the tests of the benchmark of false alarms."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.events import (
    BatchDone,
    Event,
    Finished,
    Found,
    Group,
    GrowthJudged,
    Measured,
    Started,
    Withdrawn,
)
from tests.benchmarks.alarms.judging import Ended, Judged, judged
from tests.benchmarks.alarms.plan import SLOW, Run
from tests.benchmarks.alarms.results import Result

PASSED = Ended(0, 60.0, first_case=10.0, verdict=55.0)
FAILED = replace(PASSED, exit_status=1)

STARTED = Started("2026-11-20T00:00:00+00:00", 0, "smoke", "40s", "tokgate run", {}, "Linux")
FINISHED = Finished(True, "pass", [], 50.0, 9000, 18000, 0)
DONE = BatchDone(
    "v/raw", "edge", 100, 900, 100, {"survival": {"tiktoken": 100, SLOW: 10}, "offsets": {}}, {}
)


def found(name: str = "llama.cpp", stage: str = "timed-out", **changed: Any) -> Found:
    made = Found(
        id="f-1",
        check="survival",
        stage=stage,
        bucket=f"survival/bpe/raw/{stage}/any/{name}",
        contract="v/raw",
        vocabulary="v",
        mode="raw",
        culprits=[name],
        partition=[Group([name], stage, message="no answer")],
        input_b64="",
        difference="died",
        first_difference=None,
        generator="g",
        seed=0,
        index=0,
        original_bytes=0,
        minimal=True,
        expected=None,
        link=None,
        reproducer=None,
    )
    return replace(made, **changed)


def measured(name: str, verdict: str = "superlinear") -> Measured:
    return Measured(name, "v", "letter-run", 2.0, 1.9, 2.1, verdict, [[64, 1e-6], [128, 4e-6]])


def bound(name: str, outcome: str) -> GrowthJudged:
    return GrowthJudged(name, "v", "letter-run", "time", "linear", outcome, "proved", "n^2")


def record(*events: Event, ended: Ended = PASSED) -> Judged:
    return judged([STARTED, DONE, *events, FINISHED], ended)


def result(kind: str, run: Judged, load: int = 0, cold: bool = False, nth: int = 0) -> Result:
    return Result(Run(kind, load, cold, nth, 0, None), run, f"runs/{kind}", 1.0)


SOME = [
    result("run", record()),
    result("run", record(found(), found(id="f-2"), ended=FAILED), nth=1),
    result(
        "fuzz",
        record(Withdrawn("llama.cpp", "v", "gone"), bound("spm.x", "fail"), measured("spm.x")),
        4,
        True,
    ),
    result("grows", record(found("grows", "out-of-memory"), ended=FAILED)),
    result("grows", record(found("tiktoken", "out-of-memory"), ended=FAILED), nth=1),
]
