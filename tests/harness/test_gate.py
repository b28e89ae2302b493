"""The verdict, and what becomes of expectations."""

from __future__ import annotations

import datetime
from dataclasses import replace

import pytest
from packaging.specifiers import SpecifierSet

from harness.core.exit_statuses import CANNOT_START, FAILS, HOLDS, NOT_EXAMINED
from harness.events import (
    PASS,
    UNEXAMINED,
    BatchDone,
    ContractOpened,
    Event,
    ExpectationJudged,
    Forced,
    Found,
    ImplementationFailed,
    Measured,
    NotReached,
    Started,
)
from harness.verdict.bounds import judge_growth
from harness.verdict.coverage import Coverage
from harness.verdict.expectations import Expectation
from harness.verdict.gate import Verdict, judge, judge_expectations

TODAY = datetime.date(2026, 11, 20)
FOUND = Found(
    id="f-1",
    check="equivalence",
    stage="tie",
    bucket="equivalence/unigram/text/tie/more/mine",
    contract="v/text",
    vocabulary="v",
    mode="text",
    culprits=["mine"],
    partition=[],
    input_b64="",
    difference="",
    first_difference=None,
    generator="g",
    seed=0,
    index=0,
    original_bytes=0,
    minimal=True,
    expected=None,
    link=None,
    reproducer=None,
)
EXPECTED = Expectation("equivalence/unigram/text/tie/*/mine", {"mine": SpecifierSet()}, "because")


def status(
    expectation: Expectation,
    findings: list[Found],
    exercised: set[int] | None = None,
    shown: set[int] | None = None,
) -> str:
    (one,) = judge_expectations(
        [expectation], findings, exercised or set(), shown or set(), {"mine": "1"}, TODAY
    )
    return one.status


def test_an_expectation_that_shows() -> None:
    assert status(EXPECTED, [FOUND]) == "shown"
    assert status(EXPECTED, [], {0}, {0}) == "shown"


def test_an_expectation_shows_where_others_share_the_divergence() -> None:
    shared = replace(FOUND, bucket="equivalence/unigram/text/tie/more/mine=other")
    assert status(EXPECTED, [shared]) == "shown"
    assert not EXPECTED.covers(shared.bucket, "v")


def test_an_expectation_for_other_versions_says_nothing() -> None:
    older = replace(
        EXPECTED,
        implementations={"mine": SpecifierSet("<1")},
        expires=datetime.date(2020, 1, 1),
    )
    assert status(older, [FOUND]) == "not-exercised"


def test_an_expectation_that_no_longer_shows_is_stale_only_if_it_was_exercised() -> None:
    assert status(EXPECTED, [], {0}) == "stale"
    assert status(EXPECTED, []) == "not-exercised"


def test_an_example_that_no_longer_shows_is_stale_though_another_input_does() -> None:
    one = replace(EXPECTED, vocabulary=FOUND.vocabulary)
    assert status(one, [FOUND], {0}, set()) == "stale"
    assert status(one, [FOUND], {0}, {0}) == status(one, [FOUND]) == "shown"
    assert status(EXPECTED, [FOUND], {0}, set()) == "shown"  # on another of its vocabularies


def test_an_expectation_that_shows_after_its_day_has_expired() -> None:
    late = replace(EXPECTED, expires=datetime.date(2026, 11, 19))
    assert status(late, [FOUND]) == "expired"
    assert status(late, []) == "not-exercised"


COMPARED: list[Event] = [
    ContractOpened("v/text", "bpe", "v", "text", ["mine", "ref"], ["ref"], {}, ["equivalence"]),
    BatchDone(
        "v/text", "g", 500, 5000, 500, {"equivalence": {"mine": 500, "ref": 500}}, {},
        answers={"mine": [500, 0, 0], "ref": [500, 0, 0]},
    ),
]  # fmt: skip
"""What a run says that compared two implementations."""


def verdict(
    findings: list[Found] | None = None,
    statuses: tuple[str, ...] = (),
    measured: list[Measured] | None = None,
    told: list[Event] | None = None,
) -> Verdict:
    expectations = [ExpectationJudged("b", one, "r", None, ["mine"]) for one in statuses]
    return judge(
        findings or [],
        expectations,
        judge_growth(measured or [], [], {"mine"}),
        Coverage.of(COMPARED if told is None else told),
    )


