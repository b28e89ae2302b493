"""Coverage: what a run examined follows from its events, whatever they are."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    UNEXAMINED,
    BatchDone,
    ContractOpened,
    Counted,
    Event,
    Finished,
    Forced,
    Found,
    ImplementationFailed,
    Measured,
    NotReached,
    SlowOnce,
    Started,
    TextsGiven,
    Unsettled,
    VocabularyLoaded,
    VocabularyRefused,
    Withdrawn,
)
from harness.verdict import gaps as judging
from harness.verdict import gate
from harness.verdict.coverage import LEAST_CASES, Coverage, State, enough
from reports import github, junit, markdown, sarif, summary_json
from reports.record import RunRecord
from tests.reports.records import found

EQUIVALENCE = ["survival", "equivalence"]


def started(*, suite: str = "smoke", **named: list[str]) -> Started:
    return Started("", 0, suite, "", "", {}, "", named=named)


def loaded(name: str = "toy", *, unexpressed: bool = False, remarks: tuple[str, ...] = ()) -> Event:
    return VocabularyLoaded(
        *(name, "gguf", "bpe", 9, "", None, []),
        source=name, remarks=list(remarks), unexpressed=unexpressed,
    )  # fmt: skip


def opened(
    *names: str, on: str = "toy", excluded: dict[str, str] | None = None, exact: Any = None
) -> ContractOpened:
    return ContractOpened(
        f"{on}/raw", "bpe", on, "raw", list(names), ["right"], excluded or {}, EQUIVALENCE,
        list(names if exact is None else exact),
    )  # fmt: skip


def batch(on: str = "toy", why: str = "", **answers: tuple[int, int, int]) -> BatchDone:
    """A batch in which each answered, failed on and declined so many cases, the same ones."""

    def compared(name: str) -> int:
        return min(answers[name][0], max(n[0] for one, n in answers.items() if one != name))

    judged = {name: compared(name) for name in answers} if len(answers) > 1 else {}
    pairs = sum(judged.values()) - max(judged.values(), default=0)
    return BatchDone(
        f"{on}/raw", "edge", 1, 9, pairs,
        {
            "survival": {name: a + b for name, (a, b, _) in answers.items()},
            "equivalence": judged,
        },
        {"survival": {name: failed for name, (_, failed, _) in answers.items() if failed}},
        answers={name: list(one) for name, one in answers.items()},
        declined={name: why for name, (_, _, declined) in answers.items() if declined},
    )  # fmt: skip


WHOLE = (1000, 0, 0)


def gaps(*events: Event) -> list[str]:
    return judging.gaps(Coverage.of(events))


def test_what_was_compared_has_no_gap() -> None:
    named = started(implementations=["mine"], vocabularies=["toy"], checks=["equivalence"])
    told = [named, loaded(), opened("mine", "right"), batch(mine=WHOLE, right=WHOLE)]
    assert gaps(*told) == []
    assert Coverage.of(told).compared == {"mine", "right"}


def test_an_implementation_that_declines_everything_is_named_with_its_reason() -> None:
    declining = batch(mine=(0, 0, 1000), right=WHOLE, other=WHOLE, why="not today")
    told = [loaded(), opened("mine", "right", "other"), declining]
    [line] = gaps(started(implementations=["mine"]), *told)
    assert line == (
        "mine answered only 0 of 1,000 inputs on toy/raw, and 200 are needed: not today"
    )
    # The same of who was not named is said, and fails nothing.
    assert gaps(started(), opened("right", "other"), batch(right=WHOLE, other=WHOLE)) == []
    mute = batch(mine=(0, 0, 1000), right=WHOLE, why="not today")
    [note, *_] = judging.omissions(Coverage.of([opened("mine", "right"), mute]))
    assert note == "not tested: mine (answered none of 1,000 inputs: not today)"


def test_a_program_may_decline_a_whole_mode_and_a_plug_in_says_so_before() -> None:
    """The protocol has no other word for a mode that a program does not do."""
    text = ContractOpened(
        "toy/text", "bpe", "toy", "text", ["mine", "right"], [], {}, EQUIVALENCE, ["mine", "right"]
    )
    declined = batch(mine=(0, 0, 500), right=(500, 0, 0), why="raw only")
    told = [opened("mine", "right"), batch(mine=WHOLE, right=WHOLE)]
    told += [text, replace(declined, contract="toy/text")]
    named = started(implementations=["mine"])
    [line] = gaps(named, *told)
    assert line.startswith("mine answered only 0 of 500 inputs on toy/text")
    assert gaps(replace(named, specs={"mine": "cmd:./mine"}), *told) == []


@pytest.mark.parametrize(
    ("answered", "declined", "fine"),
    [(LEAST_CASES, 90_000, True), (LEAST_CASES - 1, 90_000, False), (5, 5, True), (4, 6, False)],
)
def test_so_many_answers_are_enough(answered: int, declined: int, fine: bool) -> None:
    assert enough(answered, answered + declined) == fine
    told = batch(mine=(answered, 0, declined), right=(answered + declined, 0, 0))
    lines = gaps(started(implementations=["mine"]), opened("mine", "right"), told)
    assert (lines == []) == fine


def test_failures_are_examined() -> None:
    """Who dies on every input has findings, and is nobody that was passed over."""
    told = batch(mine=(0, 1000, 0), right=WHOLE, other=WHOLE)
    assert gaps(started(implementations=["mine"]), opened("mine", "right", "other"), told) == []


def test_answers_that_nobody_could_compare_are_a_gap() -> None:
    """One id a byte passed with 645,662 cases and no comparison."""
    [alone] = gaps(started(implementations=["mine"]), opened("mine"), batch(mine=WHOLE))
    assert alone.startswith("nothing was compared: only mine takes part; add another")
    mute = batch(mine=WHOLE, right=(0, 0, 1000))
    [line] = gaps(started(implementations=["mine"]), opened("mine", "right"), mute)
    assert line.startswith("only 0 of 1,000 answers of mine on toy/raw could be compared")
    # A library that is there to be compared with need not be in every mode.
    library = [opened("tiktoken", "mine"), batch(tiktoken=WHOLE, mine=WHOLE)]
    text = ContractOpened(
        "toy/text", "bpe", "toy", "text", ["tiktoken", "mine"], [], {}, EQUIVALENCE
    )
    only = replace(batch(tiktoken=WHOLE, mine=(0, 0, 1000)), contract="toy/text")
    both = started(implementations=["tiktoken", "mine"])
    assert gaps(replace(both, specs={"mine": "cmd:./mine"}), *library, text, only) == []
    # Who means to give other ids is compared with nobody.
    greedy = opened("greedy", "right", "other", exact=["right", "other"])
    told = batch(greedy=WHOLE, right=WHOLE, other=WHOLE)
    assert gaps(started(implementations=["greedy"]), greedy, told) == []


def test_who_means_to_give_other_ids_need_not_be_compared() -> None:
    beside = ContractOpened(
        "toy/raw", "bpe", "toy", "raw", ["greedy", "tiktoken"], [], {}, ["survival"], ["tiktoken"]
    )
    told = [loaded(), beside, replace(batch(greedy=WHOLE, tiktoken=WHOLE), comparisons=0)]
    assert gaps(started(implementations=["greedy"], vocabularies=["toy"]), *told) == []
    # With one beside it that does, and that nobody compares, it is another matter.
    exact = started(implementations=["greedy", "tiktoken"], vocabularies=["toy"])
    alone = replace(told[2], exercised={"survival": {"greedy": 1000, "tiktoken": 1000}})
    assert gaps(exact, *told[:2], alone) != []


def test_what_was_only_measured_was_not_to_be_asked() -> None:
    """``--check scaling --impl mine``: no case is asked of anybody."""
    open_ = replace(opened("mine", "right"), checks=[])
    grown = Measured("mine", "toy", "runs", 1.0, 0.9, 1.1, "linear", [])
    named = started(implementations=["mine"], checks=["scaling"])
    assert gaps(named, open_, grown) == []
    assert gaps(named, open_, replace(grown, implementation="right")) != []
    forced = Forced("tokgate", "toy", "exact", 1, 1, 0)
    assert gaps(started(implementations=["mine"], checks=["canonicality"]), open_, forced) == []


def test_a_comparison_that_nobody_was_asked_under_is_said() -> None:
    quiet = replace(opened("mine", "right"), id="toy/special", mode="special")
    told = [opened("mine", "right"), batch(mine=WHOLE, right=WHOLE), quiet]
    line = "no inputs on toy/special: no generator of this run makes cases for it"
    assert judging.omissions(Coverage.of(told)) == [line]


def test_an_implementation_that_takes_part_nowhere_is_told_why() -> None:
    told = [opened("right", "other", excluded={"mine": "byte-level BPE only"})]
    told.append(batch(right=WHOLE, other=WHOLE))
    assert gaps(started(implementations=["mine"]), *told) == [
        "mine was not tested: byte-level BPE only"
    ]
    # Elsewhere it takes part: to decline a vocabulary is its right.
    both = [*told, opened("mine", "right", on="two"), batch(on="two", mine=WHOLE, right=WHOLE)]
    assert gaps(started(implementations=["mine"]), *both) == []


def test_a_vocabulary_that_was_named_and_not_reached_or_not_compared_is_a_gap() -> None:
    fine = [loaded(), opened("mine", "right"), batch(mine=WHOLE, right=WHOLE)]
    named = started(vocabularies=["toy", "two"])
    assert gaps(named, *fine, NotReached("two", "no time")) == ["two was not tested: no time"]
    lonely = [loaded("two"), opened("mine", on="two"), batch(on="two", mine=WHOLE)]
    [line] = gaps(named, *fine, *lonely)
    assert line.startswith("two was not tested: only mine takes part; add another")
    # A run that goes on later reaches it.
    again = [loaded("two"), opened("mine", "right", on="two")]
    again.append(batch(on="two", mine=WHOLE, right=WHOLE))
    assert gaps(named, *fine, NotReached("two", "no time"), *again) == []


def test_a_check_that_was_named_and_judged_nothing_is_a_gap() -> None:
    fine = [opened("mine", "right"), batch(mine=WHOLE, right=WHOLE)]
    [line] = gaps(started(checks=["equivalence", "heal"]), *fine)
    assert line.startswith("the check heal was requested, but nothing was tested: it applies to no")
    [measured] = gaps(started(checks=["scaling"]))
    assert measured == "scaling was requested, but nothing was measured"
    grown = Measured("mine", "toy", "runs", 1.0, 0.9, 1.1, "linear", [])
    assert gaps(started(checks=["scaling"]), grown) == []
    assert gaps(started(checks=["canonicality"]), Forced("mine", "toy", "exact", 1, 1, 0)) == []


def test_texts_that_nobody_compared_are_a_gap() -> None:
    fine = [opened("mine", "right"), batch(mine=WHOLE, right=WHOLE)]
    given_texts = TextsGiven(["a"], 1, 9, sampled=False, only=False)
    assert len(gaps(started(inputs=["a"]), given_texts, *fine)) == 1


def test_what_was_seen_and_never_looked_into_is_a_gap_of_who_was_named() -> None:
    fine = [opened("mine", "right"), batch(mine=WHOLE, right=WHOLE)]
    left = Unsettled("toy/raw", "equivalence", ["mine"], "the run was over", 12)
    line = "12 differences of mine on toy/raw not looked into (equivalence): the run was over"
    assert gaps(started(implementations=["mine"]), *fine, left) == [line]
    assert gaps(started(), *fine, left) == []
    assert judging.omissions(Coverage.of([*fine, left])) == [line]
    [here] = [one for one in fine if isinstance(one, ContractOpened)]
    assert Coverage.of([*fine, left]).cell("mine", here, "equivalence").state is State.UNSETTLED


def test_a_run_on_given_inputs_may_concern_one_alone() -> None:
    one = ContractOpened("toy/raw", "bpe", "toy", "raw", ["mine"], [], {}, ["survival"], ["mine"])
    assert gaps(started(suite="given"), one, batch(mine=(3, 0, 0))) == []
    # Of given inputs one mode may decline all.
    both = [opened("mine", "right"), batch(mine=(1, 0, 0), right=(1, 0, 0))]
    text = replace(opened("mine", "right"), id="toy/text", mode="text")
    declined = replace(batch(mine=(0, 0, 1), right=(0, 0, 1)), contract="toy/text")
    named = started(suite="given", implementations=["mine"])
    assert gaps(named, *both, text, declined) == []
    assert gaps(started(suite="given")) == [
        "nothing was tested: no implementation of this run runs a vocabulary"
    ]


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([], "no two implementations share a vocabulary and mode"),
        ([opened("mine", "right")], "no case was answered before the end of the run"),
        (
            [
                opened("mine", "right"),
                batch(mine=(0, 128, 0), right=(128, 0, 0)),
            ],
            "(mine answered none of 128 inputs)",
        ),
    ],
    ids=["nobody", "no case", "all raised"],
)  # fmt: skip
def test_why_nothing_was_compared(events: list[Event], said: str) -> None:
    [line] = gaps(started(), *events)
    assert said in line


def test_limits_of_a_comparison_are_told() -> None:
    told = Coverage.of([loaded("ranks", remarks=("no pre-tokenizer",))])
    assert judging.limits(told) == ["ranks: no pre-tokenizer"]
    alone = [loaded("odd", unexpressed=True), opened("llama.cpp", on="odd")]
    line = "odd: only llama.cpp reads this file, so there is nothing to compare with"
    assert judging.limits(Coverage.of(alone)) == [line]


def test_a_reference_that_takes_no_part_is_told() -> None:
    kept = ContractOpened(
        "x/text", "bpe", "x", "text", ["mine"], [], {"tokenizers": "token '##' is missing"}, []
    )
    file = VocabularyLoaded("x", "tokenizer.json", "bpe", 9, "", None, [], source="x")
    [line] = judging.omissions(Coverage.of([file, kept]))
    assert line.startswith(
        "tokenizers, the reference for tokenizer.json files, took no part on x: "
    )
    assert line.endswith("token '##' is missing")


def test_what_a_reader_should_know_besides_is_noted() -> None:
    told = [
        *(opened("mine", "right"), batch(mine=WHOLE, right=WHOLE)),
        Withdrawn("mine", "toy", "withdrawn after 3 time-outs\nmore"),
        VocabularyRefused("mine", "random:1", "no"),
        SlowOnce("right", "toy", "timed-out", "8 s", ""),
        found("f-2", b"<s>", check="specials", stage="off", culprits=["mine"]),
        found("f-3", b"<s>", check="specials", stage="off", culprits=["tokenizers"]),
    ]
    notes = judging.notes(Coverage.of(told))
    assert "testing of mine on toy stopped early: withdrawn after 3 time-outs" in notes
    assert "random vocabularies refused: mine 1" in notes
    assert "slow once under load, and answered when asked again alone: right 1" in notes
    assert [n for n in notes if "always_special" in n] == [
        "mine gives special tokens where they are ordinary text; if your plug-in cannot switch "
        "them off, set always_special = True (docs/plugins.md)"
    ]


NAMES = ("mine", "right", "other")
COUNTS = st.tuples(*[st.sampled_from((0, 0, 3, 500))] * 3)
PLACES = st.sampled_from(("toy", "two"))
DRAWN = st.one_of(
    st.builds(loaded, PLACES),
    st.builds(
        lambda names, on: opened(*sorted(names), on=on),
        st.sets(st.sampled_from(NAMES), min_size=1), PLACES,
    ),
    st.builds(
        lambda on, counts: batch(on, "no", **counts),
        PLACES, st.dictionaries(st.sampled_from(NAMES), COUNTS, min_size=1),
    ),
    st.builds(
        lambda on, name: Unsettled(f"{on}/raw", "equivalence", [name], "late"),
        PLACES, st.sampled_from(NAMES),
    ),
    st.builds(lambda on: NotReached(on, "late"), PLACES),
    st.builds(lambda name, on: Withdrawn(name, on, "gone"), st.sampled_from(NAMES), PLACES),
    st.builds(
        lambda name, on: ImplementationFailed(name, on, "no"), st.sampled_from(NAMES), PLACES
    ),
    st.builds(
        lambda name, on, expected: found(
            f"f-{name}-{on}", b"a", check="equivalence", contract=f"{on}/raw", culprits=[name],
            vocabulary=on, bucket=f"equivalence/bpe/raw/ids/L/{name}", expected=expected,
        ),
        st.sampled_from(NAMES), PLACES, st.sampled_from((None, "known")),
    ),
)  # fmt: skip
NAMED = st.fixed_dictionaries(
    {},
    optional={
        "implementations": st.just(["mine"]),
        "vocabularies": st.just(["toy"]),
        "checks": st.sampled_from((["equivalence"], ["heal"], ["survival"])),
    },
)


@given(NAMED, st.lists(DRAWN, max_size=12))
def test_no_report_contradicts_the_gate(named: dict[str, Any], drawn: list[Event]) -> None:
    """Records of every kind: JUnit, SARIF, Markdown, annotations and the summary say the same."""
    begun: list[Event] = [started(**named), *drawn]
    findings = list({one.id: one for one in begun if isinstance(one, Found)}.values())
    coverage = Coverage.of(begun)
    verdict = gate.judge(findings, [], [], coverage)
    end = Finished(
        True, verdict.value, list(verdict.reasons), 1.0, coverage.cases, coverage.comparisons,
        verdict.exit_status, list(verdict.notes),
    )  # fmt: skip
    record = RunRecord.from_events([*begun, end])
    assert record.coverage == Coverage.of([*begun, end])
    summary = json.loads(summary_json.render(record))
    assert summary["verdict"] == verdict.value
    assert summary["coverage"]["gaps"] == judging.gaps(coverage)
    suites = ET.fromstring(junit.render(record))
    failures, errors = int(suites.get("failures", "0")), int(suites.get("errors", "0"))
    results = json.loads(sarif.render(record))["runs"][0]["results"]
    annotated = "::error" in github.render(record)
    heading = markdown.render(record).splitlines()[0]
    if verdict.passed:
        assert coverage.comparisons or named.get("checks") not in (None, ["equivalence"])
        assert (failures, errors, results, annotated) == (0, 0, [], False)
        assert "PASSED" in heading
    else:
        assert verdict.reasons
        assert failures + errors > 0
        assert results
        assert annotated
    if verdict.value == UNEXAMINED:
        assert record.verdict == "not-examined"
        assert (failures, errors) == (0, 1)
        assert "NOT EXAMINED" in heading


def test_the_fold_has_what_was_found_and_by_whose_cases() -> None:
    found_first, smaller = found("f-1", b"abc"), found("f-2", b"a", replaces="f-1")
    told = [
        started(), opened("mine", "right"), batch(mine=(3, 1, 0), right=(4, 0, 0)), found_first,
        Counted(smaller.bucket, 2), smaller, Counted(smaller.bucket, 7),
        Measured("mine", "toy", "runs", 1.0, 0.9, 1.1, "linear", []),
        Finished(True, "fail", [], 1.0, 1, 1, 1),
    ]  # fmt: skip
    seen = Coverage.of(told)
    assert (list(seen.findings), seen.counts) == (["f-2"], {smaller.bucket: 7})
    assert seen.generators["edge"] == {
        "cases": 1, "bytes": 9, "comparisons": 3, "violations": 1,
    }  # fmt: skip
    assert seen.judged_of["toy/raw", "mine"] == {("survival", "edge"), ("equivalence", "edge")}
    assert list(seen.growth) == [("mine", "toy", "runs", "time")]
    assert seen.complete
    assert not Coverage.of([*told, started()]).complete, "a run that is resumed is open again"
