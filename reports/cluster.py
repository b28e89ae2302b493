"""What a cluster did in a run: who performed what, and how often it was begun again."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import asdict
from operator import attrgetter
from typing import Any

from harness.events import ClusterUsed, Event, UnitDone, UnitResumed
from reports.blocks import Paragraph, Section, Table
from reports.blocks.units import plural
from reports.studies import bad, last

Units = dict[str, dict[str, Any]]


def performed(events: Collection[Event]) -> Units:
    """Every unit that was performed, by its name, with what is known of it.

    Of one that an earlier driver had performed (``resumed``), seconds and cases are not known.
    """
    unknown = {"tries": 1, "seconds": None, "cases": None}
    return {
        one.unit: {**unknown, **asdict(one), "resumed": isinstance(one, UnitResumed)}
        for one in events
        if isinstance(one, UnitDone | UnitResumed)
    }


def summary(events: Collection[Event]) -> dict[str, Any]:
    """The whole as plain data, under its name in ``summary.json``; nothing without a cluster.

    Where the run was cut off before it was summed up, the units alone are known.
    """
    used, units = last(events, ClusterUsed), [*performed(events).values()]
    told = asdict(used) if used else {"retried": {}, "nodes": []}
    whole = {
        **{name: told.get(name) for name in ("seconds", "efficiency", "bytes", "retried")},
        "nodes": sorted(told["nodes"], key=lambda one: one["node"]),
        "units": units,
    }
    return {"cluster": whole} if used or units else {}


def sentences(used: ClusterUsed) -> Iterator[str]:
    """Sentences on the whole of it."""
    yield (
        f"{plural(len(used.nodes), 'node')} performed {plural(used.units, 'unit')} in "
        f"{used.seconds:,.1f} s. Their slots worked for {used.efficiency:.0%} of that time on "
        f"units that were finished; the results had {used.bytes:,} bytes."
    )
    if again := sum(used.retried.values()):
        yield f"{again:,} were lost and performed again."
    if used.resumed:
        yield f"{used.resumed:,} had been performed before the driver was interrupted."
    for node in used.nodes:
        if node.excluded:
            yield f"{node.node} was excluded because it only failed: {node.left}"
        elif node.left:
            yield f"{node.node} stopped taking part: {node.left}"


def sections(events: Collection[Event], *, page: bool = False) -> list[Section]:
    """What reports tell of it, or a page alone; nothing where there was none."""
    used, units = last(events, ClusterUsed), performed(events)
    nodes = [
        (one.node, one.slots, one.units, bad(one.lost), one.cases, f"{one.seconds:.1f}")
        for one in sorted(used.nodes if used else [], key=attrgetter("node"))
    ]
    columns = "Node | Slots: | Units: | Lost: | Cases: | Seconds:"
    blocks = [
        *(Paragraph(line, "quiet") for line in (sentences(used) if used else ())),
        Table("Nodes", columns, nodes, "What each node did"),
        Paragraph(f"{plural(len(units), 'unit')} in all.", "quiet"),
    ]
    return [Section("Cluster", blocks, "cluster", page=page)] if used or units else []
