"""What a cluster did in a run: who performed what, and how often it was begun again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.events import ClusterUsed, Event, NodeUsed, UnitDone, UnitLost, UnitResumed

if TYPE_CHECKING:
    from collections.abc import Iterator

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


@dataclass(frozen=True, slots=True)
class Cluster:
    """All that is known of it. used: None where the run was cut off before it was summed up."""

    used: ClusterUsed | None = None
    units: tuple[UnitRow, ...] = ()
    lost: tuple[UnitLost, ...] = ()

    def __bool__(self) -> bool:
        """Whether the run had a cluster at all."""
        return self.used is not None or bool(self.units)

    @property
    def nodes(self) -> list[NodeUsed]:
        """The nodes, by name."""
        return sorted(self.used.nodes, key=lambda one: one.node) if self.used else []

    def sentences(self) -> Iterator[str]:
        """Sentences on the whole of it."""
        if self.used is not None:
            one = self.used
            nodes = f"{len(one.nodes)} node{'' if len(one.nodes) == 1 else 's'}"
            units = f"{one.units:,} unit{'' if one.units == 1 else 's'}"
            yield (
                f"{nodes} performed {units} in {one.seconds:,.1f} s. Their slots were at work for "
                f"{one.efficiency:.0%} of that time, with units that came to an end; the results "
                f"had {one.bytes:,} bytes."
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

    def listed(self) -> tuple[UnitRow, ...]:
        """The units that the page lists: those that were begun again, and then the longest."""
        order = sorted(self.units, key=lambda one: (-one.tries, -(one.seconds or 0.0), one.unit))
        return tuple(order[:UNITS_SHOWN])

    def summary(self) -> dict[str, object]:
        """It as plain data, for ``summary.json``."""
        used = self.used
        return {
            "seconds": used.seconds if used else None,
            "efficiency": used.efficiency if used else None,
            "bytes": used.bytes if used else None,
            "retried": dict(used.retried) if used else {},
            "nodes": [{name: getattr(one, name) for name in one.__slots__} for one in self.nodes],
            "units": [{name: getattr(one, name) for name in one.__slots__} for one in self.units],
        }


NO_CLUSTER = Cluster()


class ClusterFold:
    """Reads the events of a cluster."""

    def __init__(self) -> None:
        self._used: ClusterUsed | None = None
        self._units: dict[str, UnitRow] = {}
        self._lost: list[UnitLost] = []

    def take(self, event: Event) -> None:
        """Take in one event; those of other things are passed over."""
        match event:
            case ClusterUsed():
                self._used = event
            case UnitDone():
                self._units[event.unit] = UnitRow(
                    event.unit, event.node, event.tries, event.seconds, event.cases
                )
            case UnitResumed():
                self._units[event.unit] = UnitRow(event.unit, event.node, 1, None, None, True)
            case UnitLost():
                self._lost.append(event)

    def made(self) -> Cluster:
        """What was read so far."""
        return Cluster(self._used, tuple(self._units.values()), tuple(self._lost))
