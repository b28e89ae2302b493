"""Every format: it parses, holds its limits, says what it is to say, and is not broken out of."""

import base64
import gzip
import json
import math
import random
import re
from dataclasses import replace
from itertools import takewhile
from xml.etree import ElementTree as ET

import pytest

from harness.events import (
    ExpectationJudged,
    Measured,
    VocabularyLoaded,
)
from reports import FILES, FORMATS, comment, github, markdown, sarif, write_all
from reports.faults import FALLBACK, place
from reports.record import RunRecord
from tests.properties.reports import records
from tests.properties.reports.records import SHAPES

ODD = Measured("x", "v", "f", math.nan, -math.inf, None, "failed", [[1.0, math.nan]], "\ud800")


def run(*events, **end):
    """A run of these events that came to its end."""
    return records.run(*events, **{"verdict": "fail", **end})


def json_of(record):
    return json.loads(FORMATS["json"](record))


def sarif_of(record):
    (whole,) = json.loads(FORMATS["sarif"](record))["runs"]
    return whole


def junit_of(record):
    return ET.fromstring(FORMATS["junit"](record))


# --- whatever happened ----------------------------------------------------------------------------


@pytest.fixture(params=[*SHAPES, "odd"])
def shape(request):
    """A run of each shape."""
    return SHAPES[request.param]() if request.param in SHAPES else RunRecord.from_events([ODD])


def test_json_is_strict_and_cut_off_runs_fail(shape):
    text = FORMATS["json"](shape)
    told = json.loads(text, parse_constant=pytest.fail)
    assert text.isascii()
    assert told["verdict"] in {"pass", "fail"}
    assert told["complete"] or told["verdict"] == "fail"


def test_junit_is_valid_xml_that_adds_up(shape):
    root = junit_of(shape)
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(root.get(key)) == len(root.findall(f"testsuite/testcase/{tag}"))
    for suite in root:
        names = [case.get("name") for case in suite]
        assert len(set(names)) == len(names) == int(suite.get("tests"))


def test_markdown_is_short(shape):
    text = markdown.render(shape)
    assert len(text.encode("utf-8", "backslashreplace")) < 64 * 1024
    assert text.startswith("## ")


def strings(value):
    """All strings of a JSON value."""
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value:
        if isinstance(one, str | dict | list):
            yield from [one] if isinstance(one, str) else strings(one)


def test_sarif_is_what_github_takes(shape):
    """Section 3 of the standard, and GitHub Docs; its keys are in the golden runs."""
    text = FORMATS["sarif"](shape)
    assert text.isascii()
    # Lone surrogates, be they escaped, are no text to strict readers; an empty string is refused.
    json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    whole = sarif_of(shape)
    assert all(strings(whole))
    rules, found = whole["tool"]["driver"]["rules"], whole["results"]
    ids = [rule["id"] for rule in rules]
    assert len(set(ids)) == len(ids)
    assert max(len(rule["fullDescription"]["text"]) for rule in rules) <= 1_024
    assert len(whole["invocations"][0]["toolExecutionNotifications"]) <= 100
    assert len(found) >= len(shape.unexpected)
    names = {one["partialFingerprints"]["primaryLocationLineHash"] for one in found}
    assert len(names) == len(found)
    for one in found:
        assert ids[one["ruleIndex"]] == one["ruleId"]
        assert len(one["message"]["text"]) <= sarif.MAX_MESSAGE
        (where,) = one["locations"]
        assert re.fullmatch("[!-~]+", where["physicalLocation"]["artifactLocation"]["uri"])


def test_annotations_are_one_line_each_and_few(shape):
    lines = FORMATS["annotations"](shape).splitlines()
    form = re.compile(r"::(error|warning) file=[^:,]+,line=\d+,title=[^:,]+::.+")
    kinds = [form.fullmatch(line)[1] for line in lines]
    assert max(map(kinds.count, ("error", "warning"))) <= github.EACH
    assert all(len(line) < 8_000 for line in lines)


# --- what is said ---------------------------------------------------------------------------------


def test_inputs_are_kept_exactly():
    inputs = {
        f["id"]: base64.b64decode(f["input_b64"]) for f in json_of(records.nasty())["findings"]
    }
    assert inputs.items() >= {f"f-{name}": data for name, data in records.NASTY.items()}.items()


def test_what_is_no_number_is_null():
    (row,) = json_of(RunRecord.from_events([ODD]))["scaling"]
    assert (row["exponent"], row["low"], row["points"]) == (None, None, [[1.0, None]])


def test_markdown_of_nasty_inputs_stays_a_table(monkeypatch):
    record = records.nasty()
    text = markdown.render(record)
    start = text[text.index("| No. | What |") :].splitlines()
    rows = [*takewhile(lambda line: line.startswith("|"), start)]
    assert len(rows) == 2 + len(record.buckets)
    assert {row.count("|") for row in rows} == {8}
    outside = re.sub(r"`[^`]*`", "", text)
    assert "<" not in outside and "javascript:" not in outside
    assert r"`']]>&lt;!--\x60\x7c*_'`" in text
    monkeypatch.setattr(markdown, "MAX_BYTES", 2000)
    cut = markdown.render(record)
    assert len(cut.encode()) < 2000
    assert cut.endswith("_Cut: the rest is in report.html._\n")


