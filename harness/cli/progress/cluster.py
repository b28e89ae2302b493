"""What a person sees of a cluster: its nodes, what each is at, and what had to be done again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from harness.cli.progress.numbers import counted
from harness.cluster.usage import Usage
from harness.events import ClusterUsed, NodeJoined, NodeLeft, UnitDone, UnitLost, UnitResumed

if TYPE_CHECKING:
    from rich.console import RenderableType

    from harness.events import Event

NODES_SHOWN = 8
"""Nodes with a row of their own, those with most lost units first."""


class ClusterView:
    """Counts what happens on a cluster, for a display. each: whether each unit is worth a line."""

    def __init__(self, *, each: bool = False) -> None:
        self._usage = Usage()
        self._each = each

    def consume(self, event: Event) -> str | None:
        """Take note of an event; return a line where it is worth one."""
        self._usage.consume(event)
        match event:
            case NodeJoined():
                return f"node {event.node} takes part: {counted(event.slots, 'unit')} at a time"
            case NodeLeft(excluded=True):
                return f"node {event.node} is excluded, as it does nothing but fail: {event.reason}"
            case NodeLeft():
                return f"node {event.node} takes no part any more: {event.reason}"
            case UnitLost():
                return f"{event.unit} is performed again: {event.node}: {event.reason}"
            case UnitDone() if self._each:
                cases = counted(event.cases, "case")
                return f"{event.unit}: {cases} in {event.seconds:.1f} s, on {event.node}"
            case UnitResumed():
                return f"{event.unit} was performed before, on {event.node}"
            case ClusterUsed():
                return summary(event)
        return None

    def rows(self) -> list[RenderableType]:
        """What moves: a line for all, and a row for each of the first nodes."""
        usage = self._usage
        if not usage.used:
            return []
        present = [one for one in usage.nodes.values() if not one.left]
        slots = sum(one.slots for one in present)
        done = sum(one.units for one in usage.nodes.values())
        lost = usage.lost.total()
        line = (
            f"{counted(len(present), 'node')}   {len(usage.underway)} of {counted(slots, 'slot')} "
            f"at work   {counted(done, 'unit')} done   {lost} performed again"
        )
        busy = Counter(usage.underway.values())
        table = Table.grid(padding=(0, 2))
        for one in sorted(present, key=lambda one: (-one.lost, one.node))[:NODES_SHOWN]:
            table.add_row(
                Text(one.node, "dim"),
                f"{busy[one.node]} of {one.slots}",
                f"{usage.rate(one.node):,.0f} cases/s",
                counted(one.units, "unit"),
                f"{one.lost} lost" if one.lost else "",
            )
        if len(present) > NODES_SHOWN:
            table.add_row(Text(f"and {counted(len(present) - NODES_SHOWN, 'node')} more", "dim"))
        return [Text(line), table]


def summary(used: ClusterUsed) -> str:
    """One line on what a cluster did."""
    again = sum(used.retried.values())
    parts = [
        f"{counted(len(used.nodes), 'node')} performed {counted(used.units, 'unit')} in "
        f"{used.seconds:,.1f} s, at work for {used.efficiency:.0%} of their time"
    ]
    if again:
        parts.append(f"{again} performed again")
    if used.resumed:
        parts.append(f"{used.resumed} from an earlier driver")
    gone = [one for one in used.nodes if one.left]
    if gone:
        parts.append(f"{counted(len(gone), 'node')} left")
    return ", ".join(parts)
