"""Single inputs that cost far more than their length predicts become families."""

from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest

from corpora.vocabularies import sources
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Failed, Inputs, Results, Status
from harness.studies.growth.jumps import JUMP, beyond, families_of, jumps
from harness.workers import costly
from harness.workers.costly import CostlyBatches
from impls.interface import Mode


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on by hand."""
    now = [0.0]
    monkeypatch.setattr(costly.time, "monotonic", lambda: now[0])
    return now


def batch(*inputs):
    return Encode(Inputs.of(inputs), Mode())


def answered(*statuses):
    return Results.of([Failed(s, "") if s else Encoded([0]) for s in statuses])


def test_what_takes_longest_for_its_bytes_is_kept_and_waiting_does_not_count(clock):
    costs, kept = [1, 9, 1, 8, 7, 6, 1], CostlyBatches()
    asked = [(batch(b"x" * (10 + n)), Future()) for n in range(len(costs))]
    for request, answer in asked:  # all at once: each waits for those before
        kept.watch(request, answer)
    for cost, (request, answer) in zip(costs, asked, strict=True):
        clock[0] += cost * (len(request.inputs.data) + costly.CALL)
        answer.set_result(answered(Status.ENCODED))
    usual, worst = kept.taken()
    assert usual == pytest.approx(6e9)
    assert [len(request.inputs.data) for request, _ in worst][:3] == [11, 13, 14]
    assert kept.taken() == (0.0, [])


def test_a_jump_is_beyond_what_its_length_predicts_and_no_short_pause():
    inputs = [b"a" * 84, b"b" * 84, b"c" * 9984]
    spent = [JUMP * 100 * 100 + 1, JUMP * 100 * 100 - 1, JUMP * 100 * 100 + 1]

    def gauge(one):
        return replace(answered(Status.ENCODED), costs=np.array([[spent[inputs.index(one)]]]))

    assert list(beyond(gauge, inputs, 100.0)) == inputs[:1]
    spent[:] = [150_000] * 3
    assert not beyond(gauge, inputs, 1.0)


@pytest.mark.parametrize(
    ("data", "run"),
    [
        (b"see ((((((((( and go", b"see " + b"(" * 12 + b" and go"),
        ("für ñañañañaña".encode(), "für ñañañañañañ".encode()),
        (b"\xff\xfe" * 9, b"\xff\xfe" * 11 + b"\xff"),
    ],
)
def test_an_input_becomes_its_run_nested_and_repeated(data, run):
    vocabulary = sources.resolve("toy_bytes")
    made = {one.name: one.make(vocabulary, len(run), 0) for one in families_of("m", 1, data)}
    assert made["costly-input-1-run"] == run
    repeated = made["costly-input-1-repeated"]
    assert (data * 2).startswith(repeated)
    assert len(made["costly-input-1-nested"]) <= len(run)


def test_what_was_lost_is_a_jump_without_being_asked_again():
    class Pool:
        def costly(self, name):
            results = answered(Status.ENCODED, Status.TIMED_OUT, Status.OUT_OF_MEMORY)
            return 1.0, [(batch(b"fine", b"longer than", b"short"), results)]

    assert jumps(Pool(), "m", []) == [b"short", b"longer than"]
