"""What a program says of its own time: lies are told from protocols of any cost."""

import sys

import numpy as np
import pytest

from corpora.families.catalog import families
from harness.studies.costs.told import measure_told
from harness.studies.growth.study import answering
from harness.verdict.exponents import Verdict
from harness.verdict.told import Told, judge_told
from harness.workers.calls import without_pipe
from impls.external_times import Timed
from tests.doubles.plugged import live

PROGRAM = f"cmd:{sys.executable} -m harness.studies.selftest.program --kind"

SIZES = (16 << 10, 64 << 10, 256 << 10)


def calls(work, said, parse, write=4.0, slow=1.0, sizes=SIZES, echo=True):
    """Calls of a program: nanoseconds for a byte of its work, of what it says, and of its parser.

    write: how many times as long it takes to write a byte as to read one. slow: how many times as
    long everything takes at the clock on the wall. echo: whether it gives one.
    """
    found = {}
    for size in sizes:
        asked, answered = int(size * 1.4), 4 * size
        spent = int(work * size + parse * (asked + write * answered))
        told = None if said is None else int(said * size)
        echoed = int(parse * asked * slow) if echo else None
        found[size] = [Told(told, spent, int(spent * slow), echoed, asked, answered)] * 3
    return found


def test_random_programs_that_say_the_truth_are_never_accused():
    rng = np.random.default_rng(0)
    for _ in range(3000):
        work, parse = np.exp(rng.uniform(0, 9)), np.exp(rng.uniform(-1, 7))
        told = calls(work, work, parse, write=rng.uniform(0.5, 8), slow=rng.uniform(1, 8))
        assert judge_told(told) is not Verdict.SUPERLINEAR


@pytest.mark.parametrize(
    ("told", "verdict"),
    [
        (calls(2000.0, 1e-3, 3.0), Verdict.SUPERLINEAR),  # a microsecond for everything
        (calls(2000.0, 200.0, 3.0), Verdict.SUPERLINEAR),
        (calls(2000.0, 900.0, 3.0), Verdict.LINEAR),  # by a factor it may be threads
        # What its protocol might take as well is not told apart.
        (calls(20.0, 1e-3, 3.0), Verdict.LINEAR),
        # Who says nothing or gives no echo is not judged, and one size alone is no evidence.
        (calls(2000.0, None, 3.0), Verdict.INCONCLUSIVE),
        (calls(2000.0, 1e-3, 3.0, echo=False), Verdict.INCONCLUSIVE),
        (calls(2000.0, 1e-3, 3.0, sizes=SIZES[:1]), Verdict.INCONCLUSIVE),
        ({}, Verdict.INCONCLUSIVE),
    ],
)
def test_what_is_no_true_word(told, verdict):
    assert judge_told(told) is verdict


class Behind(Timed):
    """An encoder behind a pipe, as the clock meets it."""

    nanoseconds, waited, exchanged = 900, 900, (10, 10)

    def __init__(self, *, told, echo):
        self.told, self._echo = told, echo

    def processor_time(self):
        return 0

    def echo(self):
        return self._echo


@pytest.mark.parametrize(
    ("told", "echo", "left"),
    [(True, 300, 900), (False, 300, 600), (False, None, 900), (False, 800, 450)],
)
def test_the_pipe_is_left_out_of_what_the_clock_says_and_of_no_word(told, echo, left):
    """What is left of a difference is half at the least: less of it would be noise."""
    assert without_pipe(Behind(told=told, echo=echo), 900) == left


def said_of(kind):
    with live([f"{PROGRAM} {kind}"]) as (pool, contracts):
        on = answering(pool, contracts[0].participants[0], contracts, b"abc")
        assert on.contract.mode.label == "raw"  # the only one that it does
        return measure_told(on, families()["prose"], lambda: False)


def test_programs_that_say_the_truth_something_else_and_nothing():
    lies, true = said_of("false-times"), said_of("true-times")
    assert (lies.verdict, lies.measure) == ("superlinear", "claim")
    assert "it says that" in lies.note and "0.001 ms" in lies.note and "ms of CPU time" in lies.note
    assert (true.verdict, true.note) == ("linear", "")
    assert said_of("right") is None
