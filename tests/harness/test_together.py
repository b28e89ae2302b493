"""What is asked about many violations is asked together, of those alone who decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from corpora.generators.base import Case
from harness.checks import CHECKS
from harness.checks.base import Check, Judgement, Violation
from harness.core.comparisons import Contract
from harness.core.outcomes import Encoded, Unsupported
from harness.core.partition import Part
from harness.findings.asking import Answers, witnesses
from harness.findings.entries import Entry
from tests.harness.test_findings import Encode_, Scene, right, wrong_at


class Counting(Scene):
    """A scene that writes down what its workers are asked."""

    def __init__(self, **encoders: Encode_) -> None:
        super().__init__(**encoders)
        self.asked: list[tuple[list[str], list[bytes]]] = []

    def examine(self, contract: Contract, check: Check, inputs: Sequence[bytes]) -> Judgement:
        self.asked.append((contract.names, list(inputs)))
        return self.pool.examine(contract, check, inputs)

    def entry(self, data: bytes, check: str = "equivalence") -> Entry:
        shown = self.pool.examine(self.contract, CHECKS[check], [data]).violations
        return Entry(self.contract, shown[0], Case(data, "test", 0, 0))


def shown(judgement: Judgement) -> list[tuple[bytes, tuple[str, ...]]]:
    return [(one.data, one.culprits) for one in judgement.violations]


def test_what_comes_next_is_asked_together_and_answered_as_if_alone() -> None:
    scene = Counting(ref=right, bad=wrong_at(b"!"))
    upcoming = [b"b", b"!b", b"!c"]
    asking = Answers().asking(scene, scene.entry(b"!"), lambda: upcoming)
    contract, check = scene.contract, CHECKS["equivalence"]
    for inputs in ([b"!a"], [b"b", b"!b"], [b"!c"], [b"!a"]):
        judged = asking(contract, inputs)
        alone = scene.pool.examine(contract, check, inputs)
        assert shown(judged) == shown(alone)
        assert judged.exercised["bad"] == alone.exercised["bad"]
    assert [inputs for _, inputs in scene.asked] == [[b"!a", *upcoming]]


def test_an_answer_that_was_not_given_is_not_remembered() -> None:
    def bad(data: bytes) -> Any:
        return Unsupported("too hard") if data == b"hard" else wrong_at(b"!")(data)

    scene = Counting(ref=right, bad=bad)
    asking = Answers().asking(scene, scene.entry(b"!"), lambda: [b"hard"])
    judged = asking(scene.contract, [b"easy"])
    assert judged.exercised["bad"] == 1
    judged = asking(scene.contract, [b"hard"])
    assert judged.exercised["bad"] == 0


def test_what_is_forgotten_is_asked_again() -> None:
    scene = Counting(ref=right, bad=wrong_at(b"!"))
    answers, entry = Answers(), scene.entry(b"!")
    for _ in range(2):
        asking = answers.asking(scene, entry, lambda: [])
        asking(scene.contract, [b"!a"])
    assert len(scene.asked) == 1
    answers.forget()
    asking = answers.asking(scene, entry, lambda: [])
    asking(scene.contract, [b"!a"])
    assert len(scene.asked) == 2


def test_a_question_to_others_is_not_answered_from_what_these_said() -> None:
    scene = Counting(ref=right, bad=wrong_at(b"!"), fine=right)
    entry = scene.entry(b"!")
    few = witnesses(entry.violation, scene.contract)
    asking = Answers().asking(scene, entry, lambda: [])
    for contract in (few, scene.contract):
        asking(contract, [b"!a"])
    assert [names for names, _ in scene.asked] == [["ref", "bad"], ["ref", "bad", "fine"]]


@pytest.mark.parametrize("check", ["survival", "determinism"])
def test_what_costs_a_process_or_depends_on_the_call_is_asked_alone(check: str) -> None:
    scene = Counting(ref=right, bad=wrong_at(b"!"))
    entry = scene.entry(b"!")
    entry = replace(entry, violation=replace(entry.violation, check=check))
    Answers().asking(scene, entry, lambda: [b"more"])(scene.contract, [b"!a"])
    assert [inputs for _, inputs in scene.asked] == [[b"!a"]]


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
