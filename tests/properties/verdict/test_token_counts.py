"""Token counts side by side: what differs, where, and by how much."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.outcomes import Encoded, Failed, Results, Status
from harness.events import TokenCounts
from harness.verdict.token_counts import Differing, counted


def results(*rows):
    failed = Failed(Status.TIMED_OUT, "late")
    return Results.of([failed if row is None else Encoded(tuple(row)) for row in rows])


@pytest.mark.parametrize(
    ("one", "other", "first", "changed"),
    [
        ([1, 2, 3], [1, 9, 3], 1, 1),  # one token is another
        ([1, 2, 3, 4], [1, 9, 4], 1, 2),  # two tokens for one
        ([1, 2], [1, 2, 3], 2, 0),  # it ends too early
        ([7, 7, 7], [7, 7], 2, 1),  # the ends of what is alike overlap
    ],
)
def test_what_differs_in_a_document(one, other, first, changed):
    _, differing = counted(results([5], one), results([5], other), "other")
    assert differing == [Differing(1, first, changed, len(one), len(other))]


IDS = st.lists(st.integers(0, 2), max_size=7)


@given(st.lists(st.tuples(st.none() | IDS, st.none() | IDS), min_size=1, max_size=4))
def test_counts_and_differences_are_those_of_the_definition(documents):
    ones, others = zip(*documents, strict=True)
    counts, differing = counted(results(*ones), results(*others), "other")
    both = {at: pair for at, pair in enumerate(documents) if None not in pair}
    sizes = [(len(one), len(other)) for one, other in both.values()]
    changed = {at for at, (one, other) in both.items() if one != other}
    assert replace(counts, changed=0, digest=0) == TokenCounts(
        "other", len(both), len(changed), sum(one for one, _ in sizes),
        sum(other for _, other in sizes), more=sum(max(a - b, 0) for a, b in sizes),
        fewer=sum(max(b - a, 0) for a, b in sizes), unanswered=len(documents) - len(both),
    )  # fmt: skip
    assert counts.changed == sum(found.changed for found in differing)
    assert {found.index for found in differing} == changed
    for found in differing:
        one, other = both[found.index]
        assert one[: found.first] == other[: found.first]
        assert one[found.first : found.first + 1] != other[found.first : found.first + 1]
        rest = len(one) - found.first - found.changed
        assert rest == 0 or one[-rest:] == other[-rest:]
