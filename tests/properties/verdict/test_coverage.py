"""Coverage: what a run examined follows from its events, whatever they are."""

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    PASS,
    UNEXAMINED,
    Counted,
    Finished,
    Forced,
    ImplementationFailed,
    NotReached,
    SlowOnce,
    TextsGiven,
    Unsettled,
    VocabularyRefused,
    Withdrawn,
)
from harness.verdict import gaps as judging
from harness.verdict import gate
from harness.verdict.coverage import LEAST_CASES, Coverage, State
from reports import github, junit, markdown, sarif, summary_json
from reports.record import RunRecord
from tests.doubles.made import WHOLE, batch, finished, found, grown, loaded, opened, started

MINE = started(implementations=["mine"])
PROGRAM = replace(MINE, specs={"mine": "cmd:./mine"})
LIBRARY = replace(PROGRAM, named={"implementations": ["mine", "tiktoken"]})
BOTH = started(vocabularies=["toy", "two"])
GIVEN = started(suite="given", implementations=["mine"])
PAIR, TEXT = opened("mine", "right"), opened("mine", "right", mode="text")
THREE = opened("mine", "right", "other")
COMPARED = batch(mine=WHOLE, right=WHOLE)
FINE = [PAIR, COMPARED]
OTHERS = [
    opened("right", "other", excluded={"mine": "bytes only"}),
    batch(right=WHOLE, other=WHOLE),
]
MUTE = batch(mine=(0, 0, 1000), right=WHOLE, other=WHOLE, why="not today")
ONE_MUTE = batch(mine=(0, 0, 1000), right=WHOLE, why="not today")
IN_TEXT = batch(mode="text", mine=(0, 0, 500), right=(500, 0, 0), why="raw only")
IN_BOTH = [opened("mine", "right", on="two"), batch("two", mine=WHOLE, right=WHOLE)]
GREEDY = opened("mine", "right", "other", exact=["right", "other"])
ALONE = opened("mine", "tiktoken", exact=["tiktoken"], checks=["survival"])
SURVIVED = replace(batch(mine=WHOLE, tiktoken=WHOLE), comparisons=0)
UNCOMPARED = replace(SURVIVED, exercised={"survival": {"mine": 1000, "tiktoken": 1000}})
MEASURED = replace(PAIR, checks=[])
LATE = NotReached("two", "no time")
LEFT = Unsettled("toy/raw", "equivalence", ["mine"], "the run was over", 12)
NOT_LOOKED_INTO = (
    "12 differences of mine on toy/raw not looked into (equivalence): the run was over"
)
FORCED = Forced("tokgate", "toy", "exact", 1, 1, 0)


def gaps(*events):
    return judging.gaps(Coverage.of(events))


@pytest.mark.parametrize(
    ("begun", "events"),
    [
        (started(implementations=["mine"], vocabularies=["toy"], checks=["equivalence"]),
         [loaded(), *FINE]),
        # Who was not named may decline everything.
        (started(), [THREE, MUTE]),
        # A program has no other word for a mode that it does not do; a library need not do all.
        (PROGRAM, [*FINE, TEXT, IN_TEXT]),
        (LIBRARY, [opened("tiktoken", "mine"), batch(tiktoken=WHOLE, mine=WHOLE),
                   opened("tiktoken", "mine", mode="text"),
                   batch(mode="text", tiktoken=WHOLE, mine=(0, 0, 1000))]),
        # Who dies on every input has findings, and is nobody that was passed over.
        (MINE, [THREE, batch(mine=(0, 1000, 0), right=WHOLE, other=WHOLE)]),
        # Who means to give other ids is compared with nobody.
        (MINE, [GREEDY, batch(mine=WHOLE, right=WHOLE, other=WHOLE)]),
        (started(implementations=["mine"], vocabularies=["toy"]), [loaded(), ALONE, SURVIVED]),
        # ``--check scaling --impl mine``: no case is asked of anybody.
        (started(implementations=["mine"], checks=["scaling"]), [MEASURED, grown()]),
        (started(implementations=["mine"], checks=["canonicality"]), [MEASURED, FORCED]),
        (started(checks=["scaling"]), [grown()]),
        # To decline a vocabulary is its right.
        (MINE, [*OTHERS, *IN_BOTH]),
        # A run that goes on later reaches it.
        (BOTH, [loaded(), *FINE, LATE, loaded("two"), *IN_BOTH]),
        (started(), [*FINE, LEFT]),
        # A run on given inputs may concern one alone, and one mode may decline all of them.
        (started(suite="given"), [opened("mine", checks=["survival"]), batch(mine=(3, 0, 0))]),
        (GIVEN, [PAIR, batch(mine=(1, 0, 0), right=(1, 0, 0)), TEXT,
                 batch(mode="text", mine=(0, 0, 1), right=(0, 0, 1))]),
    ],
)  # fmt: skip
def test_what_was_examined_has_no_gap(begun, events):
    assert gaps(begun, *events) == []


