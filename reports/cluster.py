"""What a cluster did in a run: who performed what, and how often it was begun again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from typing import Any

from harness.events import ClusterUsed, Event, UnitDone, UnitResumed
from reports.blocks import Paragraph, Section, Table
from reports.blocks.units import plural
from reports.studies import bad

UNKNOWN = {"tries": 1, "seconds": None, "cases": None}
"""What is not known of a unit that an earlier driver had performed."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """All that events tell of it. used: None where the run was cut off before it was summed up.

    units: those that were performed, by name. tries: how often one was begun; resumed: for an
    earlier driver.
    """

    used: ClusterUsed | None = None
    units: Mapping[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Cluster:
        """What these events tell."""
        used, units = None, {}
        for event in events:
            match event:
                case ClusterUsed():
                    used = event
                case UnitDone() | UnitResumed():
                    units[event.unit] = {
                        "unit": event.unit, "node": event.node,
                        **{key: getattr(event, key, none) for key, none in UNKNOWN.items()},
                        "resumed": isinstance(event, UnitResumed),
                    }  # fmt: skip
        return cls(used, units)

    def __bool__(self) -> bool:
        """Whether the run had a cluster at all."""
        return self.used is not None or bool(self.units)

    def summary(self) -> dict[str, object]:
        """It as plain data, for ``summary.json``."""
        told = asdict(self.used) if self.used else {"retried": {}, "nodes": []}
        return {
            **{name: told.get(name) for name in ("seconds", "efficiency", "bytes", "retried")},
            "nodes": sorted(told["nodes"], key=lambda one: one["node"]),
            "units": [*self.units.values()],
        }


def sentences(used: ClusterUsed) -> Iterator[str]:
    """Sentences on the whole of it."""
    yield (
        f"{plural(len(used.nodes), 'node')} performed {plural(used.units, 'unit')} in "
        f"{used.seconds:,.1f} s. Their slots were at work for {used.efficiency:.0%} of that "
        f"time, with units that came to an end; the results had {used.bytes:,} bytes."
    )
    if again := sum(used.retried.values()):
        yield f"{again:,} were lost on the way and performed again, alike."
    if used.resumed:
        yield f"{used.resumed:,} had been performed for a driver that was cut off."
    for node in used.nodes:
        if node.excluded:
            yield f"{node.node} was excluded, as it did nothing but fail: {node.left}"
        elif node.left:
            yield f"{node.node} took no part any more: {node.left}"


def sections(cluster: Cluster, *, page: bool = False) -> list[Section]:
    """What reports tell of it, or a page alone; nothing where there was none."""
    if not cluster:
        return []
    used = cluster.used
    nodes = [
        (one.node, one.slots, one.units, bad(one.lost), one.cases, f"{one.seconds:.1f}")
        for one in sorted(used.nodes if used else [], key=attrgetter("node"))
    ]
    blocks = [
        *(Paragraph(line, "quiet") for line in (sentences(used) if used else ())),
        Table(
            "Nodes",
            "Node | Slots: | Units: | Lost: | Cases: | Seconds:",
            nodes,
            "What each node did",
        ),
        Paragraph(f"{plural(len(cluster.units), 'unit')} in all.", "quiet"),
    ]
    return [Section("Cluster", blocks, "cluster", page=page)]
