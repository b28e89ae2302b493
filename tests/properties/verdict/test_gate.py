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
from harness.verdict.gate import judge, judge_expectations
from tests.doubles.made import WHOLE, batch, found, opened, started

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


DIED = ImplementationFailed("mine", "v", "no\ntrace")
HEURISTIC = replace(EXACT, method="healed:tokens=4", non_canonical=3, unsafe=3)
MISSED = NotReached("big", "no time was left")


@pytest.mark.parametrize(
    ("given", "value", "status", "said"),
    [
        ({}, PASS, HOLDS, ""),
        ({"statuses": ("shown", "not-exercised")}, PASS, HOLDS, ""),
        ({"findings": (replace(FOUND, expected="because"),)}, PASS, HOLDS, ""),
        # Only the exact method is held to no error.
        ({"told": [*COMPARED, EXACT, HEURISTIC]}, PASS, HOLDS, ""),
        ({"told": [*COMPARED, replace(EXACT, unsafe=2)]}, FAIL, FAILS,
         "not canonical: v (2 sequences)"),
        ({"findings": (FOUND,)}, FAIL, FAILS, "1 unexpected finding"),
        ({"statuses": ("stale",)}, FAIL, FAILS, "no longer show"),
        ({"statuses": ("expired",)}, FAIL, FAILS, "expired"),
        ({"growth": (BROKEN, BROKEN, replace(BROKEN, family="x"))}, FAIL, FAILS,
         "mine is beyond its limit on prose of v and 2 more: exponent 2.00; the limit is "
         "n log n (unsaid)"),
        ({"told": [*COMPARED, DIED]}, FAIL, CANNOT_START, "mine on v: no"),
        # What nobody named may be left out if it is said.
        ({"told": [*COMPARED, MISSED]}, PASS, HOLDS, "not tested: big (no time was left)"),
        ({"told": [started(vocabularies=["big"]), *COMPARED, MISSED]}, UNEXAMINED,
         NOT_EXAMINED, "big was not tested: no time was left"),
    ],
)  # fmt: skip
def test_verdicts(given, value, status, said):
    of_run = verdict(**given)
    assert (of_run.value, of_run.exit_status) == (value, status)
    lines = of_run.notes if value == PASS else of_run.reasons
    assert len(lines) == bool(said) and said in "".join(lines)


def test_what_was_named_and_not_examined_neither_passes_nor_fails():
    for told in ([], [NAMED, *COMPARED]):
        left = verdict(told=told)
        assert (left.value, left.exit_status, len(left.reasons)) == (UNEXAMINED, NOT_EXAMINED, 1)
    wrong = verdict((FOUND,), told=[NAMED, *COMPARED])
    assert wrong.exit_status == FAILS, "what is wrong comes first"
    assert wrong.notes[0].startswith("other was not tested")
    cut = judge([], [], Coverage.of([NAMED]), complete=False)
    assert cut.value == PASS, "of a run that was cut off the runner says that it is not complete"


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


def test_the_telling_families_are_owed_and_the_others_counted():
    (line,) = gaps.undecided(Coverage(), [replace(OPEN, family=f"f{i}") for i in range(5)])
    assert "unclear on f0, and 4 more" in line
    for measure in ("steps", "memory"):
        assert gaps.undecided(Coverage(), [replace(OPEN, measure=measure)]) == []
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