def growth(name: str, judged: str) -> Measured:
    return Measured(name, "v", "runs", 1.9, 1.8, 2.0, judged, [])


def test_a_clean_run_passes() -> None:
    assert verdict() == Verdict(PASS, (), HOLDS)
    assert verdict(statuses=("shown", "not-exercised")).passed
    assert verdict([replace(FOUND, expected="because")]).passed


@pytest.mark.parametrize(
    "failing",
    [
        verdict([FOUND]),
        verdict(statuses=("stale",)),
        verdict(statuses=("expired",)),
        verdict(measured=[growth("mine", "superlinear")]),
    ],
    ids=["finding", "stale", "expired", "growth"],
)
def test_what_fails_the_gate(failing: Verdict) -> None:
    assert not failing.passed
    assert failing.exit_status == FAILS
    assert len(failing.reasons) == 1


def started(**named: list[str]) -> Started:
    return Started("", 0, "smoke", "", "", {}, "", named=named)


def test_what_was_named_and_not_examined_neither_passes_nor_fails() -> None:
    for told in ([], [started(implementations=["other"]), *COMPARED]):
        left = verdict(told=told)
        assert (left.value, left.exit_status) == (UNEXAMINED, NOT_EXAMINED)
        assert len(left.reasons) == 1


def test_what_is_wrong_comes_before_what_was_not_examined() -> None:
    wrong = verdict([FOUND], told=[started(implementations=["other"]), *COMPARED])
    assert wrong.exit_status == FAILS
    assert wrong.notes[0].startswith("other was not tested")


def test_a_run_that_was_cut_off_does_not_say_what_it_left_out() -> None:
    cut = judge([], [], [], Coverage.of([started(implementations=["other"])]), complete=False)
    assert cut.value == PASS  # the runner says that it is not complete


def test_what_nobody_named_may_be_left_out_if_it_is_said() -> None:
    late = NotReached("big", "no time was left")
    assert verdict(told=[*COMPARED, late]) == Verdict(
        PASS, (), HOLDS, ("not tested: big (no time was left)",)
    )
    named = verdict(told=[started(vocabularies=["big"]), *COMPARED, late])
    assert named.reasons == ("big was not tested: no time was left",)


def test_growth_binds_only_those_that_claim_to_be_linear() -> None:
    assert verdict(measured=[growth("other", "superlinear")]).passed


def test_growth_that_is_inconclusive_fails_nothing_and_is_said() -> None:
    left_open = verdict(measured=[growth("mine", "inconclusive"), growth("mine", "linear")])
    assert left_open.passed and left_open.exit_status == HOLDS
    assert left_open.notes == (
        "growth is unclear in 1 of 2 measurements that have a limit: mine (1)",
    )
    both = verdict(measured=[growth("mine", "inconclusive"), growth("mine", "superlinear")])
    assert both.exit_status == FAILS
    assert len(both.notes) == 1


def test_a_broken_bound_is_one_line() -> None:
    broken = verdict(measured=[growth("mine", "superlinear")] * 3)
    (reason,) = broken.reasons
    assert reason == (
        "mine is beyond its limit on runs of v and 2 more: time grew like n^1.90 (1.80 to 2.00); "
        "the limit is linear (it claims linear cost)"
    )


def test_an_implementation_that_could_not_be_started() -> None:
    failing = verdict(told=[*COMPARED, ImplementationFailed("mine", "v", "no\ntrace")])
    assert failing.exit_status == CANNOT_START
    assert "mine on v: no" in failing.reasons[0]


def test_the_exact_method_is_held_to_no_error_and_the_others_are_not() -> None:
    row = Forced("tokgate", "v", "exact", 10, 20, 0)
    heuristic = replace(row, method="healed:tokens=4", non_canonical=3, unsafe=3)

    def judged(*rows: Forced) -> Verdict:
        return judge([], [], [], Coverage.of([started(checks=["canonicality"]), *rows]))

    assert judged(row).exit_status == HOLDS
    assert judged(row, heuristic).exit_status == HOLDS
    wrong = judged(replace(row, unsafe=2))
    assert wrong.exit_status == FAILS
    assert "exact forces tokens that are not canonical: v (2 sequences)" in wrong.reasons
