"""What a run left out is said by every format: withdrawals, idle implementations, families."""

import json
from xml.etree import ElementTree as ET

import pytest

from harness.events import (
    BatchDone,
    ContractOpened,
    FamiliesMeasured,
    MatchPlayed,
    Measured,
    Withdrawn,
)
from reports import github, html, junit, markdown, sarif, summary_json
from reports.field import document, files
from reports.matrix import matrix
from reports.record import RunRecord
from tests.reports import records

GONE = Withdrawn("llama.cpp", "tekken_240911", "withdrawn after 3 time-outs\nlog")
LINE = "testing of llama.cpp on tekken_240911 stopped early: withdrawn after 3 time-outs"
FORMATS = [html, markdown, junit, sarif, summary_json, github]


def events(*more, finished=True):
    """A run in which llama.cpp takes part by name, and none of its outcomes is judged."""
    names = ["tiktoken", "tokenizers", "bpe.heap", "llama.cpp"]
    opened = ContractOpened(
        "tekken_240911/text", "bpe", "tekken_240911", "text", names, ["tiktoken"], {},
        records.CHECKS,
    )  # fmt: skip
    end = [records.finished()] if finished else []
    return [*records.opening(), opened, *more, *end]


@pytest.mark.parametrize("finished", [True, False], ids=["whole", "cut off"])
@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.__name__)
def test_a_withdrawal_is_in_every_format(form, finished):
    render = form.render
    plain = render(RunRecord.from_events(events(finished=finished)))
    told = render(RunRecord.from_events(events(GONE, finished=finished)))
    # Markdown escapes punctuation: the words stay.
    assert "withdrawn after 3 time" not in plain
    assert "withdrawn after 3 time" in told


def test_the_machine_readable_ones_name_it():
    record = RunRecord.from_events(events(GONE))
    summary = json.loads(summary_json.render(record))
    assert [(w["implementation"], w["vocabulary"]) for w in summary["withdrawn"]] == [
        ("llama.cpp", "tekken_240911")
    ]
    [case] = ET.fromstring(junit.render(record)).findall("testsuite[@name='withdrawn']/testcase")
    assert case.find("skipped").get("message") == LINE
    [run] = json.loads(sarif.render(record))["runs"]
    [note] = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"] == LINE


def test_who_was_never_judged_is_not_counted_as_compared():
    record = RunRecord.from_events(events(GONE))
    assert "llama.cpp" in record.implementations
    assert "llama.cpp" not in (*record.judged, *record.compared)
    others = len(record.implementations) - 1
    assert f"of {others} implementations (1 more took no part) on 2 vocabularies" in record.reason
    assert f"<dd>{others} of {others + 1}</dd>" in html.render(record)
    cell = matrix(record)["llama.cpp", "tekken_240911/text", "equivalence"]
    assert (cell.status, cell.reason) == ("not tested", LINE)


def test_who_always_failed_was_judged_but_not_compared():
    exercised = {"survival": {"llama.cpp": 9}, "equivalence": {"llama.cpp": 0, "tiktoken": 9}}
    batch = BatchDone("tekken_240911/text", "edge", 9, 9, 0, exercised, {})
    record = RunRecord.from_events(events(batch))
    assert "llama.cpp" in record.judged
    assert "llama.cpp" not in record.compared
    assert f"of {len(record.implementations) - 1} implementations on" in record.reason


def measured(verdict):
    return Measured("mine", "toy", "runs", 1.0, 0.9, 1.1, verdict, [[256, 0.1]])


CHOSEN = [f"family-{number}" for number in range(13)]
FAMILIES = FamiliesMeasured("toy", 40, CHOSEN, CHOSEN[3:])


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([], "Growth was not measured."),
        ([FAMILIES], "Growth was not measured. There was no time for 10 more cells."),
        (
            [measured("linear"), FAMILIES],
            "1 cell (a library on a family) measured: none superlinear or failed, 0 inconclusive. "
            "There was no time for 10 more cells.",
        ),
        (
            [measured("superlinear")],
            "1 cell (a library on a family) measured: 1 superlinear or failed, 0 inconclusive.",
        ),
    ],
    ids=["not asked", "no time", "some", "all"],
)
def test_a_statement_on_growth_names_what_was_measured(told, said):
    match = MatchPlayed("mine", "1", "", "toy", "right", "mine/toy")
    played = [(match, RunRecord.from_events(told))]
    page = document(played, "now", "tokgate field", complete=True, speed=False)
    assert page["growth_scope"] == said
    _, (_, text), (_, summary) = files(page)
    assert said in text
    assert "no library is superlinear" not in text.lower()
    assert "Growth" in summary


def test_a_runs_report_names_the_families_that_had_no_time():
    record = RunRecord.from_events(events(FAMILIES))
    for text in (html.render(record), markdown.render(record)):
        assert "no time for growth on 10 of 13 chosen families" in text
    assert json.loads(summary_json.render(record))["scaling_families"][0]["known"] == 40
