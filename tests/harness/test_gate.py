"""The verdict, what becomes of expectations, and growth that was left undecided."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest
from packaging.specifiers import SpecifierSet

from corpora.families.catalog import TELLING
from harness.core.exit_statuses import CANNOT_START, FAILS, HOLDS, NOT_EXAMINED
from harness.events import (
    FAIL,
    PASS,
    UNEXAMINED,
    Event,
    ExpectationJudged,
    FamiliesMeasured,
    Forced,
    GrowthJudged,
    ImplementationFailed,
    NotReached,
)
from harness.verdict import gaps
from harness.verdict.coverage import Coverage
from harness.verdict.expectations import Expectation
from harness.verdict.gate import Verdict, judge, judge_expectations
from tests.harness.made import WHOLE, batch, found, opened, started

YESTERDAY, TODAY = (datetime.date(2026, 11, day) for day in (19, 20))
FOUND = found("equivalence/unigram/text/tie/more/mine", "v")
ENTRY = Expectation("equivalence/unigram/text/tie/*/mine", {"mine": SpecifierSet()}, "because")
HERE = replace(ENTRY, vocabulary="v")
LATE = replace(ENTRY, expires=YESTERDAY)
OLDER = replace(LATE, implementations={"mine": SpecifierSet("<1")})
SHARED = replace(FOUND, bucket=f"{FOUND.bucket}=other")


@pytest.mark.parametrize(
    ("entry", "findings", "exercised", "shown", "status"),
    [
        (ENTRY, [FOUND], False, False, "shown"),
        (ENTRY, [], True, True, "shown"),
        (ENTRY, [SHARED], False, False, "shown"),  # others share the divergence
        (OLDER, [FOUND], False, False, "not-exercised"),
        (ENTRY, [], True, False, "stale"),
        (ENTRY, [], False, False, "not-exercised"),
        # Another input shows, and on this one vocabulary the example no longer does.
        (HERE, [FOUND], True, False, "stale"),
        (HERE, [FOUND], True, True, "shown"),
        (HERE, [FOUND], False, False, "shown"),
        (ENTRY, [FOUND], True, False, "shown"),  # on another of its vocabularies
        (LATE, [FOUND], False, False, "expired"),
        (LATE, [], False, False, "not-exercised"),
    ],
)
def test_what_becomes_of_an_expectation(entry, findings, exercised, shown, status):
    asked, seen = ({0} if one else set() for one in (exercised, shown))
    (one,) = judge_expectations([entry], findings, asked, seen, {"mine": "1"}, TODAY)
    assert one.status == status
    assert not ENTRY.covers(SHARED.bucket, "v")


COMPARED: list[Event] = [opened("mine", "right"), batch(mine=WHOLE, right=WHOLE)]
"""What a run says that compared two implementations."""


def verdict(
    findings=(),
    statuses=(),
    growth=(),
    told=None,
):
    expectations = [ExpectationJudged("b", one, "r", None, ["mine"]) for one in statuses]
    events = [*(COMPARED if told is None else told), *findings]
    return judge(expectations, growth, Coverage.of(events))


OPEN = GrowthJudged(
    "mine", "v", "prose", "time", "n log n", "inconclusive", "unsaid", "exponent 1.50", own=True
)
KEPT = replace(OPEN, family="digits", outcome="pass", line="")
BROKEN = replace(OPEN, outcome="fail", line="exponent 2.00")
OTHERS = replace(OPEN, own=False)
NAMED = started(implementations=["other"])
EXACT = Forced("tokgate", "v", "exact", 10, 20, 0)


def test_a_clean_run_passes():
    assert verdict() == Verdict(PASS, (), HOLDS)
    assert verdict(statuses=("shown", "not-exercised")).value == PASS
    assert verdict((replace(FOUND, expected="because"),)).value == PASS


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        (verdict((FOUND,)), "1 unexpected finding"),
        (verdict(statuses=("stale",)), "no longer show"),
        (verdict(statuses=("expired",)), "expired"),
        (
            verdict(growth=(BROKEN, BROKEN, replace(BROKEN, family="x"))),
            "mine is beyond its limit on prose of v and 2 more: exponent 2.00; the limit is "
            "n log n (unsaid)",
        ),
        (verdict(told=[*COMPARED, replace(EXACT, unsafe=2)]), "not canonical: v (2 sequences)"),
    ],
)
def test_what_fails_the_gate(failing, said):
    (reason,) = failing.reasons
    assert (failing.value, failing.exit_status, said in reason) == (FAIL, FAILS, True)


def test_only_the_exact_method_is_held_to_no_error():
    heuristic = replace(EXACT, method="healed:tokens=4", non_canonical=3, unsafe=3)
    assert verdict(told=[*COMPARED, EXACT, heuristic]).exit_status == HOLDS


def test_what_was_named_and_not_examined_neither_passes_nor_fails():
    for told in ([], [NAMED, *COMPARED]):
        left = verdict(told=told)
        assert (left.value, left.exit_status, len(left.reasons)) == (UNEXAMINED, NOT_EXAMINED, 1)
    wrong = verdict((FOUND,), told=[NAMED, *COMPARED])
    assert wrong.exit_status == FAILS, "what is wrong comes first"
    assert wrong.notes[0].startswith("other was not tested")
    cut = judge([], [], Coverage.of([NAMED]), complete=False)
    assert cut.value == PASS, "of a run that was cut off the runner says that it is not complete"


def test_what_nobody_named_may_be_left_out_if_it_is_said():
    late = NotReached("big", "no time was left")
    note = "not tested: big (no time was left)"
    assert verdict(told=[*COMPARED, late]) == Verdict(PASS, (), HOLDS, (note,))
    named = verdict(told=[started(vocabularies=["big"]), *COMPARED, late])
    assert named.reasons == ("big was not tested: no time was left",)


def test_an_implementation_that_could_not_be_started():
    failing = verdict(told=[*COMPARED, ImplementationFailed("mine", "v", "no\ntrace")])
    assert failing.exit_status == CANNOT_START
    assert "mine on v: no" in failing.reasons[0]


def test_undecided_growth_of_the_users_own_is_not_examined_and_of_others_a_note():
    left = verdict(growth=(OPEN, KEPT))
    assert (left.value, left.exit_status) == (UNEXAMINED, NOT_EXAMINED)
    assert left.reasons == (
        "growth of mine on v is unclear on prose (exponent 1.50): give a larger --budget, or a "
        "[[scaling]] entry with the limit that it must keep",
    )
    assert left.notes == ("growth of mine on v by family: 1 clear, 1 unclear, 0 not measured",)
    both = verdict(growth=(OPEN, BROKEN))
    assert both.exit_status == FAILS
    assert any("is unclear on prose" in line for line in both.notes)
    others = verdict(growth=(OTHERS, replace(KEPT, own=False)))
    line = "growth is unclear in 1 of 2 measurements that have a limit: mine (1)"
    assert (others.value, others.notes) == (PASS, (line,))


def test_several_families_are_one_line_and_other_measures_none():
    (line,) = gaps.undecided(Coverage(), [replace(OPEN, family=f"f{i}") for i in range(5)])
    assert "unclear on f0, and 4 more" in line
    for measure in ("steps", "memory"):
        assert gaps.undecided(Coverage(), [replace(OPEN, measure=measure)]) == []


def test_the_telling_families_are_owed_and_the_others_counted():
    coverage = Coverage.of([FamiliesMeasured("v", 9, [], [], {"mine": ["base64"]})])
    assert gaps.undecided(coverage, [KEPT]) == []
    assert gaps.notes(coverage, [KEPT]) == [
        "growth of mine on v by family: 1 clear, 0 unclear, 1 not measured"
    ]
    telling = [family.name for family in TELLING]
    coverage = Coverage.of([FamiliesMeasured("v", 9, [], [], {"mine": telling})])
    (line,) = gaps.undecided(coverage, [])
    assert line.startswith(f"growth of mine on v was not measured on {telling[0]}, {telling[1]}")
    assert f"and {len(telling) - 3} more: no time was left" in line
