"""The event of a campaign: what it came to so far, and what it may still find."""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.events.base import Event, event


@dataclass(frozen=True)
class Outlook:
    """How many kinds of something were seen, and how likely another one is.

    kind: ``behaviours``, ``disagreements`` or ``findings``. once, twice: of these kinds, those seen
    in one input, and in two. chance: of something new within ``Campaign.ahead``; to_come: how many
    new ones till then. next: the chance with the next case.
    """

    kind: str
    seen: int
    once: int
    twice: int
    chance: float
    to_come: float
    next: float


@event
class Campaign(Event):
    """A campaign as it stands.

    time: when it began. rate: cases a second. canary: whether the planted mistake was found, None
    where none rides along; said: what is known of it. source: of the estimates. ahead: what they
    look ahead to, in words. curves: of each target (cases, behaviours, disagreements, findings) as
    they grew.
    """

    name: str
    time: str
    rate: float
    canary: bool | None
    said: str
    source: str
    ahead: str
    outlooks: list[Outlook] = field(default_factory=list)
    curves: dict[str, list[tuple[int, int, int, int]]] = field(default_factory=dict)


@event
class FindingFixed(Event):
    """A finding of a campaign that no longer shows when its input is asked again."""

    id: str
    bucket: str
    vocabulary: str
