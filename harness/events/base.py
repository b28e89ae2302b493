"""What an event is, and its line in a record."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events; subclasses register themselves by name."""

    kinds: ClassVar[dict[str, type[Event]]] = {}

    def to_json(self) -> str:
        """One line of ``run.jsonl``: ASCII, as messages and arguments may have lone surrogates."""
        return json.dumps({"event": type(self).__name__, **asdict(self)})

    @staticmethod
    def from_json(line: str) -> Event | None:
        """The event of one line; None for an event that this version does not know.

        Raises ValueError for a line that is no event, or lacks a field.
        """
        raw: dict[str, Any] = json.loads(line)
        if not isinstance(raw, dict):
            raise ValueError(f"a line that is no event: {line[:60].rstrip()}")
        kind = Event.kinds.get(str(raw.pop("event", "")))
        if kind is None:
            return None
        known = {f.name for f in fields(kind)}
        try:
            return kind(**{name: value for name, value in raw.items() if name in known})
        except TypeError as error:
            raise ValueError(f"an event {kind.__name__} that lacks a field ({error})") from error


def event(cls: type[Event]) -> type[Event]:
    """Register a kind of event by its name."""
    Event.kinds[cls.__name__] = cls
    return cls


def read_events(path: Path) -> Iterator[Event]:
    """Events of a record; a last line cut short by a kill is passed over."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if not line.endswith("\n"):
                return
            event = Event.from_json(line)
            if event is not None:
                yield event


def write_events(path: Path, events: Iterable[Event]) -> None:
    """Write a record, for tests and conversions."""
    path.write_text("".join(f"{event.to_json()}\n" for event in events), encoding="utf-8")
