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
SPANS = IDS.map(lambda ids: Encoded(ids, bytes(len(ids)), tuple((i, i + 1) for i in ids)))
TEXTS = st.text(max_size=5)
OUTCOMES = st.one_of(
    SPANS,
    st.builds(Rejected, TEXTS),
    st.builds(Unsupported, TEXTS),
    st.builds(Failed, st.sampled_from(FAILURES), TEXTS),
)


def parts(data, count):
    """A first and a last place among so many."""
    return sorted(data.draw(st.lists(st.integers(0, count), min_size=2, max_size=2)))


@given(st.lists(OUTCOMES, max_size=9) | st.lists(IDS.map(Encoded), max_size=9), st.data())
def test_rows_are_the_outcomes_also_of_a_part(outcomes, data):
    results = pickle.loads(pickle.dumps(Results.of(outcomes)))
    first, last = parts(data, len(outcomes))
    part = results.part(first, last)
    assert len(part) == last - first
    for made, expected in ((results, outcomes), (part, outcomes[first:last])):
        kept = [made.outcome(index) for index in range(len(made))]
        assert list(made) == kept
        if any(getattr(one, "ids", ()) for one in outcomes):  # else there is no offset to keep
            assert kept == expected
        assert [getattr(one, "message", "") for one in kept] == [
            getattr(one, "message", "") for one in expected
        ]
    assert results.differing(Results.of(outcomes)) == []


@given(st.lists(IDS, min_size=1, max_size=6), st.data())
def test_the_fast_path_is_equality_and_differing_rows_are_those_that_differ(one, data):
    other = data.draw(st.permutations(one))
    ours, theirs = (Results.of([Encoded(ids) for ids in some]) for some in (one, other))
    assert ours.same_as(theirs) == (one == other)
    assert ours.differing(theirs) == [row for row, ids in enumerate(one) if ids != other[row]]


def test_the_fast_path_is_for_encodings_only():
    assert not Results.of([Rejected("a")]).same_as(Results.of([Rejected("a")]))


@given(st.lists(st.binary(max_size=6), max_size=8), st.data())
def test_inputs_keep_their_bounds(inputs, data):
    packed = Inputs.of(inputs)
    assert list(packed) == inputs
    assert [packed[i] for i in range(len(packed))] == inputs
    assert packed.ends.dtype == np.int64
    first, last = parts(data, len(inputs))
    assert list(packed.part(first, last)) == inputs[first:last]


def test_labels_name_every_status():
    assert [Status.of(status.label) for status in Status] == list(Status)
    assert Status.OUT_OF_MEMORY.label == "out-of-memory"
