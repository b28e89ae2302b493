"""The page of a campaign: canary, chance of something new, curve of discoveries, first and last."""

from __future__ import annotations

import datetime
import re
from dataclasses import replace

import pytest

from harness.events import Campaign, Outlook
from reports import html, write_all
from reports.campaigns import together
from reports.record import RunRecord
from reports.trends import history_of
from tests.reports import records

CURVES = {
    "one#0": [(10, 4, 0, 0), (100, 20, 1, 1), (1000, 30, 2, 1)],
    "two#0": [(10, 3, 0, 0), (500, 9, 0, 0)],
}


def event(canary=True):
    return Campaign(
        name="default", time="2026-11-20T12:00:00+00:00", rate=12.5, canary=canary,
        said="the canary <was> found", source="Good-Turing", ahead="45,000 cases",
        outlooks=[Outlook("behaviours", 39, 4, 2, 0.71, 1.25, 0.0012)], curves=CURVES,
    )  # fmt: skip


def page(*events, known=None):
    record = RunRecord.from_events([records.started(), *events, records.finished()])
    return html.render(record, known=known)


def test_a_campaign_says_what_it_may_still_find():
    text = page(event())
    assert "✓ canary found" in text
    assert "the canary &lt;was&gt; found" in text
    assert re.search(r">behaviours</th>.*>39<.*>4<.*>71 %<.*>1.25<.*>0.12 %<", text)
    assert text.count("discovered,") == 3
    assert "✗ canary not found" in page(event(canary=False))
    assert "no canary" in page(event(canary=None))
    assert 'id="campaign"' not in page()


def test_the_curve_is_the_sum_of_all_targets():
    assert together(CURVES.values(), 1) == [(10, 7), (100, 23), (500, 29), (1000, 39)]
    assert together([], 1) == []


def test_kinds_of_which_there_are_none_have_no_plot():
    text = page(replace(event(), curves={"one#0": [(10, 4, 0, 0), (20, 5, 0, 0)]}))
    assert text.count("discovered,") == 1


def day(number):
    return datetime.datetime(2026, 3, number, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("ids", "line"),
    [
        (["f-3"], ""),
        (["f-1"], "first seen 2026-03-04, last seen 2026-03-04, in 1 run of the ledger"),
        (
            ["f-1", "f-2"],
            "first seen 2026-03-02, last seen 2026-03-09, in 5 runs of the ledger",
        ),
    ],
)
def test_first_and_last_are_those_of_all_findings_of_a_cause(ids, line):
    known = {"f-1": (day(4), day(4), 1), "f-2": (day(2), day(9), 5)}
    assert history_of(ids, known) == line


def test_a_card_says_since_when_it_is_known(tmp_path):
    record = records.three()
    finding = record.buckets[0].example.id
    write_all(record, tmp_path, (), {finding: (day(2), day(9), 5)})
    text = (tmp_path / "report.html").read_text()
    assert text.count("first seen 2026-03-02, last seen 2026-03-09, in 5 runs") == 1
