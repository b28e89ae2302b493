"""JSON, Markdown and JUnit: each parses, holds what its contract says, and is not broken out of."""

import base64
import json
import math
import re
from itertools import takewhile
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from harness.events import GrowthJudged, Measured
from reports import FILES, FORMATS, junit, markdown, summary_json, write_all
from reports.record import RunRecord
from tests.reports import records
from tests.reports.records import SHAPES

if TYPE_CHECKING:
    pass

FINDING_KEYS = {
    "id", "check", "bucket", "contract", "implementations", "partition", "input_b64", "reproducer",
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_summary_json_holds_its_contract(shape):
    summary = json.loads(summary_json.render(SHAPES[shape]()))
    assert summary.keys() >= {
        "complete", "verdict", "seed", "versions", "cases", "seconds", "findings", "scaling",
        "canonicality",
    }  # fmt: skip
    assert summary["verdict"] in {"pass", "fail"}
    assert summary["complete"] or summary["verdict"] == "fail"
    for finding in summary["findings"]:
        assert finding.keys() >= FINDING_KEYS
    for row in summary["scaling"]:
        assert row.keys() >= {"implementation", "vocabulary", "family", "exponent", "low", "high"}


def test_summary_json_keeps_inputs_exactly():
    summary = json.loads(summary_json.render(records.nasty()))
    inputs = {f["id"]: base64.b64decode(f["input_b64"]) for f in summary["findings"]}
    for name, data in records.NASTY.items():
        assert inputs[f"f-{name}"] == data


def test_summary_json_has_no_nan_and_no_lone_surrogates():
    odd = Measured("x", "v", "f", math.nan, -math.inf, None, "failed", [[1.0, math.nan]], "\ud800")
    text = summary_json.render(RunRecord.from_events([odd]))
    text.encode("ascii")
    (row,) = json.loads(text, parse_constant=pytest.fail)["scaling"]
    assert (row["exponent"], row["low"], row["points"]) == (None, None, [[1.0, None]])


@pytest.mark.parametrize("shape", SHAPES)
def test_junit_is_valid_xml_that_adds_up(shape):
    root = ET.fromstring(junit.render(SHAPES[shape]()))
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(root.get(key, "-1")) == len(root.findall(f"testsuite/testcase/{tag}"))
    for suite in root:
        names = [case.get("name") for case in suite]
        assert len(set(names)) == len(names)
        assert int(suite.get("tests", "-1")) == len(names)


def test_junit_says_what_failed_and_what_was_expected():
    root = ET.fromstring(junit.render(records.three()))

    def outcome(suite, name):
        return root.find(f"testsuite[@name='{suite}']/testcase[@name='{name}']/*")

    failed = outcome("tekken_240911/text", "equivalence: tokenizers")
    assert failed.tag == "failure"
    assert failed.get("message").startswith("tokenizers crashed")
    assert "\\x1b[31mindex out of bounds" in failed.text
    known = outcome("t5_base/text", "equivalence: tokenizers")
    assert (known.tag, "per grapheme" in known.get("message")) == ("skipped", True)
    assert outcome("tekken_240911/text", "equivalence: rs-bpe").tag == "error"
    assert outcome("expectations", "equivalence/gone").tag == "failure"
    assert outcome("gate", "verdict").tag == "failure"
    incomplete = ET.fromstring(junit.render(records.incomplete()))
    assert incomplete.find("testsuite[@name='gate']/testcase/error") is not None


def test_markdown_of_nasty_inputs_stays_a_table():
    lines = markdown.render(records.nasty()).splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("| No. | What |"))
    rows = list(takewhile(lambda line: line.startswith("|"), lines[start:]))
    assert len(rows) == 2 + len(records.nasty().buckets)
    assert {row.count("|") for row in rows} == {8}
    text = "\n".join(lines)
    outside = re.sub(r"`[^`]*`", "", text)
    assert "<" not in outside
    assert "javascript:" not in outside
    assert r"`']]>&lt;!--\x60\x7c*_'`" in text


@pytest.mark.parametrize("shape", SHAPES)
def test_markdown_is_short(shape):
    text = markdown.render(SHAPES[shape]())
    assert len(text.encode("utf-8", "backslashreplace")) < 64 * 1024
    assert text.startswith("## ")


def test_markdown_is_cut_below_the_limit(monkeypatch):
    monkeypatch.setattr(markdown, "MAX_BYTES", 2000)
    text = markdown.render(records.night(60, 0))
    assert len(text.encode()) < 2000
    assert text.endswith("_Cut: the rest is in report.html._\n")


def test_write_all_replaces_and_leaves_nothing_else(tmp_path):
    out = tmp_path / "deep" / "out"
    write_all(records.three(), out)
    write_all(records.clean(), out)
    assert {p.name for p in out.iterdir()} == set(FILES.values())
    assert FILES.keys() == FORMATS.keys() - {"annotations"}
    assert json.loads((out / "summary.json").read_text())["verdict"] == "pass"


def test_a_failing_format_leaves_the_old_file(tmp_path, monkeypatch):
    write_all(records.clean(), tmp_path)
    before = (tmp_path / "report.html").read_bytes()

    def broken(*_):
        raise RuntimeError

    monkeypatch.setattr("reports.html.render", broken)
    with pytest.raises(RuntimeError):
        write_all(records.three(), tmp_path)
    assert (tmp_path / "report.html").read_bytes() == before


def test_growth_is_judged_by_its_bounds():
    record = records.growing()
    root = ET.fromstring(junit.render(record))
    [suite] = [one for one in root if one.get("name") == "scaling"]
    assert (suite.get("failures"), suite.get("tests")) == ("2", "42")
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed[0] == "tokenizers on one letter, vocabulary_0, in time"
    lines = markdown.render(record).partition("### Growth")[2].splitlines()
    assert sum(line.startswith("| over its bound | tokenizers | ") for line in lines) == 2
    # What its own bound lets through is no news.
    assert not any("bpe.naive" in line for line in lines)
    assert any(" | sentencepiece | " in line and " | none | " in line for line in lines)


def test_inconclusive_growth_is_said_and_fails_nothing():
    judged = GrowthJudged("a", "v", "f", "time", "linear", "inconclusive", "ours", "1.2 to 1.4")
    cell = records.cell("a", "v", "f", 1.3, "inconclusive")
    record = RunRecord.from_events([*records.opening(), cell, judged, records.finished()])
    root = ET.fromstring(junit.render(record))
    assert root.get("failures") == "0"
    assert root.find("testsuite[@name='scaling']/testcase/skipped") is not None
    row = "| undecided | a | f | v | time | linear | 1.2 to 1.4 |"
    assert row in markdown.render(record)