@pytest.mark.parametrize(
    ("begun", "events", "said"),
    [
        (MINE, [loaded(), THREE, MUTE],
         "mine answered only 0 of 1,000 inputs on toy/raw, and 200 are needed: not today"),
        (MINE, [*FINE, TEXT, IN_TEXT], "mine answered only 0 of 500 inputs on toy/text"),
        # One id a byte passed with 645,662 cases and no comparison.
        (MINE, [opened("mine"), batch(mine=WHOLE)],
         "nothing was compared: only mine takes part; add another"),
        (MINE, [PAIR, batch(mine=WHOLE, right=(0, 0, 1000))],
         "only 0 of 1,000 answers of mine on toy/raw could be compared"),
        (MINE, OTHERS, "mine was not tested: bytes only"),
        (started(implementations=["mine", "tiktoken"], vocabularies=["toy"]),
         [loaded(), ALONE, UNCOMPARED], "toy was not tested: no two implementations that should"),
        (started(implementations=["mine"], checks=["scaling"]),
         [MEASURED, grown(implementation="right")], "mine was not tested: none of the chosen"),
        (BOTH, [loaded(), *FINE, LATE], "two was not tested: no time"),
        (BOTH, [loaded(), *FINE, loaded("two"), opened("mine", on="two"), batch("two", mine=WHOLE)],
         "two was not tested: only mine takes part; add another"),
        (started(checks=["equivalence", "heal"]), FINE,
         "the check heal was requested, but nothing was tested: it applies to no"),
        (started(checks=["scaling"]), [], "scaling was requested, but nothing was measured"),
        (started(inputs=["a"]), [TextsGiven(["a"], 1, 9, sampled=False, only=False), *FINE],
         "no document of your texts was compared"),
        (MINE, [*FINE, LEFT], NOT_LOOKED_INTO),
        (started(suite="given"), [],
         "nothing was tested: no implementation of this run runs a vocabulary"),
        (started(), [], "nothing was compared: no two implementations share a vocabulary and mode"),
        (started(), [PAIR], "nothing was compared: no case was answered before the end of the run"),
        (started(), [PAIR, batch(mine=(0, 128, 0), right=(128, 0, 0))],
         "nothing was compared: no two implementations answered the same input (mine answered "
         "none of 128 inputs)"),
    ],
)  # fmt: skip
def test_what_was_not_examined_is_named_with_the_reason(begun, events, said):
    line, *_ = gaps(begun, *events)
    assert line.startswith(said)


@pytest.mark.parametrize(
    ("answered", "declined", "fine"),
    [(LEAST_CASES, 90_000, True), (LEAST_CASES - 1, 90_000, False), (5, 5, True), (4, 6, False)],
)
def test_so_many_answers_are_enough(answered, declined, fine):
    told = batch(mine=(answered, 0, declined), right=(answered + declined, 0, 0))
    assert (gaps(MINE, PAIR, told) == []) == fine


