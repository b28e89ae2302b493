"""Which events are worth a line while a command works, and which line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.events import (
    ClusterUsed,
    Found,
    ImplementationFailed,
    Measured,
    NodeJoined,
    NodeLeft,
    SlowOnce,
    UnitDone,
    UnitLost,
    UnitResumed,
    Withdrawn,
    cause_of,
)
from reports.blocks.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.events import Event


@dataclass(frozen=True, slots=True)
class Line:
    """A line for the display. once: of several lines that share it, the first is shown alone."""

    text: str
    style: str = "dim"
    once: object = None


def news(event: Event) -> Iterator[Line]:
    """The lines on an event, if it is worth any."""
    match event:
        case Found():
            yield from found(event)
        case ImplementationFailed():
            head, *trace = event.message.splitlines() or [""]
            line = f"{event.implementation} cannot run {event.vocabulary}: {head}"
            yield Line(line, "red", once=line)
            yield from map(Line, trace)
        case Withdrawn():
            head = event.message.split("\n", 1)[0]
            line = f"{event.implementation} on {event.vocabulary}: {head}"
            yield Line(line, "yellow", once=line)
        case SlowOnce():
            yield Line(
                f"{event.implementation} on {event.vocabulary} was slow once, but answered when "
                f"asked again alone ({event.message})"
            )
        case Measured(verdict="superlinear" | "failed" as verdict):
            # One line for each implementation and vocabulary; the report has all families.
            what = event.note if event.exponent is None else f"exponent {event.exponent:.2f}"
            where = f"{event.implementation} on {event.family} of {event.vocabulary}"
            cell = (event.implementation, event.vocabulary, verdict)
            yield Line(f"growth {verdict}: {where}, {what}", "yellow", once=cell)
        case NodeJoined():
            yield Line(f"node {event.node} joined: {plural(event.slots, 'unit')} at a time")
        case NodeLeft(excluded=True):
            yield Line(f"node {event.node} is excluded because it keeps failing: {event.reason}")
        case NodeLeft():
            yield Line(f"node {event.node} left: {event.reason}")
        case UnitLost():
            yield Line(f"{event.unit} is repeated: {event.node}: {event.reason}")
        case UnitDone():
            cases = plural(event.cases, "case")
            yield Line(f"{event.unit}: {cases} in {event.seconds:.1f} s, on {event.node}")
        case UnitResumed():
            yield Line(f"{event.unit} was done before, on {event.node}")
        case ClusterUsed():
            yield Line(summary(event))


def found(event: Found, mark: str = "finding") -> Iterator[Line]:
    """A line on a finding, once for its cause on a vocabulary; none before it is minimal.

    mark: what an unexpected one is called.
    """
    if event.minimal:
        expected = event.expected is not None
        mark, style = ("expected", "cyan") if expected else (mark, "bold red")
        line = f"{mark} {event.bucket} on {event.vocabulary}: {event.difference}"
        yield Line(line, style, (cause_of(event.bucket), event.vocabulary, expected))


def summary(used: ClusterUsed) -> str:
    """One line on what a cluster did."""
    parts = [
        f"{plural(len(used.nodes), 'node')} did {plural(used.units, 'unit')} in "
        f"{used.seconds:,.1f} s and were busy for {used.efficiency:.0%} of that time"
    ]
    if used.retried:
        parts.append(f"{sum(used.retried.values())} repeated")
    if used.resumed:
        parts.append(f"{used.resumed} done before by an interrupted run")
    gone = [one for one in used.nodes if one.left]
    if gone:
        parts.append(f"{plural(len(gone), 'node')} left")
    return ", ".join(parts)