def test_an_alert_is_that_of_its_cause():
    """Another smallest input, count, id or variant, another order: the same alert."""

    def found(name, kind, **more):
        return records.found(
            name, name.encode(), bucket=f"equivalence/bpe/text/merges/{kind}/x", **more
        )

    def named(*findings):
        results = sarif_of(run(*findings))["results"]
        return {one["partialFingerprints"]["primaryLocationLineHash"] for one in results}

    other = records.found("f-3", b"q", bucket="equivalence/y")
    one, both = named(found("f-1", "Mn")), named(other, found("f-2", "*", seed=8, index=3))
    assert (len(one), len(both), len(one & both)) == (1, 2, 1)
    assert sarif_of(records.clean())["results"] == [], "what the gate lets through is none"
    assert {one["ruleId"] for one in sarif_of(records.three())["results"]} == {
        f"tokgate/{rule}" for rule in ("equivalence", "expectation", "round-trip", "start")
    }
    rules = [sarif_of(made())["tool"]["driver"]["rules"] for made in SHAPES.values()]
    assert all(one == rules[0] for one in rules), "they do not depend on the run"


def test_a_large_file_stays_within_the_limits(monkeypatch):
    noise = random.Random(1)
    record = run(
        *(
            records.found(f"f-{i}", noise.randbytes(600), bucket=f"b/{noise.randbytes(200).hex()}")
            for i in range(110)
        )
    )
    allowed = sarif.MAX_RESULTS
    monkeypatch.setattr(sarif, "MAX_RESULTS", 100)
    text = sarif.render(record)
    assert len(gzip.compress(text.encode())) / 100 * allowed < 10_000_000
    whole = json.loads(text)["runs"][0]
    assert len(whole["results"]) == 100
    [told] = whole["invocations"][0]["toolExecutionNotifications"]
    assert told["message"]["text"].startswith("10 further results left out for GitHub")


def test_a_fault_is_shown_at_a_line_of_the_repository(tmp_path, monkeypatch):
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    (tmp_path / "sub" / "src" / "pkg").mkdir(parents=True)
    module = tmp_path / "sub" / "src" / "pkg" / "mod.py"
    module.write_text("x = 1\n\n\nclass Others: ...\nOther = 1\n")
    (tmp_path / "sub" / "a b.py").write_text("def mine(): ...\n\n\nclass Mine(object): ...\n")
    specs = {
        "mine": "./src/../a b.py:Mine", "packaged": "pkg.mod:Other", "prog": "cmd:./run.py:x",
        "outside": "/elsewhere/c.py:A", "gone": "gone.py:Mine", "installed": "json:load",
        "odd": "\0" + 300 * "x" + ":y",
    }  # fmt: skip
    folder = str(tmp_path / "sub")
    given = f"{folder}/my.model", [], "my.model#pattern=x"
    toy = VocabularyLoaded("toy", "tekken", "bpe", 9, "", *given)
    shipped = replace(toy, id="shipped", path=f"{folder}/.venv/tekken.json", source="tekken_240911")

    def shown(*culprits, on="", **more):
        begun = replace(records.started(), specs=specs, folder=folder, **more)
        found = place(RunRecord.from_events([begun, toy, shipped]), culprits, on)
        return found.path, found.line

    expect = {"expect": f"{folder}/expected.toml"}
    assert shown("prog", "outside", "mine", on="toy", **expect) == ("a b.py", 4)
    assert shown("packaged") == ("src/pkg/mod.py", 5)
    assert shown("gone") == ("gone.py", 1)
    assert shown("installed", "odd", "prog", "outside", "nobody", on="toy", **expect) == (
        "my.model",
        1,
    )
    assert shown("prog", on="shipped", **expect) == ("expected.toml", 1)
    assert shown("prog", on="shipped") == (FALLBACK, 1)
    # A job may run in a folder of the repository.
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert shown("mine") == ("sub/a b.py", 4)
    assert shown("mine", expect="/w/expected.toml") == ("sub/a b.py", 4)
    assert sarif.uri(shown("mine")[0]) == "sub/a%20b.py"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path / "other"))
    assert shown("mine", on="toy", **expect) == (FALLBACK, 1)


def test_a_comment_is_cut_to_what_github_takes():
    text = comment.render(records.night(3_000), records.clean())
    assert len(text.encode("utf-8", "backslashreplace")) < 65_000
    assert text.startswith("## ")


def test_annotations_say_what_was_left_out_and_nothing_breaks_out():
    *_, last = github.render(records.night(200, 0)).splitlines()
    assert last.endswith(f"%0A{200 - 40 - 10} further errors in report.html.")
    evil = ExpectationJudged("b%\n::error::x", "stale", "a,b:c\r\n::stop-commands::t", None, [])
    [line] = github.render(run(evil)).splitlines()
    assert line.startswith("::error file=")
    assert "title=The expectation b%25 %3A%3Aerror" in line
    assert "a,b:c%0A::stop-commands::t" in line
    assert github.wanted({"GITHUB_ACTIONS": "true"})
    assert not github.wanted({"GITHUB_ACTIONS": "false"})


# --- files ----------------------------------------------------------------------------------------


def test_files_are_replaced_together_or_not_at_all(tmp_path, monkeypatch):
    out = tmp_path / "deep" / "out"
    write_all(records.three(), out)
    write_all(records.clean(), out)
    assert {p.name for p in out.iterdir()} == set(FILES.values())
    assert FILES.keys() == FORMATS.keys() - {"annotations", "comment"}
    before = (out / "summary.json").read_bytes()
    assert json.loads(before)["verdict"] == "pass"
    monkeypatch.setattr("reports.html.render", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_all(records.three(), out)
    assert (out / "summary.json").read_bytes() == before
