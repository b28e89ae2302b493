"""A cause with several variants is one finding in every report, and hides nothing unexpected."""

import json
from xml.etree import ElementTree as ET

import pytest

from harness.events import Counted, kind_in
from reports import github, html, junit, markdown, sarif, summary_json
from reports.matrix import NOBODY, matrix
from reports.record import RunRecord
from tests.reports import records

CAUSE = "equivalence/bpe/text/merges/{}/tokenizers"


def variant(kind, data, **more):
    return records.found(f"f-{kind}", data, bucket=CAUSE.format(kind), stage="merges", **more)


def record(*events):
    return RunRecord.from_events([*records.opening(), *events, records.finished("fail")])


def three(**more):
    """Three kinds of input; ``more`` of the one of marks."""
    return record(
        variant("Mn", "\u0301".encode(), **more),
        variant("L", b"ab"),
        variant("So", "\u00a9abc".encode()),
        Counted(CAUSE.format("Mn"), 50),
        Counted(CAUSE.format("L"), 7),
    )


def test_the_record_has_one_finding_with_its_variants():
    (bucket,) = three().buckets
    assert bucket.name == CAUSE.format("*")
    seen = [(kind_in(one.name), one.count) for one in bucket.variants]
    assert seen == [
        ("L", 7),
        ("Mn", 50),
        ("So", 1),
    ]
    assert (bucket.count, bucket.expected) == (58, False)


def test_an_expected_variant_hides_no_unexpected_one():
    run = three(expected="known")
    (bucket,) = run.buckets
    assert not bucket.expected and run.unexpected == [bucket]
    assert bucket.example.id == "f-L"  # what fails the gate is what a reader sees first
    assert [one.reason for one in bucket.variants] == [None, None, "known"]
    cell = matrix(run)["tokenizers", "tekken_240911/text", "equivalence"]
    assert cell.status == "violated"


def test_a_cause_of_which_all_variants_are_expected_is_expected():
    run = record(
        variant("Mn", b"a", expected="marks"),
        variant("L", b"b", expected="letters"),
    )
    (bucket,) = run.buckets
    assert (bucket.expected, bucket.reason) == (True, "letters; marks")
    assert run.unexpected == []


def test_summary_json_folds_the_variants_into_one_finding():
    (finding,) = json.loads(summary_json.render(three(expected="known")))["findings"]
    assert (finding["id"], finding["bucket"]) == ("f-L", CAUSE.format("L"))
    assert (finding["expected"], finding["count"]) == (None, 58)
    told = [(one["id"], one["kind"], one["expected"]) for one in finding["variants"]]
    assert told == [("f-L", "L", None), ("f-So", "So", None), ("f-Mn", "Mn", "known")]


def test_summary_json_keeps_contracts_apart():
    elsewhere = variant("So", b"abcd", contract="tekken_240911/raw")
    summary = json.loads(summary_json.render(record(variant("L", b"a"), elsewhere)))
    assert [(f["id"], len(f["variants"])) for f in summary["findings"]] == [("f-L", 1), ("f-So", 1)]


def test_every_report_says_it_once_and_names_the_variants():
    run = three(expected="known")
    assert markdown.render(run).count("tokenizers merges otherwise than tiktoken") == 2
    assert "also in the variants So and Mn (expected)" in markdown.render(run)
    assert github.render(run).count("::error") == 1
    results = json.loads(sarif.render(run))["runs"][0]["results"]
    assert sum(one["ruleId"].endswith("equivalence") for one in results) == 1
    failures = ET.fromstring(junit.render(run)).findall(".//failure[@type='equivalence']")
    assert len(failures) == 1
    page = html.render(run)
    assert page.count('<details class="card') == 1
    assert "3 variants of this finding" in page
    assert all(f"f-{kind}" in page for kind in ("Mn", "L", "So"))


def test_the_fingerprint_does_not_depend_on_which_variants_were_seen():
    def fingerprint(run):
        (one,) = [r for r in json.loads(sarif.render(run))["runs"][0]["results"]
                  if r["ruleId"].endswith("equivalence")]  # fmt: skip
        return one["partialFingerprints"]

    assert fingerprint(three()) == fingerprint(record(variant("So", b"x")))


@pytest.mark.parametrize("check", ["equivalence", "round-trip"])
def test_where_nobody_is_blamed_every_report_says_so(check):
    bucket = f"{check}/bpe/text/merges/L/tiktoken<>tokenizers"
    culprits = ["tiktoken", "tokenizers"]
    run = record(
        records.found(
            "f-1",
            b"a",
            bucket=bucket,
            check=check,
            stage="merges",
            culprits=culprits,
            undecided=True,
        )
    )
    pages = [markdown.render(run), github.render(run), sarif.render(run), junit.render(run)]
    for page in [*pages, html.render(run)]:
        assert "nobody is blamed" in page
        assert "otherwise than" not in page
    (finding,) = json.loads(summary_json.render(run))["findings"]
    assert finding["undecided"] is True
    assert finding["implementations"] == ["tiktoken", "bpe.heap", "tokenizers"]
    assert "trusted ·" not in html.render(run)
    cell = matrix(run)["tokenizers", "tekken_240911/text", check]
    assert (cell.status, cell.reason) == ("violated", NOBODY)
