"""report.sarif and annotations: valid, within GitHub's limits, stable from run to run."""

import gzip
import json
import random
import re
from dataclasses import replace

import jsonschema
import pytest

from harness.events import ExpectationJudged, GrowthJudged, Measured
from reports import github, sarif
from reports.faults import FALLBACK, place
from reports.record import RunRecord
from tests.reports import records
from tests.reports.records import SHAPES
from tests.reports.sarif_schema import SARIF


def results(record):
    log = json.loads(sarif.render(record))
    jsonschema.validate(log, SARIF)
    [run] = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(set(rules)) == len(rules)
    for one in run["results"]:
        assert rules[one["ruleIndex"]] == one["ruleId"]
    return list(run["results"])


@pytest.mark.parametrize("shape", SHAPES)
def test_sarif_is_valid(shape):
    record = SHAPES[shape]()
    found = results(record)
    assert len(found) >= len(record.unexpected)
    hashes = [one["partialFingerprints"]["primaryLocationLineHash"] for one in found]
    assert len(set(hashes)) == len(hashes)
    text = sarif.render(record)
    assert text.isascii()
    # Lone surrogates, be they escaped, are no text to strict readers.
    json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")


def test_what_the_gate_lets_through_is_no_alert():
    assert results(records.clean()) == []
    said = sarif.render(records.three())
    assert "double-space" not in said
    assert {"expectation", "start", "equivalence", "round-trip"} <= {
        one["ruleId"].removeprefix("tokgate/") for one in results(records.three())
    }


def test_rules_do_not_depend_on_the_run():
    def rules(record):
        return json.loads(sarif.render(record))["runs"][0]["tool"]["driver"]["rules"]

    assert rules(records.clean()) == rules(records.three()) == rules(records.nasty())


def test_a_fault_is_recognised_by_its_bucket():
    """Another smallest input, another count, another id, another order: the same alert."""
    one = records.found("f-one", b"ab", bucket="equivalence/x")
    other = records.found("f-two", b"zz" * 9, bucket="equivalence/x", seed=8, index=3)
    third = records.found("f-three", b"q", bucket="equivalence/y")
    record = [
        RunRecord.from_events([*records.opening(), *found, records.finished("fail")])
        for found in ([one], [third, other])
    ]

    def named(of):
        return {r["partialFingerprints"]["primaryLocationLineHash"] for r in results(of)}

    assert len(named(record[0]) & named(record[1])) == 1
    assert len(named(record[1])) == 2


def test_a_large_file_stays_within_the_limits(monkeypatch):
    noise = random.Random(1)
    events = [
        records.found(f"f-{i:06}", noise.randbytes(600), bucket=f"b/{noise.randbytes(200).hex()}")
        for i in range(110)
    ]
    record = RunRecord.from_events([*records.opening(), *events, records.finished("fail")])
    allowed = sarif.MAX_RESULTS
    monkeypatch.setattr(sarif, "MAX_RESULTS", 100)
    text = sarif.render(record)
    assert len(gzip.compress(text.encode())) / 100 * allowed < 10_000_000
    log = json.loads(text)
    assert len(log["runs"][0]["results"]) == 100
    [told] = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("10 further results left out for GitHub")
    jsonschema.validate(log, SARIF)


def started(**changes):
    return replace(records.started(), **changes)


def test_the_file_of_an_implementation_is_blamed_first():
    specs = {
        "mine": "./src/../src/mine.py:Mine", "other": "pkg.mod:Other", "prog": "cmd:./run.py:x",
        "abs": "/w/a b.py:A",
    }  # fmt: skip
    with_file = RunRecord.from_events([started(specs=specs, expect="/w/expected.toml")])
    assert place(with_file, ["other", "mine"]) == "src/mine.py"
    assert place(with_file, ["prog", "other", "nobody"]) == "/w/expected.toml"
    assert place(RunRecord.from_events([started(specs=specs)]), ["prog"]) == FALLBACK
    assert sarif.uri(place(with_file, ["abs"])) == "file:///w/a%20b.py"


ANNOTATION = re.compile(r"::(error|warning) file=([^:,]+),title=([^:,]+)::(.+)")


@pytest.mark.parametrize("shape", SHAPES)
def test_annotations_are_one_line_each_and_few(shape):
    lines = github.render(SHAPES[shape]()).splitlines()
    kinds = [match[1] for line in lines if (match := ANNOTATION.fullmatch(line))]
    assert len(kinds) == len(lines)
    assert max(kinds.count("error"), kinds.count("warning")) <= github.EACH
    assert all(len(line) < 8_000 for line in lines)


def test_annotations_say_what_was_left_out_and_nothing_breaks_out():
    lines = github.render(records.night(200, 0)).splitlines()
    assert len(lines) == github.EACH
    assert lines[-1].endswith(f"%0A{200 - 40 - 10} further errors in report.html.")
    evil = ExpectationJudged("b%\n::error::x", "stale", "a,b:c\r\n::stop-commands::t", None, [])
    record = RunRecord.from_events([*records.opening(), evil, records.finished("fail")])
    [line] = github.render(record).splitlines()
    assert line.startswith("::error file=")
    assert "title=The expectation b%25 %3A%3Aerror" in line
    assert "a,b:c%0A::stop-commands::t" in line


def test_a_failing_gate_without_findings_is_annotated():
    end = records.finished("fail", reasons=["nothing was compared"])
    [line] = github.render(RunRecord.from_events([*records.opening(), end])).splitlines()
    assert line.startswith("::error file=tokgate-out/report.html,title=tokgate::")
    assert "nothing was compared" in line
    assert github.render(records.clean()) == ""
    assert github.render(records.cut_off()).startswith("::warning ")


def test_growth_is_a_fault_where_the_gate_says_so():
    bad = [
        Measured(name, "v", "runs", 2.0, 1.9, 2.1, "superlinear", [[1.0, 1.0]])
        for name in ("naive", "heap")
    ]
    line = "exponent 2.00 (1.90 to 2.10) in time"
    judged = GrowthJudged("heap", "v", "runs", "time", "linear", "fail", "ours", line)
    end = records.finished("fail", reasons=["grows faster than its bound"])
    record = RunRecord.from_events([*records.opening(), *bad, judged, end])
    [line] = github.render(record).splitlines()
    assert "title=heap grows faster than its bound" in line
    [one] = results(record)
    assert (one["ruleId"], "exponent 2.00" in one["message"]["text"]) == ("tokgate/scaling", True)


def test_annotations_are_for_github_alone():
    assert github.wanted({"GITHUB_ACTIONS": "true"})
    assert not github.wanted({"GITHUB_ACTIONS": "false"})
    assert not github.wanted({})
