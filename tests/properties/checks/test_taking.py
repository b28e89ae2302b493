"""What a check gets of a batch that is too large to ask further questions about all of it."""

from collections import Counter
from types import SimpleNamespace

import pytest

from harness.checks.base import Check, Judgement, Observation, Violation
from harness.core.outcomes import Encoded, Inputs, Results
from harness.engine.samples import TEXTS, sample
from harness.engine.streams import Batch
from harness.events import BatchDone
from tests.doubles.scenes import Scene, judge_of, right

CONTRACT = SimpleNamespace(id="v/text", exact=("a",))


class Wrong(Check):
    """A check by which one input is at fault wherever it is seen."""

    name = "wrong"
    summary = "one input is at fault"

    def __init__(self, every):
        self.every = every

    def applies(self, contract):
        return True

    def judge(self, seen, ask):
        inputs = list(seen.inputs)
        found = Violation("wrong", 7, inputs[7], (), ("ref",))
        return Judgement([found], Counter(ref=len(inputs)))


def batch(count, generator="random", number=3):
    return Batch(generator, 0, number, 0, [f"input {i}".encode() for i in range(count)])


def observation(asked):
    answers = [Encoded((index,)) for index in range(len(asked.inputs))]
    return Observation(CONTRACT, Inputs.of(asked.inputs), {"a": Results.of(answers)})


def test_it_is_a_run_of_inputs_with_their_answers():
    asked = batch(1000)
    first, part = sample(Wrong(4), asked, observation(asked))
    assert list(part.inputs) == asked.inputs[first : first + Check.most]
    assert part.results["a"].ids_of(0) == [first]
    assert sample(Wrong(4), asked, observation(asked))[0] == first
    places = {
        sample(Wrong(4), one, observation(one))[0]
        for one in (batch(1000, number=number) for number in range(8))
    }
    assert len(places) > 4, "they lie at other places in other batches"


@pytest.mark.parametrize(
    ("every", "asked"),
    [(1, batch(1000)), (4, batch(Check.most)), (4, batch(1000, generator=TEXTS))],
    ids=["without further questions", "small", "the user's texts"],
)
def test_all_of_it(every, asked):
    seen = observation(asked)
    assert sample(Wrong(every), asked, seen) == (0, seen)


def test_what_is_at_fault_is_the_case_of_the_batch():
    scene, told = Scene(ref=right), []
    judge = judge_of(scene, Wrong(2), sampled=True)
    for number in (0, 1):  # it is put to every second batch
        asked = batch(1000, number=number)
        judge.judge(
            scene.pool,
            scene.pool.again(scene.contract, Inputs.of(asked.inputs)),
            asked,
            told.append,
        )
    (one,) = told
    assert one.case.data == one.violation.data
    assert one.violation.data == asked.inputs[one.violation.index]
    exercised = [one.exercised for one in scene.events if isinstance(one, BatchDone)]
    assert exercised.count({"wrong": {"ref": Check.most}}) == 1
