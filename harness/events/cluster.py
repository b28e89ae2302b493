"""Events of a cluster: who performed which unit of a run, and what had to be done again."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.events.base import Event, event


@event
class NodeJoined(Event):
    """A node of a cluster takes part. slots: how many units it performs at a time."""

    node: str
    slots: int


@event
class NodeLeft(Event):
    """A node takes no part any more: it is gone, or was excluded, as it did nothing but fail."""

    node: str
    reason: str
    excluded: bool


@event
class UnitStarted(Event):
    """A unit is on its way at a node. tries: this one included."""

    unit: str
    node: str
    tries: int


@event
class UnitLost(Event):
    """A unit came to no end at a node, and is performed again; nothing of it was committed."""

    unit: str
    node: str
    reason: str


@event
class UnitDone(Event):
    """A unit was performed.

    seconds: from handing it out to its result. bytes: of the result, as it travelled. cases: that
    it asked.
    """

    unit: str
    node: str
    tries: int
    seconds: float
    bytes: int
    cases: int


@event
class UnitResumed(Event):
    """A unit that an earlier driver had performed, whose result was kept. node: as it was then."""

    unit: str
    node: str


@dataclass(frozen=True)
class NodeUsed:
    """What a node did. seconds: of all units. left: why it took no part any more, if so."""

    node: str
    slots: int
    units: int = 0
    lost: int = 0
    cases: int = 0
    seconds: float = 0.0
    left: str = ""
    excluded: bool = False


@event
class ClusterUsed(Event):
    """What a cluster did in a run, or in a session of a campaign.

    seconds: from the first unit to the last. efficiency: the part of the time of all slots in which
    units were performed that came to an end. retried: by unit, how often it was lost, where it was.
    resumed: units that an earlier driver had performed. bytes: of all results.
    """

    seconds: float
    efficiency: float
    units: int
    bytes: int
    resumed: int = 0
    nodes: list[NodeUsed] = field(default_factory=list)
    retried: dict[str, int] = field(default_factory=dict)
