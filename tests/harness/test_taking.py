"""What a check gets of a batch that is too large to ask further questions about all of it."""

import threading
from collections import Counter
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.checks.base import Judgement, Observation, Violation
from harness.core.outcomes import Encoded, Failed, Inputs, Results, Status
from harness.engine.judge import Judge
from harness.engine.samples import MOST_ASKED_FURTHER, TEXTS, sample
from harness.engine.streams import Batch

CONTRACT = SimpleNamespace(id="v/text", exact=("a",))

outcomes = st.lists(
    st.one_of(
        st.builds(
            lambda ids: Encoded(tuple(ids), bytes(ids), tuple((i, i + 1) for i in ids)),
            st.lists(st.integers(0, 255), max_size=4),
        ),
        st.builds(Failed, st.just(Status.CRASHED), st.text(min_size=1, max_size=3)),
    ),
    min_size=1,
    max_size=12,
)


@given(outcomes, st.data())
def test_a_part_of_results_has_their_outcomes(rows, data):
    first = data.draw(st.integers(0, len(rows)))
    last = data.draw(st.integers(first, len(rows)))
    # A row without text among others that have one has an empty one.
    whole = Results.of(rows)
    part = whole.part(first, last)
    assert len(part) == last - first
    expected = [whole.outcome(index) for index in range(first, last)]
    assert [part.outcome(index) for index in range(len(part))] == expected


@given(st.lists(st.binary(max_size=4), max_size=12), st.data())
def test_a_part_of_inputs(inputs, data):
    first = data.draw(st.integers(0, len(inputs)))
    last = data.draw(st.integers(first, len(inputs)))
    assert list(Inputs.of(inputs).part(first, last)) == inputs[first:last]


class Wrong:
    """A check by which one input is at fault wherever it is seen."""

    name = "wrong"
    summary = "one input is at fault"

    def __init__(self, every):
        self.every = every

    def applies(self, contract):
        return True


def batch(count, generator="random", number=3):
    return Batch(generator, 0, number, 0, [f"input {i}".encode() for i in range(count)])


def observation(asked):
    answers = [Encoded((index,)) for index in range(len(asked.inputs))]
    return Observation(CONTRACT, Inputs.of(asked.inputs), {"a": Results.of(answers)})


def test_it_is_a_run_of_inputs_with_their_answers():
    asked = batch(1000)
    first, part = sample(Wrong(4), asked, observation(asked))
    assert list(part.inputs) == asked.inputs[first : first + MOST_ASKED_FURTHER]
    assert part.results["a"].ids_of(0) == [first]
    assert sample(Wrong(4), asked, observation(asked))[0] == first
    places = {
        sample(Wrong(4), one, observation(one))[0]
        for one in (batch(1000, number=number) for number in range(8))
    }
    assert len(places) > 4, "they lie at other places in other batches"


@pytest.mark.parametrize(
    ("every", "asked"),
    [(1, batch(1000)), (4, batch(MOST_ASKED_FURTHER)), (4, batch(1000, generator=TEXTS))],
    ids=["without further questions", "small", "the user's texts"],
)
def test_all_of_it(every, asked):
    seen = observation(asked)
    assert sample(Wrong(every), asked, seen) == (0, seen)


def test_what_is_at_fault_is_the_case_of_the_batch(monkeypatch):
    asked = batch(1000, number=0)

    def judge(pool, check, seen):
        inputs = list(seen.inputs)
        return Judgement([Violation("wrong", 7, inputs[7], (), ("a",))], Counter(a=len(inputs)))

    told = []
    events = []
    tally = SimpleNamespace(hung=Counter())
    plan = SimpleNamespace(checks=[Wrong(2)], sampled=True, places={})
    stop = threading.Event()
    run = SimpleNamespace(
        tracker=SimpleNamespace(tell=lambda: None),
        plan=plan,
        stop=stop,
        tally=tally,
        lock=threading.Lock(),
        emit=events.append,
    )
    monkeypatch.setattr("harness.engine.judge.judge", judge)
    for number in (0, 1):  # it is put to every second batch
        asked = batch(1000, number=number)
        Judge(run).judge(None, observation(asked), asked, told.append)
    (one,) = told
    assert one.case.data == one.violation.data
    assert one.violation.data == asked.inputs[one.violation.index]
    assert sum(event.exercised == {"wrong": {"a": MOST_ASKED_FURTHER}} for event in events) == 1
