"""The columnar form of outcomes says the same as the outcomes."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.core.outcomes import (
    Encoded,
    Failed,
    Inputs,
    Rejected,
    Results,
    Status,
    Unsupported,
)

FAILURES = [s for s in Status if s > Status.UNSUPPORTED]
IDS = st.lists(st.integers(0, 2**31 - 1), max_size=5).map(tuple)
OUTCOMES = st.one_of(
    IDS.map(Encoded),
    st.builds(Rejected, st.text(max_size=5)),
    st.builds(Unsupported, st.text(max_size=5)),
    st.builds(Failed, st.sampled_from(FAILURES), st.text(max_size=5)),
)


@given(st.lists(OUTCOMES, max_size=8))
def test_rows_are_the_outcomes(outcomes):
    results = Results.of(outcomes)
    assert [results.outcome(i) for i in range(len(results))] == outcomes
    messages = [getattr(results.outcome(i), "message", "") for i in range(len(results))]
    assert messages == [getattr(outcome, "message", "") for outcome in outcomes]


@given(st.lists(st.tuples(IDS, st.binary(max_size=5)), min_size=1, max_size=6))
def test_rows_keep_texts_and_offsets(rows):
    outcomes = [
        Encoded(ids, text=text, offsets=tuple((i, i + 1) for i in range(len(ids))))
        for ids, text in rows
    ]
    results = pickle.loads(pickle.dumps(Results.of(outcomes)))
    kept = [results.outcome(i) for i in range(len(results))]
    if any(ids for ids, _ in rows):  # without any token there is no offset to keep
        assert kept == outcomes


@given(st.lists(IDS, max_size=6), st.lists(IDS, max_size=6))
def test_the_fast_path_is_equality(one, other):
    ours, theirs = Results.of([Encoded(i) for i in one]), Results.of([Encoded(i) for i in other])
    assert ours.same_as(theirs) == (one == other)


def test_the_fast_path_is_for_encodings_only():
    assert not Results.of([Rejected("a")]).same_as(Results.of([Rejected("a")]))


@given(st.lists(st.binary(max_size=6), max_size=8))
def test_inputs_keep_their_bounds(inputs):
    packed = Inputs.of(inputs)
    assert list(packed) == inputs
    assert [packed[i] for i in range(len(packed))] == inputs
    assert packed.ends.dtype == np.int64


def test_labels_name_every_status():
    assert [Status.of(status.label) for status in Status] == list(Status)
    assert Status.OUT_OF_MEMORY.label == "out-of-memory"
