"""Token counts side by side: what differs, where, and by how much."""

import random

import pytest

from harness.core.outcomes import Encoded, Failed, Rejected, Results, Status
from harness.events import TokenCounts
from harness.verdict.token_counts import Differing, counted


def results(*rows):
    return Results.of([Encoded(tuple(row)) if row is not None else Rejected("no") for row in rows])


def test_the_same_ids_are_counted_at_once():
    one = results([1, 2], [], [3])
    counts = TokenCounts("other", 3, tokens=3, against_tokens=3)
    assert counted(one, results([1, 2], [], [3]), "other") == (counts, [])


@pytest.mark.parametrize(
    ("one", "other", "first", "changed"),
    [
        ([1, 2, 3], [1, 9, 3], 1, 1),  # one token is another
        ([1, 2, 3, 4], [1, 9, 4], 1, 2),  # two tokens for one
        ([1, 2], [1, 2, 3], 2, 0),  # it ends too early
        ([1, 2, 3], [1, 2], 2, 1),
        ([], [1], 0, 0),
        ([7, 7, 7], [7, 7], 2, 1),  # the ends of what is alike overlap
    ],
)
def test_what_differs_in_a_document(one, other, first, changed):
    counts, differing = counted(results([5], one), results([5], other), "other")
    assert differing == [Differing(1, first, changed, len(one), len(other))]
    assert (counts.tokens, counts.against_tokens) == (1 + len(one), 1 + len(other))
    assert counts.more - counts.fewer == len(one) - len(other)


def test_what_either_did_not_encode_is_left_out():
    failed = Results.of([Encoded((1,)), Encoded((2, 3)), Failed(Status.TIMED_OUT, "late")])
    counts = TokenCounts("other", 1, tokens=1, against_tokens=1, unanswered=2)
    assert counted(failed, results([1], None, [4]), "other") == (counts, [])


def test_differences_are_those_of_the_definition():
    rng = random.Random(0)
    for _ in range(300):
        one = [rng.randrange(3) for _ in range(rng.randrange(8))]
        other = [rng.randrange(3) for _ in range(rng.randrange(8))]
        _, differing = counted(results(one), results(other), "other")
        assert bool(differing) == (one != other)
        for found in differing:
            assert one[: found.first] == other[: found.first]
            assert one[found.first : found.first + 1] != other[found.first : found.first + 1]
            rest = len(one) - found.first - found.changed
            assert rest == 0 or one[-rest:] == other[-rest:]
