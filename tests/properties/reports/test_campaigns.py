"""A campaign on the page: the curve of discoveries; since when findings are known."""

import datetime

import pytest

from harness.events import Campaign, Outlook
from reports import write_all
from reports.blocks import Plot, markdown, walk
from reports.campaigns import curve, sections, together
from reports.trends import history_of
from tests.properties.reports import records

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


def test_the_curve_is_the_sum_of_all_targets():
    points = together(CURVES.values(), 1)
    assert points == [(10, 7), (100, 23), (500, 29), (1000, 39)]
    (plot,) = (one for one in walk([*curve("behaviours", points)]) if isinstance(one, Plot))
    assert plot.series[0].points == points
    assert together([], 1) == []
    assert [*curve("findings", [(10, 0)])] == []


@pytest.mark.parametrize(
    ("canary", "said"), [(True, "✓ canary found"), (False, "✗ canary not"), (None, "no canary")]
)
def test_a_campaign_tells_of_its_canary(canary, said):
    assert said in markdown.render(sections(event(canary)))


def day(number):
    return datetime.datetime(2026, 3, number, tzinfo=datetime.UTC)


KNOWN = {"f-1": (day(4), day(4), 1), "f-2": (day(2), day(9), 5)}


@pytest.mark.parametrize(
    ("ids", "line"),
    [
        (["f-3"], ""),
        (["f-1"], "first seen 2026-03-04, last seen 2026-03-04, in 1 run of the ledger"),
        (["f-1", "f-2"], "first seen 2026-03-02, last seen 2026-03-09, in 5 runs of the ledger"),
    ],
)
def test_first_and_last_are_those_of_all_findings_of_a_cause(ids, line):
    assert history_of(ids, KNOWN) == line


def test_a_card_says_since_when_it_is_known(tmp_path):
    record = records.three()
    write_all(record, tmp_path, (), {record.buckets[0].example.id: KNOWN["f-2"]})
    text = (tmp_path / "report.html").read_text()
    assert text.count("first seen 2026-03-02, last seen 2026-03-09, in 5 runs") == 1
