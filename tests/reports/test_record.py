"""The record: what replaces what, the order of buckets, the matrix, the verdict."""

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from harness.events import BatchDone, Counted, read_events
from reports.blocks.units import plural
from reports.matrix import matrix
from reports.record import RunRecord
from reports.words import spoken, title
from tests.harness.made import write_record
from tests.reports import records

if TYPE_CHECKING:
    pass


def test_a_later_finding_replaces_the_earlier():
    first = records.found("f-1", b"long input", minimal=False)
    second = records.found("f-1", b"x")
    record = RunRecord.from_events([first, Counted(first.bucket, 9), second])
    assert record.findings == (second,)
    assert [b.count for b in record.buckets] == [9]


def test_verdicts():
    assert records.clean().verdict == "pass"
    assert records.three().verdict == "fail"
    assert records.incomplete().verdict == "incomplete"
    assert records.cut_off().verdict == "incomplete"
    assert RunRecord.from_events([]).verdict == "incomplete"
    for record in (records.incomplete(), records.cut_off()):
        assert "did not come to its end" in record.reason


def test_a_resumed_run_is_open_again():
    record = RunRecord.from_events([records.started(), records.finished(), records.started()])
    assert record.verdict == "incomplete"


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
    names = [b.example.id for b in RunRecord.from_events(events).buckets]
    assert names == ["f-dead", "f-often", "f-rare", "f-trip", "f-known"]


def test_a_bucket_with_one_uncovered_finding_is_unexpected():
    events = [
        records.found("f-1", b"a", bucket="b", expected="known"),
        records.found("f-2", b"longer", bucket="b"),
    ]
    (bucket,) = RunRecord.from_events(events).buckets
    assert not bucket.expected
    assert bucket.example.id == "f-2"


def test_matrix():
    record = records.three()
    cells = matrix(record)
    assert cells["tiktoken", "tekken_240911/text", "equivalence"].status == "ok"
    assert cells["tiktoken", "tekken_240911/text", "equivalence"].exercised == 21_500
    assert cells["tokenizers", "tekken_240911/text", "equivalence"].status == "violated"
    assert cells["tokenizers", "tekken_240911/text", "equivalence"].violations == 4
    assert cells["tokenizers", "t5_base/text", "equivalence"].status == "expected"
    assert cells["tokenizers", "tekken_240911/raw", "equivalence"].status == "ok"
    assert cells["tiktoken", "tekken_240911/text", "offsets"].status == "not tested"
    unsupported = cells["tiktoken", "t5_base/text", "equivalence"]
    assert unsupported.status == "unsupported"
    assert unsupported.reason == "byte-pair encoding only"
    assert cells["rs-bpe", "tekken_240911/raw", "equivalence"].status == "failed to start"


def test_failing_cases_that_nobody_looked_into_are_no_finding_and_no_pass():
    wrong = {"validity": {"tiktoken": 2}}
    batch = BatchDone("tekken_240911/raw", "g", 1, 1, 1, {"validity": {"tiktoken": 9}}, wrong)
    place = "tiktoken", "tekken_240911/raw", "validity"
    cut_off = RunRecord.from_events([*records.opening(), batch])
    assert matrix(cut_off)[place].status == "not settled"
    whole = RunRecord.from_events([*records.opening(), batch, records.finished()])
    assert matrix(whole)[place].status == "ok"
    elsewhere = records.found(
        "f-9", b"a", check="determinism", contract="tekken_240911/raw", culprits=["tiktoken"]
    )
    told = matrix(RunRecord.from_events([*records.opening(), batch, elsewhere]))[place]
    assert told.status == "ok"
    assert told.reason == "the failing cases are counted with another finding"


def test_a_record_survives_its_file(tmp_path):
    record = records.three()
    events = [*records.opening(), *records.special()]
    write_record(tmp_path / "run.jsonl", *events)
    again = RunRecord.from_events(read_events(tmp_path / "run.jsonl"))
    assert again == RunRecord.from_events(events)
    assert replace(record) == record


def test_a_title_tells_like_findings_apart():
    by_id = {f.id: f for f in records.three().findings}
    assert title(by_id["f-crash"]) == "tokenizers crashed"
    assert title(by_id["f-trip"]) == "tokenizers did not decode back to the input"
    said = "tokenizers normalizes otherwise than sentencepiece"
    for bucket, words in {
        "equivalence/unigram/text/normalization/Mn/tokenizers": "(normalization: Mn)",
        "equivalence/unigram/text/another-stage/Mn/tokenizers": "(normalization)",
        "equivalence/normalization/double-space": "(normalization)",
    }.items():
        assert title(replace(by_id["f-expected"], bucket=bucket)) == f"{said} {words}"


@pytest.mark.parametrize(
    ("stage", "right", "culprits", "words"),
    [
        ("merges", "t", "m", "m merges otherwise than t"),
        ("pre-tokens", "t", "ab", "a and b split the text otherwise than t"),
        ("no-such-stage", "t", "abcdef", "a, b, c and 3 others give other ids than t"),
        ("merges", "abcde", "m", "m merges otherwise than a and 4 others"),
    ],
)
def test_a_short_headline_says_what_is_done_otherwise(stage, right, culprits, words):
    parts = [records.group([*right], b"aaa", 1), records.group([*culprits], b"aaa", 2)]
    finding = records.found("f-1", b"aaa", culprits=[*culprits], stage=stage, partition=parts)
    assert spoken(finding) == words


def test_the_verdict_names_the_worst_finding_with_its_severity():
    record = records.three()
    said = record.reason
    assert said.startswith(plural(len(record.unexpected), "unexpected finding"))
    assert "; the worst is crash: " in said
    assert "the worst" not in records.clean().reason
