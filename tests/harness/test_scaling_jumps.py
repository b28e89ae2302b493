"""Single inputs that cost far more than their length predicts become families."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from corpora.vocabularies import sources
from harness.core.messages import Encode
from harness.core.outcomes import Encoded, Failed, Inputs, Results, Status
from harness.studies.growth.jumps import JUMP, beyond, families_of, jumps
from harness.workers import costly
from harness.workers.costly import CostlyBatches
from impls.interface import Mode


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
    results = answered(Status.ENCODED, Status.TIMED_OUT, Status.OUT_OF_MEMORY)
    kept = CostlyBatches()
    kept.note(batch(b"fine", b"longer than", b"short"), results, 1.0)
    pool = SimpleNamespace(costly={"m": kept})
    assert jumps(pool, "m", []) == [b"short", b"longer than"]