KEPT = opened("mine", on="x", mode="text", references=[], excluded={"tokenizers": "no '##'"})


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([PAIR, ONE_MUTE], "not tested: mine (answered none of 1,000 inputs: not today)"),
        ([*FINE, replace(PAIR, id="toy/special")],
         "no inputs on toy/special: no generator of this run makes cases for it"),
        ([*FINE, LEFT], NOT_LOOKED_INTO),
        ([loaded("x", format="tokenizer.json"), KEPT],
         "tokenizers, the reference for tokenizer.json files, took no part on x: no '##'"),
        ([loaded("ranks", remarks=["no pre-tokenizer"])], "ranks: no pre-tokenizer"),
        ([loaded("odd", unexpressed=True), opened("llama.cpp", on="odd")],
         "odd: only llama.cpp reads this file, so there is nothing to compare with"),
        ([Withdrawn("mine", "toy", "withdrawn after 3 time-outs\nmore")],
         "testing of mine on toy stopped early: withdrawn after 3 time-outs"),
        ([VocabularyRefused("mine", "random:1", "no")], "random vocabularies refused: mine 1"),
        ([SlowOnce("right", "toy", "timed-out", "8 s", "")],
         "slow once under load, and answered when asked again alone: right 1"),
        ([found(id=name, check="specials", stage="off", culprits=[name])
          for name in ("mine", "tokenizers")],
         "mine gives special tokens where they are ordinary text; if your plug-in cannot switch "
         "them off, set always_special = True (docs/plugins.md)"),
    ],
)  # fmt: skip
def test_what_a_reader_should_know_besides_is_noted(told, said):
    assert judging.notes(Coverage.of(told)) == [said]


NAMES = st.sampled_from(("mine", "right", "other"))
COUNTS = st.tuples(*[st.sampled_from((0, 0, 3, 500))] * 3)
PLACES = st.sampled_from(("toy", "two"))
DRAWN = st.one_of(
    st.builds(loaded, PLACES),
    st.builds(lambda names, on: opened(*sorted(names), on=on), st.sets(NAMES, min_size=1), PLACES),
    st.builds(
        lambda on, counts: batch(on, why="no", **counts),
        PLACES, st.dictionaries(NAMES, COUNTS, min_size=1),
    ),
    st.builds(
        lambda on, name: Unsettled(f"{on}/raw", "equivalence", [name], "late"), PLACES, NAMES
    ),
    st.builds(NotReached, PLACES, st.just("late")),
    st.builds(Withdrawn, NAMES, PLACES, st.just("gone")),
    st.builds(ImplementationFailed, NAMES, PLACES, st.just("no")),
    st.builds(
        lambda name, on, expected: found(
            f"equivalence/bpe/raw/ids/L/{name}", on, culprits=[name], expected=expected
        ),
        NAMES, PLACES, st.sampled_from((None, "known")),
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
def test_no_report_contradicts_the_gate(named, drawn):
    """Records of every kind: JUnit, SARIF, Markdown, annotations and the summary say the same."""
    begun = [started(**named), *drawn]
    coverage = Coverage.of(begun)
    verdict = gate.judge([], [], coverage)
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
    if verdict.value == PASS:
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


def test_the_fold_has_what_was_found_and_by_whose_cases():
    smaller = found(id="f-2", replaces="f-1")
    told = [
        started(), PAIR, batch(mine=(3, 1, 0), right=(4, 0, 0)), found(id="f-1"), LEFT,
        Counted(smaller.bucket, 2), smaller, Counted(smaller.bucket, 7), grown(), finished(),
    ]  # fmt: skip
    seen = Coverage.of(told)
    assert (list(seen.findings), seen.counts) == (["f-2"], {smaller.bucket: 7})
    assert seen.generators["edge"] == {"cases": 1, "bytes": 9, "comparisons": 3, "violations": 1}
    assert seen.judged_of["toy/raw", "mine"] == {("survival", "edge"), ("equivalence", "edge")}
    assert seen.compared == {"mine", "right"}
    assert seen.cell("mine", PAIR, "equivalence").state is State.UNSETTLED
    assert list(seen.growth) == [("mine", "toy", "runs", "time")]
    assert seen.complete
    assert not Coverage.of([*told, started()]).complete, "a run that is resumed is open again"
