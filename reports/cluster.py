"""What a cluster did in a run: who performed what, and how often it was begun again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from harness.events import ClusterUsed, Event, UnitDone, UnitResumed
from reports.blocks import Cell, Details, Paragraph, Section, Table, numbers
from reports.blocks.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from harness.events import NodeUsed
    from reports.blocks import Block

UNITS_SHOWN = 200
"""Units that the page lists."""


@dataclass(frozen=True, slots=True)
class UnitRow:
    """A unit that was performed. tries: how often it was begun; resumed: for an earlier driver."""

    unit: str
    node: str
    tries: int
    seconds: float | None
    cases: int | None
    resumed: bool = False


@dataclass(slots=True)
class Cluster:
    """All that events tell of it. used: None where the run was cut off before it was summed up."""

    used: ClusterUsed | None = None
    units: dict[str, UnitRow] = field(default_factory=dict)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Cluster:
        """What these events tell."""
        made = cls()
        for event in events:
            made.take(event)
        return made

    def __bool__(self) -> bool:
        """Whether the run had a cluster at all."""
        return self.used is not None or bool(self.units)

    def take(self, event: Event) -> None:
        """Take in one event; those of other things are passed over."""
        match event:
            case ClusterUsed():
                self.used = event
            case UnitDone(unit=name):
                row = UnitRow(name, event.node, event.tries, event.seconds, event.cases)
                self.units[name] = row
            case UnitResumed(unit=name):
                self.units[name] = UnitRow(name, event.node, 1, None, None, resumed=True)

    @property
    def nodes(self) -> list[NodeUsed]:
        """The nodes, by name."""
        return sorted(self.used.nodes, key=lambda one: one.node) if self.used else []

    def sentences(self) -> Iterator[str]:
        """Sentences on the whole of it."""
        if self.used is not None:
            one = self.used
            yield (
                f"{plural(len(one.nodes), 'node')} performed {plural(one.units, 'unit')} in "
                f"{one.seconds:,.1f} s. Their slots were at work for {one.efficiency:.0%} of that "
                f"time, with units that came to an end; the results had {one.bytes:,} bytes."
            )
            again = sum(one.retried.values())
            if again:
                yield f"{again:,} were lost on the way and performed again, alike."
            if one.resumed:
                yield f"{one.resumed:,} had been performed for a driver that was cut off."
        for node in self.nodes:
            if node.excluded:
                yield f"{node.node} was excluded, as it did nothing but fail: {node.left}"
            elif node.left:
                yield f"{node.node} took no part any more: {node.left}"

    def summary(self) -> dict[str, object]:
        """It as plain data, for ``summary.json``."""
        used = self.used
        return {
            "seconds": used.seconds if used else None,
            "efficiency": used.efficiency if used else None,
            "bytes": used.bytes if used else None,
            "retried": dict(used.retried) if used else {},
            "nodes": [asdict(one) for one in self.nodes],
            "units": [asdict(one) for one in self.units.values()],
        }


def sections(cluster: Cluster, *, page: bool = False) -> list[Section]:
    """What reports tell of it, or a page alone; nothing where there was none."""
    if not cluster:
        return []
    nodes = Table(
        "Nodes",
        ("Node", *numbers("Slots", "Units", "Lost", "Cases", "Seconds")),
        [
            (one.node, one.slots, one.units, _warned(one.lost, 0), one.cases, f"{one.seconds:.1f}")
            for one in cluster.nodes
        ],
        "What each node did",
    )
    begun_again_first = sorted(
        cluster.units.values(), key=lambda one: (-one.tries, -(one.seconds or 0.0), one.unit)
    )
    units = Table(
        "Units",
        ("Unit", "Node", *numbers("Begun", "Seconds", "Cases")),
        [
            (
                one.unit,
                f"{one.node}{', for an earlier driver' if one.resumed else ''}",
                _warned(one.tries, 1),
                None if one.seconds is None else f"{one.seconds:.1f}",
                one.cases,
            )
            for one in begun_again_first[:UNITS_SHOWN]
        ],
        "Who performed which unit",
    )
    blocks: list[Block] = [
        *(Paragraph(line, "quiet") for line in cluster.sentences()),
        nodes,
        *([Details(plural(len(cluster.units), "unit"), [units])] if units.rows else []),
    ]
    return [Section("Cluster", blocks, "cluster", page=page)]


def _warned(number: int, usual: int) -> Cell:
    return Cell(number, "bad" if number > usual else "")
