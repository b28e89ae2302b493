"""Partitions: who is grouped with whom, and who is to blame."""

from __future__ import annotations

from harness.outcomes import Encoded, Failed, Outcome, Rejected, Status, Unsupported
from harness.partition import culprits, partition

A, B, C = Encoded((1,)), Encoded((2,)), Encoded((3,))
NOBODY: frozenset[str] = frozenset()


def names(outcomes: dict[str, Outcome], references: frozenset[str] = NOBODY) -> list[str]:
    return ["=".join(part.names) for part in partition(outcomes, references)]


def test_equal_outcomes_are_one_part() -> None:
    assert names({"x": A, "y": A}) == ["x=y"]


def test_the_reference_is_trusted_against_a_majority() -> None:
    outcomes: dict[str, Outcome] = {"x": A, "y": A, "ref": B}
    assert names(outcomes, frozenset(["ref"])) == ["ref", "x=y"]
    assert culprits(partition(outcomes, frozenset(["ref"]))) == ("x", "y")


def test_without_a_reference_the_majority_is_trusted() -> None:
    assert names({"x": A, "y": B, "z": B}) == ["y=z", "x"]


def test_among_parts_of_one_size_the_first_named_is_trusted() -> None:
    assert names({"x": A, "y": B, "z": C}) == ["x", "y", "z"]


def test_references_that_differ_are_parts_like_others() -> None:
    both = frozenset(["x", "y"])
    assert names({"x": A, "y": B, "z": B}, both) == ["y=z", "x"]


def test_rejections_are_equal_whatever_their_words() -> None:
    assert names({"x": Rejected("no"), "y": Rejected("nein"), "z": A}) == ["x=y", "z"]


def test_what_did_not_answer_is_not_compared() -> None:
    outcomes: dict[str, Outcome] = {
        "x": A,
        "y": Unsupported("does not"),
        "z": Failed(Status.CRASHED, "boom"),
    }
    assert names(outcomes) == ["x"]
