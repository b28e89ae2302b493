"""Every report tells who performed what on a cluster, and what had to be done again."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from harness.cli.progress import Progress, nodes
from harness.cluster.usage import Usage
from harness.events import (
    ClusterUsed,
    Event,
    Finished,
    NodeJoined,
    NodeLeft,
    NodeUsed,
    UnitDone,
    UnitLost,
    UnitResumed,
    UnitStarted,
)
from harness.studies.selftest.events import SelftestStarted
from harness.studies.worst.results import Report
from reports import html, markdown, selftest, summary_json, worst
from reports.blocks.html import render
from reports.record import RunRecord

EVENTS: tuple[Event, ...] = (
    UnitResumed("tekken", "old-1"),
    NodeJoined("a-1", 2),
    NodeJoined("b-2", 1),
    NodeJoined("c-3", 1),
    UnitStarted("first", "a-1", 1),
    UnitStarted("<second>", "b-2", 1),
    UnitStarted("third", "c-3", 1),
    UnitLost("<second>", "b-2", "its node is gone"),
    NodeLeft("b-2", "it is gone", excluded=False),
    UnitLost("third", "c-3", "OSError: no disk"),
    NodeLeft("c-3", "OSError: no disk", excluded=True),
    UnitStarted("<second>", "a-1", 2),
    UnitDone("first", "a-1", 1, 4.0, 1000, 300),
    UnitDone("<second>", "a-1", 2, 2.0, 500, 100),
)


def used(*timed):
    """What these events come to, each at its second."""
    now = 0.0
    usage = Usage(lambda: now)
    for moment, one in timed or enumerate(EVENTS):
        now = moment
        usage.consume(one)
    return usage.summary()


def test_what_a_cluster_did_is_counted():
    told = used()
    assert (told.units, told.bytes, told.resumed) == (2, 1500, 1)
    assert told.retried == {"<second>": 1, "third": 1}
    rows = {one.node: (one.units, one.lost, one.cases, one.seconds) for one in told.nodes}
    assert rows == {"a-1": (2, 0, 400, 6.0), "b-2": (0, 1, 0, 0.0), "c-3": (0, 1, 0, 0.0)}
    assert {one.node: (one.left, one.excluded) for one in told.nodes} == {
        "a-1": ("", False),
        "b-2": ("it is gone", False),
        "c-3": ("OSError: no disk", True),
    }
    # From the first unit (4) to the last (13): a-1 has two slots for 9 s, b-2 and c-3 one each for
    # 4 s and for 6 s; of these 28 s, 6 were units that came to an end.
    assert told.seconds == 9
    assert told.efficiency == pytest.approx(6 / 28, abs=1e-4)


def test_a_cluster_that_was_waited_for_is_not_slow():
    late = NodeJoined("a", 1), UnitStarted("u", "a", 1), UnitDone("u", "a", 1, 10.0, 1, 1)
    told = used(*zip((0, 100, 110), late, strict=True))
    assert (told.seconds, told.efficiency) == (10, 1)


def test_the_reports_show_it():
    record = RunRecord.from_events([*EVENTS, used()])
    page = html.render(record, ())
    assert "3 nodes performed 2 units in 9.0 s" in page
    assert "2 were lost on the way and performed again" in page
    assert "c-3 was excluded, as it did nothing but fail: OSError: no disk" in page
    assert "3 units in all." in page
    assert "<second>" not in page
    text = markdown.render(record)
    assert "### Cluster" in text
    assert "| `a-1` | 2 | 2 | 0 | 400 | 6.0 |" in text
    told = json.loads(summary_json.render(record))["cluster"]
    assert told["retried"] == {"<second>": 1, "third": 1}
    assert {one["unit"]: (one["node"], one["tries"]) for one in told["units"]} == {
        "tekken": ("old-1", 1),
        "first": ("a-1", 1),
        "<second>": ("a-1", 2),
    }


def test_a_run_that_was_cut_off_shows_its_units_and_one_without_a_cluster_nothing():
    assert "3 units in all." in html.render(RunRecord.from_events(EVENTS), ())
    record = RunRecord.from_events([])
    assert 'id="cluster"' not in html.render(record, ())
    assert "### Cluster" not in markdown.render(record)
    assert "cluster" not in json.loads(summary_json.render(record))


def test_the_display_shows_it():
    usage = Usage()
    assert nodes(usage) == ""
    for one in EVENTS[:-1]:
        usage.consume(one)
    console = Console(width=120, record=True, file=io.StringIO())
    for one in EVENTS[:-1]:
        Progress(console=console).consume(one)
    lines = console.export_text().splitlines()
    assert "tekken was done before, on old-1" in lines
    assert "node a-1 joined: 2 units at a time" in lines
    assert "<second> is repeated: b-2: its node is gone" in lines
    assert "node c-3 is excluded because it keeps failing: OSError: no disk" in lines
    assert nodes(usage) == "1 node   1 of 2 slots busy   1 unit done   2 repeated"


def test_pages_of_a_selftest_and_of_a_search_say_who_did_what():
    used = ClusterUsed(10.0, 0.9, 1, 100, nodes=[NodeUsed("node-7", 2, units=1, seconds=9.0)])
    events = [UnitDone("search 1 of 1", "node-7", 2, 9.0, 100, 12), used]
    began = SelftestStarted("2026-11-24T00:00", "tokgate selftest", 0, 9.0, "ci", {}, "", 0, [], [])
    mistakes = [began, *events, Finished(True, "pass", [], 3.0, 0, 0, 0)]
    assert json.loads(selftest.to_json(mistakes))["cluster"]["nodes"][0]["node"] == "node-7"
    assert "cluster" not in json.loads(selftest.to_json([began, mistakes[-1]]))
    search = worst.page(REPORT, events)
    for page in (render(selftest.page(mistakes)), render(search)):
        assert "What each node did" in page
        assert "node-7" in page
    assert "What each node did" not in render(worst.page(REPORT, []))


REPORT = Report("tokgate worst", "mine", "1", "v", 0, 65536, [], complete=True)
