"""What is asked about a violation is asked of those alone who decide."""

from dataclasses import replace
from functools import partial

import pytest

from corpora.generators.base import Case
from harness.checks import CHECKS
from harness.checks.questions import examine
from harness.core.outcomes import Inputs
from harness.engine.streams import Batch
from harness.findings.entries import UNSURE, Entry
from harness.findings.questions import witnesses
from tests.doubles.scenes import Scene, Watched, judge_of, right, wrong_at


def seen(scene, contract=None):
    judged = examine(scene.pool, contract or scene.contract, CHECKS["equivalence"], [b"!"])
    [violation] = judged.violations
    return violation


def test_witnesses_are_the_culprits_and_whoever_is_trusted_most():
    scene = Scene(ref=right, bad=wrong_at(b"!"), fine=right)
    violation = seen(scene)
    assert witnesses(violation, scene.contract).names == ["ref", "bad"]
    other = replace(violation, check="round-trip")
    assert witnesses(other, scene.contract).names == scene.contract.names
    # Of equals all, or who gave no answer would be missing where it answers a smaller input.
    scene = Scene(one=wrong_at(b"!"), two=right, silent=right)
    equals = replace(scene.contract, references=frozenset())
    violation = seen(scene, equals.among({"one", "two"}))
    assert violation.undecided
    assert witnesses(violation, equals).names == ["one", "two", "silent"]


def test_whoever_else_is_wrong_on_a_smaller_input_is_not_left_out():
    """Another one is wrong on every short input: the finding of two has no input of one byte."""

    def short(data):
        return [0] * len(data) if len(data) < 4 else list(data)

    scene = Scene(ref=right, bad=wrong_at(b"!"), worse=short)
    scene.check("equivalence", b"some text!")
    [found] = scene.tracker.findings
    assert len(scene.found[0][1]) == 4
    assert found.culprits == ["bad"]
    assert found.minimal


def test_what_is_like_enough_others_waits_for_nobody():
    scene = Scene(ref=right, bad=wrong_at(b"!"))
    entry = Entry(scene.contract, seen(scene), Case(b"!", "test", 0, 0))
    before = 0
    while not scene.tracker.alike(entry):
        scene.tracker.consider(scene.pool, entry)
        before += 1
        assert before < 100
    [found] = scene.tracker.findings
    assert scene.counts()[found.bucket] == before + 1 > 1


@pytest.mark.parametrize("order", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_one_difference_is_one_finding_whoever_has_answered_a_batch(order):
    """The reference decides, though it has not answered where two equals were seen to differ."""
    scene = Scene(ref=right, fine=right, bad=wrong_at(b"!"))
    whole = scene.contract
    judge = judge_of(scene, CHECKS["equivalence"])
    for number, few in enumerate(order):
        inputs = [b"%d!" % number]
        asked = whole.among({"fine", "bad"}) if few else whole
        seen = scene.pool.again(asked, Inputs.of(inputs))
        judge.judge(
            scene.pool,
            seen,
            Batch("test", 0, number, number, inputs),
            partial(judge.look_into, scene.pool),
        )
    assert scene.found == [("equivalence/bpe/raw/text/P/bad", b"!")]
    assert scene.counts() == {"equivalence/bpe/raw/text/P/bad": 3}


def test_equals_differ_undecided_where_there_was_no_time_to_ask_who_is_trusted():
    scene = Watched(ref=right, fine=right, bad=wrong_at(b"!"))
    few = scene.contract.among({"fine", "bad"})
    violation = seen(scene, few)
    assert violation.undecided
    scene.late()
    case = Case(b"!", "test", 0, 0)
    assert scene.tracker.consider(scene.pool, Entry(scene.contract, violation, case)) == UNSURE
    assert scene.found == []
