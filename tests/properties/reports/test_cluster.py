"""Who performed what on a cluster, and what had to be done again."""

import io

import pytest
from rich.console import Console

from harness.cli.progress import Progress, nodes
from harness.cluster.usage import Usage
from harness.events import (
    NodeJoined,
    NodeLeft,
    NodeUsed,
    UnitDone,
    UnitLost,
    UnitResumed,
    UnitStarted,
)

EVENTS = (
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
    assert sorted(told.nodes, key=lambda one: one.node) == [
        NodeUsed("a-1", 2, units=2, lost=0, cases=400, seconds=6.0),
        NodeUsed("b-2", 1, lost=1, left="it is gone"),
        NodeUsed("c-3", 1, lost=1, left="OSError: no disk", excluded=True),
    ]
    # From the first unit (4) to the last (13): a-1 has two slots for 9 s, b-2 and c-3 one each for
    # 4 s and for 6 s; of these 28 s, 6 were units that came to an end.
    assert told.seconds == 9
    assert told.efficiency == pytest.approx(6 / 28, abs=1e-4)


def test_a_cluster_that_was_waited_for_is_not_slow():
    late = NodeJoined("a", 1), UnitStarted("u", "a", 1), UnitDone("u", "a", 1, 10.0, 1, 1)
    told = used(*zip((0, 100, 110), late, strict=True))
    assert (told.seconds, told.efficiency) == (10, 1)


def test_the_display_shows_it():
    usage = Usage()
    assert nodes(usage) == ""
    console = Console(width=120, record=True, file=io.StringIO())
    for one in EVENTS[:-1]:
        usage.consume(one)
        Progress(console=console).consume(one)
    assert {*console.export_text().splitlines()} >= {
        "tekken was done before, on old-1",
        "node a-1 joined: 2 units at a time",
        "<second> is repeated: b-2: its node is gone",
        "node c-3 is excluded because it keeps failing: OSError: no disk",
    }
    assert nodes(usage) == "1 node   1 of 2 slots busy   1 unit done   2 repeated"
