"""Partitions: who is grouped with whom, and who is to blame."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product

import pytest

from harness.core.outcomes import Encoded, Failed, Outcome, Rejected, Status, Unsupported
from harness.core.partition import Blame, blames, partition
from harness.core.standing import Standing

A, B, C = Encoded((1,)), Encoded((2,)), Encoded((3,))
CANDIDATE, LIBRARY, DEFINITION, REFERENCE = Standing
EQUALS = dict.fromkeys("xyz", LIBRARY)


def names(outcomes: dict[str, Outcome], standing: dict[str, Standing] | None = None) -> list[str]:
    return ["=".join(part.names) for part in partition(outcomes, standing or EQUALS)]


def blamed(
    outcomes: dict[str, Outcome], standing: dict[str, Standing]
) -> list[tuple[tuple[str, ...], bool]]:
    return [(b.culprits, b.undecided) for b in blames(partition(outcomes, standing), standing)]


def test_equal_outcomes_are_one_part() -> None:
    assert names({"x": A, "y": A}) == ["x=y"]
    assert blamed({"x": A, "y": A}, EQUALS) == []


def test_parts_stand_in_order_of_trust_then_of_size_then_of_names() -> None:
    outcomes: dict[str, Outcome] = {"x": A, "y": A, "ref": B}
    assert names(outcomes, {"ref": REFERENCE}) == ["ref", "x=y"]
    assert names({"x": A, "y": B, "z": B}) == ["y=z", "x"]
    assert names({"x": A, "y": B, "z": C}) == ["x", "y", "z"]


def test_rejections_are_equal_whatever_their_words() -> None:
    assert names({"x": Rejected("no"), "y": Rejected("nein"), "z": A}) == ["x=y", "z"]


def test_what_did_not_answer_is_not_compared() -> None:
    outcomes: dict[str, Outcome] = {
        "x": A,
        "y": Unsupported("does not"),
        "z": Failed(Status.CRASHED, "boom"),
    }
    assert names(outcomes) == ["x"]


@pytest.mark.parametrize(
    ("lower", "higher"), [p for p in product(Standing, repeat=2) if p[0] < p[1]]
)
@pytest.mark.parametrize("first", [True, False])
def test_of_two_that_differ_the_less_trusted_one_is_blamed(
    lower: Standing, higher: Standing, first: bool
) -> None:
    outcomes: dict[str, Outcome] = {"low": A, "high": B} if first else {"high": B, "low": A}
    assert blamed(outcomes, {"low": lower, "high": higher}) == [(("low",), False)]


@pytest.mark.parametrize("standing", Standing)
@pytest.mark.parametrize("order", ["xy", "yx"])
def test_of_two_equals_that_differ_nobody_is_blamed(standing: Standing, order: str) -> None:
    outcomes: dict[str, Outcome] = {name: A if name == "x" else B for name in order}
    assert blamed(outcomes, dict.fromkeys("xy", standing)) == [(("x", "y"), True)]


def test_a_majority_is_no_evidence() -> None:
    assert blamed({"x": A, "y": B, "z": B}, EQUALS) == [(("x", "y", "z"), True)]
    one_right = {"x": CANDIDATE, "y": CANDIDATE, "ref": LIBRARY}
    assert blamed({"x": A, "y": A, "ref": B}, one_right) == [(("x", "y"), False)]


def test_our_definition_decides_between_two_libraries() -> None:
    standing = {"x": LIBRARY, "y": LIBRARY, "plain": DEFINITION}
    assert blamed({"x": A, "y": B, "plain": B}, standing) == [(("x",), False)]
    assert blamed({"x": A, "y": A, "plain": B}, standing) == [(("x", "y"), False)]


def test_a_candidate_that_agrees_with_one_of_two_equals_is_not_part_of_their_quarrel() -> None:
    standing = {"x": LIBRARY, "y": LIBRARY, "mine": CANDIDATE}
    assert blamed({"x": A, "y": B, "mine": A}, standing) == [(("x", "y"), True)]


def test_a_candidate_that_agrees_with_neither_of_two_equals_is_blamed_besides() -> None:
    standing = {"x": LIBRARY, "y": LIBRARY, "mine": CANDIDATE}
    parts = partition({"x": A, "y": B, "mine": C}, standing)
    quarrel, candidate = blames(parts, standing)
    assert quarrel == Blame(parts, ("x", "y"), undecided=True)
    assert (candidate.culprits, candidate.undecided) == (("mine",), False)
    # It is compared with one of them, and the other is shown, too.
    assert [part.names for part in candidate.parts] == [("x",), ("mine",), ("y",)]


def test_references_that_differ_are_equals() -> None:
    standing = {"x": REFERENCE, "y": REFERENCE, "z": LIBRARY}
    assert blamed({"x": A, "y": B, "z": B}, standing) == [(("x", "y"), True)]


def situations() -> Iterator[tuple[dict[str, Outcome], dict[str, Standing]]]:
    """Every way in which up to four implementations can stand and answer."""
    for count in (1, 2, 3, 4):
        some = "wxyz"[:count]
        for ranks in product(Standing, repeat=count):
            for answers in product((A, B, C), repeat=count):
                yield dict(zip(some, answers, strict=True)), dict(zip(some, ranks, strict=True))


def test_every_combination() -> None:
    seen = 0
    for outcomes, standing in situations():
        seen += 1
        top = max(standing.values())
        best = {name for name in outcomes if standing[name] == top}
        right = {outcomes[name] for name in best}
        found = blames(partition(outcomes, standing), standing)
        open_, decided = ([b for b in found if b.undecided is flag] for flag in (True, False))
        # Nobody knows who is right exactly where the most trusted ones differ.
        assert {name for b in open_ for name in b.culprits} == (best if len(right) > 1 else set())
        # Exactly those are blamed who agree with none of the most trusted ones.
        wrong = {name for name in outcomes if outcomes[name] not in right}
        assert {name for b in decided for name in b.culprits} == wrong
        assert len(open_) <= 1 and len(decided) <= 1
        for one in found:
            # Everybody is shown, and nobody that is blamed stands in the part that is trusted.
            assert {n for part in one.parts for n in part.names} == set(outcomes)
            assert one.undecided or not set(one.parts[0].names) & set(one.culprits)
    assert seen == sum(4**n * 3**n for n in (1, 2, 3, 4))


def test_the_order_of_names_and_the_number_of_those_who_agree_change_nothing() -> None:
    for outcomes, standing in situations():
        if len(outcomes) != 3:
            continue
        said = judged(outcomes, standing)
        for order in permutations(outcomes):
            assert judged({name: outcomes[name] for name in order}, standing) == said
        for name in outcomes:  # one more of the same kind that says the same
            more = judged(outcomes | {"twin": outcomes[name]}, standing | {"twin": standing[name]})
            assert {(names - {"twin"}, flag) for names, flag in more} == said


def judged(
    outcomes: dict[str, Outcome], standing: dict[str, Standing]
) -> set[tuple[frozenset[str], bool]]:
    return {(frozenset(names), flag) for names, flag in blamed(outcomes, standing)}
