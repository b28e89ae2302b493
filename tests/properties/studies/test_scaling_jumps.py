"""Single inputs that cost far more than their length predicts become families."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest

from corpora.generators.material import is_text
from corpora.vocabularies import sources
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Failed, Inputs, Results, Status
from harness.studies.growth.jumps import JUMP, LEAST, LOOK_SECONDS, MOST, families_of, jumps
from harness.workers import costly
from harness.workers.costly import CostlyBatches
from impls.interface import Mode
from tests.doubles.growth_pools import contract, participant


def batch(*inputs):
    return Encode(Inputs.of(inputs), Mode())


def answered(*statuses):
    return Results.of([Failed(s, "") if s else Encoded([0]) for s in statuses])


def test_what_takes_longest_for_its_bytes_is_kept():
    kept = CostlyBatches()
    for n, cost in enumerate([1, 9, 1, 8, 7, 6, 1]):
        request = batch(b"x" * (10 + n))
        seconds = cost * (len(request.inputs.data) + costly.CALL)
        kept.note(request, answered(Status.ENCODED), seconds)
    usual, worst = kept.taken()
    assert usual == pytest.approx(6e9)
    assert [len(request.inputs.data) for request, _ in worst][:3] == [11, 13, 14]
    assert kept.taken() == (0.0, [])


class Pool:
    """Has kept costly batches; each call takes what was planted, the first of a text far more.

    usual: nanoseconds that are usual for a byte.
    """

    def __init__(self, costs, usual, results=None):
        self.costs, self.usual, self.results, self.asked = costs, usual, results, []

        self.costly = {"m": self, "another": self}

    def taken(self):
        results = self.results or answered(*[Status.ENCODED] * len(self.costs))
        return self.usual, [(batch(*self.costs), results)]

    def gauge(self, name, contract, inputs, meter):
        [data] = inputs
        self.asked.append(data)
        spent = self.costs[data] + 10**8 * (self.asked.count(data) == 1)
        return replace(answered(Status.ENCODED), costs=np.array([[spent]]))

    def lasting(self, left):
        return contextlib.nullcontext()


MINE = [contract([participant("m")])]
JUMPS = 100 * (84 + costly.CALL) * JUMP
"""Nanoseconds from which 84 bytes are a jump, where 100 are usual for a byte."""


def test_a_jump_is_beyond_what_its_length_predicts_and_no_short_pause():
    jump, less, long = b"a" * 84, b"b" * 84, b"c" * 9984
    pool = Pool({jump: JUMPS + 1, less: JUMPS - 1, long: JUMPS + 1}, 100.0)
    assert jumps(pool, "m", MINE) == [jump]
    assert jumps(Pool({jump: LEAST}, 0.001), "m", MINE) == []
    # The worst come first; the lesser of two calls counts.
    many = {bytes([letter]) * 84: JUMPS + letter for letter in b"abcd"}
    pool = Pool(many, 100.0)
    worst = [*reversed(many)][:MOST]
    assert jumps(pool, "m", MINE) == worst
    assert pool.asked == [*many, *worst]


def test_a_busy_machine_hides_no_jump():
    """By the clock on the wall a byte took a thousand times as long as it takes the processor."""
    jump, usual = b"a" * 84, [bytes([letter]) * 84 for letter in b"bcd"]
    costs = {jump: JUMPS + 1} | dict.fromkeys(usual, 100 * (84 + costly.CALL))
    pool = Pool(costs, 100.0 * 1000)
    pool.asked = [*costs]  # so that no first call is far dearer
    assert jumps(pool, "m", MINE) == [jump]


def test_what_is_slow_throughout_is_looked_into_for_some_seconds_of_the_processor():
    costs = {bytes([letter]) * 84: 10**9 for letter in range(20)}
    pool = Pool(costs, 10.0**7)
    pool.asked = [*costs]
    assert jumps(pool, "m", MINE) == []
    assert len(pool.asked) == 20 + LOOK_SECONDS


def test_what_was_lost_is_a_jump_without_being_asked_again():
    lost = answered(Status.ENCODED, Status.TIMED_OUT, Status.OUT_OF_MEMORY)
    pool = Pool(dict.fromkeys([b"fine", b"longer than", b"short"], JUMPS), 1.0, lost)
    assert jumps(pool, "m", MINE) == [b"short", b"longer than"]
    assert not pool.asked
    assert jumps(Pool({b"a" * 84: JUMPS + 1}, 100.0), "another", MINE) == []


@pytest.mark.parametrize(
    ("data", "run"),
    [
        (b"see ((((((((( and go", b"see " + b"(" * 12 + b" and go"),
        ("für ñañañañaña".encode(), "für ñañañañañañ".encode()),
        (b"\xff\xfe" * 9, b"\xff\xfe" * 11 + b"\xff"),
        ("aéé".encode(), b""),
    ],
)
def test_an_input_becomes_its_run_nested_and_repeated(data, run):
    vocabulary, size = sources.resolve("toy_bytes"), len(run) or 9
    made = {one.name: one.make(vocabulary, size, 0) for one in families_of("m", 1, data)}
    assert made.pop("costly-input-1-run", b"") == run
    repeated = made.pop("costly-input-1-repeated")
    assert (data * 4).startswith(repeated)
    [(name, nested)] = made.items()
    assert name == "costly-input-1-nested"
    assert len(nested) <= size and is_text(nested) == is_text(data)
