"""A pool in which calls take planted times, and a clock that they move."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from corpora.families.catalog import FAMILIES
from corpora.vocabularies import sources
from harness.core.comparisons import Contract
from harness.core.messages import Meter
from harness.core.outcomes import Encoded, Failed, Results, Spent, Status
from harness.core.participants import Participant
from harness.studies.growth.measurement import Measurement
from impls.interface import Mode
from tests.doubles import planted

LARGEST = 64 << 10


class Simulated:
    """Stands in for a pool: answers with planted times."""

    def __init__(self, answers):
        self.answers = answers
        self.asked = []
        self.requests = Counter()
        self.gone = {}

    def gauge(self, name, contract, inputs, meter):
        if name in self.gone:
            return Results.of([Failed(Status.UNSUPPORTED, self.gone[name])] * len(inputs))
        self.requests[name, meter] += 1
        if meter is Meter.TIME:
            self.asked += [(name, data) for data in inputs]
        answers = [self.answers[name](data) for data in inputs]
        results = Results.of([Encoded(()) if isinstance(a, int) else a for a in answers])
        spent = np.array([a if isinstance(a, int) else 0 for a in answers], dtype=np.int64)
        return replace(results, costs=spent[:, None])

    def answer(self, name, request):
        """A call by all clocks: of an implementation in the worker itself."""
        (data,) = request.inputs
        answer = self.answers[name](data)
        if not isinstance(answer, int):
            return Results.of([answer])
        return replace(Results.of([Encoded(())]), timed=self.clocks(name, answer))

    def clocks(self, name, spent):
        """What the clocks say of a call."""
        return Spent(spent, spent, 1)

    def withdrawn(self):
        return self.gone

    def limit_by(self, left):
        self.left = left


def participant(name, max_input=None):
    implementation = planted.Linear()
    about = replace(implementation.about, name=name, max_input=max_input)
    return Participant(name, name, about, implementation)


def contract(participants, vocabulary="toy_bytes"):
    loaded = sources.resolve(vocabulary)
    return Contract(loaded, Mode(), tuple(participants), frozenset(), {}, proper=True)


def measurement_of(
    pool,
    kinds=FAMILIES[:1],
    largest=LARGEST,
    max_input=None,
    references=(),
    **rest,
):
    """The measurement of all that a pool has, and what it will have said."""
    every = contract([participant(name, max_input) for name in pool.answers])
    taking = [replace(every, references=frozenset(references))]
    return Measurement(pool, taking, kinds, largest, **rest), []


def measure(
    answers,
    kinds=FAMILIES[:1],
    seconds=60.0,
    max_input=None,
):
    pool = Simulated(answers)
    measurement, said = measurement_of(pool, kinds, max_input=max_input)
    measurement.run(seconds, said.append)
    return said, pool


def linear(data):
    return 2_000 + 50 * len(data)


def quadratic(data):
    return 2_000 + 10 * len(data) + len(data) ** 2 // 10


class Clock:
    """A clock of the measurement that moves when somebody is asked. each: called at each call."""

    def __init__(self):
        self.at = 0.0
        self.each = lambda: None

    def monotonic(self):
        return self.at

    def slow(self, seconds):
        """Answers of a linear cost, each of which takes so long."""

        def answer(data):
            self.at += seconds
            self.each()
            return linear(data)

        return answer


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    for module in ("measurement", "schedule", "prober"):
        monkeypatch.setattr(f"harness.studies.growth.{module}.time", made)
    return made
