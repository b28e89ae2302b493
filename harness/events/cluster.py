"""Events of a cluster: who performed which unit of a run, and what had to be done again."""

from __future__ import annotations

from dataclasses import dataclass

from harness.events.base import Event, event


@event
@dataclass(frozen=True, slots=True)
class NodeJoined(Event):
    """A node of a cluster takes part. slots: how many units it performs at a time."""

    node: str
    slots: int


@event
@dataclass(frozen=True, slots=True)
class NodeLeft(Event):
    """A node takes no part any more: it is gone, or it was excluded, as it failed at all."""

    node: str
    reason: str
    excluded: bool


@event
@dataclass(frozen=True, slots=True)
class UnitStarted(Event):
    """A unit is on its way at a node. tries: this one included."""

    unit: str
    node: str
    tries: int


@event
@dataclass(frozen=True, slots=True)
class UnitLost(Event):
    """A unit came to no end at a node, and is performed again; nothing of it was committed."""

    unit: str
    node: str
    reason: str


@event
@dataclass(frozen=True, slots=True)
class UnitDone(Event):
    """A unit was performed. bytes: of what it came to, as they travelled."""

    unit: str
    node: str
    tries: int
    seconds: float
    bytes: int
