"""The record: what replaces what, causes and their variants, the matrix, the verdict, the words."""

import json
from dataclasses import replace

import pytest

from harness.events import (
    BatchDone,
    ContractOpened,
    Counted,
    Withdrawn,
    read_events,
)
from reports import FORMATS
from reports.matrix import matrix
from reports.record import RunRecord
from reports.words import severity, spoken, title
from tests.doubles.made import write_record
from tests.properties.reports import records

WHERE = "tekken_240911/text"
CAUSE = "equivalence/bpe/text/merges/{}/tokenizers"


def run(*events):
    return records.run(*events, verdict="fail")


def variant(kind, data, **more):
    return records.found(f"f-{kind}", data, bucket=CAUSE.format(kind), stage="merges", **more)


def test_a_later_finding_replaces_the_earlier():
    first = records.found("f-1", b"long input", minimal=False)
    second = records.found("f-1", b"x")
    record = RunRecord.from_events([first, Counted(first.bucket, 9), second])
    assert record.findings == (second,)
    assert [b.count for b in record.buckets] == [9]


def test_verdicts():
    resumed = RunRecord.from_events([records.started(), records.finished(), records.started()])
    assert records.clean().verdict == "pass"
    assert records.clean().reason.startswith("No unexpected finding in ")
    for record in (records.incomplete(), RunRecord.from_events([]), resumed):
        assert record.verdict == "incomplete"
        assert record.reason.startswith("The run did not finish")


def test_a_record_survives_its_file(tmp_path):
    events = [*records.opening(), *records.special()]
    write_record(tmp_path / "run.jsonl", *events)
    again = RunRecord.from_events(read_events(tmp_path / "run.jsonl"))
    assert again == RunRecord.from_events(events)


# --- causes ---------------------------------------------------------------------------------------


