"""What an event is, and its line in a record."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar, dataclass_transform

import msgspec

from corpora.vocabularies.reading import shown
from harness.core import stored

_BASE64 = (  # long parts come first, so that a megabyte takes 2 ms
    r"^(?:[A-Za-z0-9+/]{4096})*+(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}(?:==|[A-Za-z0-9+/]=))?$"
)

Base64 = Annotated[str, msgspec.Meta(pattern=_BASE64)]
"""Bytes as a text of a record; another text is a fault of the record."""

Point = Annotated[list[float], msgspec.Meta(min_length=2, max_length=2)]
"""Two numbers: a size, and what was measured there."""


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events. kinds: each by the name of its class, as :func:`event` adds them."""

    kinds: ClassVar[dict[str, type[Event]]] = {}

    def to_json(self) -> str:
        """One line of ``run.jsonl``: ASCII, as messages and arguments may have lone surrogates."""
        return json.dumps({"event": type(self).__name__, **asdict(self)})

    @staticmethod
    def from_json(line: str) -> Event | None:
        """The event of one line; None for an event that this version does not know.

        Fields that this version does not know are passed over. Raises ValueError, with one line,
        for a line that is no event, lacks a field, or has one of another type.
        """
        try:
            raw = stored.parsed(line)
        except ValueError as error:
            raise ValueError(f"a line that {error}") from error
        if not isinstance(raw, dict):
            raise ValueError(f"a line that is no event: {shown(line)}")
        kind = Event.kinds.get(str(raw.pop("event", "")))
        if kind is None:
            return None
        try:
            return stored.typed(raw, kind)
        except ValueError as error:
            raise ValueError(f"an event {kind.__name__}: {error}") from error


T = TypeVar("T", bound=Event)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def event(cls: type[T]) -> type[T]:
    """Make a class a kind of event: frozen data, known by its name."""
    made = dataclass(frozen=True, slots=True)(cls)
    Event.kinds[cls.__name__] = made
    return made


def read_events(path: Path) -> Iterator[Event]:
    """Events of a record; a last line cut short by a kill is passed over.

    Raises OSError, and ValueError with the number of the line at fault.
    """
    for number, line in stored.lines(path, lambda _, why: ValueError(why)):
        try:
            event = Event.from_json(line)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
        if event is not None:
            yield event
