"""``certify.json``: what is known of all rows, and the events that it is folded from."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from harness.events import Event
from harness.events.base import event

EXAMPLES = 10
"""Rows of each status that are kept; all are counted."""


@dataclass(frozen=True, slots=True)
class Example:
    """A row that is not certified.

    token: the index of the first id at fault in its row. reason: completes "token N ...". right:
    the right ids in place of the row's own from there on, with what they spell.
    """

    status: str
    place: str
    token: int
    reason: str
    right: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Tally:
    """Rows, tokens and bytes of text that were looked at, rows by status, and examples.

    unreadable: records that are no rows, which are among the undecided.
    """

    rows: int = 0
    tokens: int = 0
    bytes: int = 0
    wrong: int = 0
    undecided: int = 0
    unreadable: int = 0
    examples: list[Example] = field(default_factory=list)

    def keep(self, example: Example) -> None:
        """Count a row that is not right, and keep it if there is room."""
        if example.status == "wrong":
            self.wrong += 1
        else:
            self.undecided += 1
        if self.room(example.status):
            self.examples.append(example)

    def room(self, status: str) -> bool:
        """Whether one more example of a status is kept."""
        return sum(one.status == status for one in self.examples) < EXAMPLES

    def add(self, other: Tally) -> None:
        """Add what another part has."""
        for name in ("rows", "tokens", "bytes", "wrong", "undecided", "unreadable"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.examples += [one for one in other.examples if self.room(one.status)]


@event
class CertifyStarted(Event):
    """What is certified, and how it is decided. obstacle: why nothing can be, or empty."""

    vocabulary: str
    fingerprint: str
    mode: str
    how: str
    obstacle: str
    command: str
    parts: int


@event
class PartCertified(Event):
    """A part of a file is done. tally: see :class:`Tally`."""

    part: str
    tally: dict[str, Any]


@dataclass(slots=True)
class Certificate:
    """All that is known. parts: how many the files have; done: of these."""

    started: CertifyStarted
    done: int = 0
    tally: Tally = field(default_factory=Tally)

    @property
    def complete(self) -> bool:
        """Whether every part is done."""
        return self.done == self.started.parts

    @property
    def verdict(self) -> str:
        """``right``, ``wrong``, or ``not-examined`` where some row was not decided."""
        if self.tally.wrong:
            return "wrong"
        whole = self.complete and self.tally.rows and not self.tally.undecided
        return "right" if whole else "not-examined"

    def to_json(self) -> str:
        """The file."""
        told = {
            name: value for name, value in asdict(self.started).items() if name != "parts"
        } | asdict(self.tally)
        head = {"verdict": self.verdict, "complete": self.complete}
        return json.dumps({**head, **told}, indent=1) + "\n"


def certificate_of(events: Iterable[Event]) -> Certificate | None:
    """What the events of a study come to; None before it began."""
    found = None
    for one in events:
        if isinstance(one, CertifyStarted):
            found = Certificate(one)
        elif isinstance(one, PartCertified) and found is not None:
            found.done += 1
            found.tally.add(msgspec.convert(one.tally, Tally))
    return found
