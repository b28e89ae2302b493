"""What is asked about a violation is asked of those alone who decide."""

from __future__ import annotations

from dataclasses import replace

from corpora.generators.base import Case
from harness.checks import CHECKS
from harness.checks.base import Violation
from harness.core.outcomes import Encoded
from harness.core.partition import Part
from harness.findings.entries import Entry
from harness.findings.masking import witnesses
from tests.harness.test_findings import Scene, right, wrong_at


def test_witnesses_are_the_culprits_and_whoever_is_trusted_most() -> None:
    scene = Scene(ref=right, bad=wrong_at(b"!"), fine=right)
    [violation] = scene.pool.examine(scene.contract, CHECKS["equivalence"], [b"!"]).violations
    assert witnesses(violation, scene.contract).names == ["ref", "bad"]
    other = replace(violation, check="round-trip")
    assert witnesses(other, scene.contract).names == scene.contract.names


def test_equals_that_gave_no_answer_are_witnesses_too() -> None:
    """Else they would be missing where they answer a smaller input."""
    scene = Scene(one=right, two=right, silent=right)
    scene.contract = replace(scene.contract, references=frozenset())
    parts = (Part(("one",), Encoded((0,))), Part(("two",), Encoded((1,))))
    violation = Violation("equivalence", 0, b"x", parts, ("one", "two"), undecided=True)
    assert witnesses(violation, scene.contract).names == ["one", "two", "silent"]


def test_whoever_else_is_wrong_on_a_smaller_input_is_not_left_out() -> None:
    """Another one is wrong on every short input: the finding of two has no input of one byte."""

    def short(data: bytes) -> list[int]:
        return [0] * len(data) if len(data) < 4 else list(data)

    scene = Scene(ref=right, bad=wrong_at(b"!"), worse=short)
    scene.check("equivalence", b"some text!")
    [found] = scene.tracker.findings
    assert len(scene.found[0][1]) == 4
    assert found.culprits == ["bad"]
    assert found.minimal


def test_what_is_like_enough_others_waits_for_nobody() -> None:
    scene = Scene(ref=right, bad=wrong_at(b"!"))
    [violation] = scene.pool.examine(scene.contract, CHECKS["equivalence"], [b"!"]).violations
    case = Case(b"!", "test", 0, 0)
    assert not scene.tracker.alike(Entry(scene.contract, violation, case))
    before = 0
    while not scene.tracker.alike(Entry(scene.contract, violation, case)):
        scene.tracker.consider(scene.pool, Entry(scene.contract, violation, case))
        before += 1
        assert before < 100
    [found] = scene.tracker.findings
    assert scene.counts()[found.bucket] == before + 1