def test_buckets_are_ordered_unexpected_then_severe_then_frequent():
    events = [
        records.found("f-rare", b"a"),
        records.found("f-known", b"a", expected="known"),
        records.found("f-trip", b"a", check="round-trip"),
        records.found("f-often", b"a"),
        Counted("equivalence/pre-tokens/f-often", 50),
        Counted("equivalence/pre-tokens/f-known", 5000),
        records.found("f-dead", b"a", partition=[records.died(["tokenizers"], "crashed", "boom")]),
    ]
    buckets = RunRecord.from_events(events).buckets
    assert [(b.example.id, severity(b.example)) for b in buckets] == [
        ("f-dead", "crash"), ("f-often", "wrong ids"), ("f-rare", "wrong ids"),
        ("f-trip", "wrong text"), ("f-known", "wrong ids"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reasons", "reason"),
    [((None, None), None), (("known", None), None), (("marks", "letters"), "letters; marks")],
)
@pytest.mark.parametrize("kinds", ["Mn Mn", "Mn L"])
def test_a_cause_is_expected_where_all_of_it_is(reasons, reason, kinds):
    """An expected variant, or finding, hides no unexpected one."""
    known, other = reasons
    first, second = (CAUSE.format(kind) for kind in kinds.split())
    record = run(
        records.found("f-1", b"longer", bucket=first, stage="merges", expected=known),
        records.found("f-2", b"b" if reason else b"even longer", bucket=second, stage="merges",
                      expected=other),
    )  # fmt: skip
    (bucket,) = record.buckets
    assert (bucket.reason, bucket.expected) == (reason, reason is not None)
    assert record.unexpected == [bucket] * (reason is None)
    # What fails the gate is what a reader sees first.
    assert bucket.example.id == ("f-1" if known is None else "f-2")
    cell = matrix(record)["tokenizers", WHERE, "equivalence"]
    assert cell.status == ("expected" if reason else "violated")


def test_contracts_are_kept_apart():
    elsewhere = variant("So", b"abcd", contract="tekken_240911/raw")
    summary = json.loads(FORMATS["json"](run(variant("L", b"a"), elsewhere)))
    assert [(f["id"], len(f["variants"])) for f in summary["findings"]] == [("f-L", 1), ("f-So", 1)]


# --- the matrix -----------------------------------------------------------------------------------


def test_failing_cases_that_nobody_looked_into_are_no_finding_and_no_pass():
    wrong = {"validity": {"tiktoken": 2}}
    batch = BatchDone("tekken_240911/raw", "g", 1, 1, 1, {"validity": {"tiktoken": 9}}, wrong)
    elsewhere = records.found(
        "f-9", b"a", check="determinism", contract="tekken_240911/raw", culprits=["tiktoken"]
    )
    for events, status, reason in (
        ([batch], "not settled", "the failing cases were not examined"),
        (
            [batch, records.finished()],
            "ok",
            "the failing cases gave the right answer when tested again alone",
        ),
        ([batch, elsewhere], "ok", "the failing cases are counted with another finding"),
    ):
        cells = matrix(RunRecord.from_events([*records.opening(), *events]))
        cell = cells["tiktoken", "tekken_240911/raw", "validity"]
        assert (cell.status, cell.reason) == (status, reason)


LINE = "testing of llama.cpp on tekken_240911 stopped early: withdrawn"


@pytest.mark.parametrize(
    ("events", "judged"),
    [
        ([Withdrawn("llama.cpp", "tekken_240911", "withdrawn")], False),
        (
            [BatchDone(WHERE, "edge", 9, 9, 0, {"survival": {"llama.cpp": 9},
                       "equivalence": {"llama.cpp": 0, "tiktoken": 9}}, {})],
            True,  # it always failed
        ),
    ],
)  # fmt: skip
def test_who_was_never_judged_or_always_failed_is_not_counted_as_compared(events, judged):
    names = ["tiktoken", "tokenizers", "bpe.heap", "llama.cpp"]
    opened = ContractOpened(
        WHERE, "bpe", "tekken_240911", "text", names, ["tiktoken"], {}, records.CHECKS
    )
    end = records.finished()
    record = RunRecord.from_events([*records.opening(), opened, *events, end])
    others = len(record.implementations) - 1
    assert "llama.cpp" in record.implementations
    assert "llama.cpp" not in record.compared
    assert ("llama.cpp" in record.judged) is judged
    idle = "" if judged else " (1 more took no part)"
    assert f"of {others} implementations{idle} on 2 vocabularies" in record.reason
    assert judged or f"<dd>{others} of {others + 1}</dd>" in FORMATS["html"](record)
    cell = matrix(record)["llama.cpp", WHERE, "equivalence"]
    assert cell.status == "not tested"
    assert judged or cell.reason == LINE


# --- words ----------------------------------------------------------------------------------------


def test_a_title_tells_like_findings_apart():
    by_id = {f.id: f for f in records.three().findings}
    assert title(by_id["f-crash"]) == "tokenizers crashed"
    assert title(by_id["f-trip"]) == "tokenizers did not decode back to the input"
    said = "tokenizers normalizes differently from sentencepiece"
    for bucket, words in {
        "equivalence/unigram/text/normalization/Mn/tokenizers": "(normalization: Mn)",
        "equivalence/unigram/text/another-stage/Mn/tokenizers": "(normalization)",
        "equivalence/normalization/double-space": "(normalization)",
    }.items():
        assert title(replace(by_id["f-expected"], bucket=bucket)) == f"{said} {words}"


@pytest.mark.parametrize(
    ("stage", "right", "culprits", "words"),
    [
        ("merges", "t", "m", "m merges differently from t"),
        ("pre-tokens", "t", "ab", "a and b split the text differently from t"),
        ("no-such-stage", "t", "abcdef", "a, b, c and 3 others give other ids than t"),
        ("merges", "abcde", "m", "m merges differently from a and 4 others"),
    ],
)
def test_a_short_headline_says_what_is_done_otherwise(stage, right, culprits, words):
    parts = [records.group([*right], b"aaa", 1), records.group([*culprits], b"aaa", 2)]
    finding = records.found("f-1", b"aaa", culprits=[*culprits], stage=stage, partition=parts)
    assert spoken(finding) == words
