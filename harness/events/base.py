"""What an event is, and its line in a record."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec

from corpora.vocabularies.reading import fault_of, line_of, open_regular, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MAX_LINE = 16 << 20
"""Bytes of a line of a record. The longest are findings, whose inputs and outcomes are cut; they
stay below 1 MB."""


_FOUR, _PADDED = "[A-Za-z0-9+/]{4}", "[A-Za-z0-9+/]{2}(?:==|[A-Za-z0-9+/]=)"

Base64 = Annotated[str, msgspec.Meta(pattern=f"^(?:{_FOUR})*(?:{_PADDED})?$")]
"""Bytes as a text of a record; another text is a fault of the record."""

Point = Annotated[list[float], msgspec.Meta(min_length=2, max_length=2)]
"""Two numbers: a size, and what was measured there."""


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

        Fields that this version does not know are passed over. Raises ValueError, with one line,
        for a line that is no event, lacks a field, or has one of another type.
        """
        try:
            raw: dict[str, Any] = json.loads(line)  # not msgspec's: it refuses lone surrogates
        except (ValueError, RecursionError) as error:
            raise ValueError(f"a line that is not JSON ({line_of(error)})") from error
        if not isinstance(raw, dict):
            raise ValueError(f"a line that is no event: {shown(line)}")
        kind = Event.kinds.get(str(raw.pop("event", "")))
        if kind is None:
            return None
        try:
            return msgspec.convert(raw, kind)
        except msgspec.ValidationError as error:
            raise ValueError(f"an event {kind.__name__}: {fault_of(error)}") from error
        except RecursionError as error:
            raise ValueError(f"an event {kind.__name__}: {line_of(error)}") from error


def event(cls: type[Event]) -> type[Event]:
    """Register a kind of event by its name."""
    Event.kinds[cls.__name__] = cls
    return cls


def read_events(path: Path) -> Iterator[Event]:
    """Events of a record; a last line cut short by a kill is passed over.

    Raises OSError, and ValueError with the number of the line at fault.
    """
    with open_regular(path) as lines:
        number = 0
        while line := lines.readline(MAX_LINE + 1):
            number += 1
            if not line.endswith(b"\n"):
                if len(line) > MAX_LINE:
                    raise ValueError(f"line {number}: has more than {MAX_LINE:,} bytes")
                return
            try:
                event = Event.from_json(line.decode())
            except ValueError as error:
                raise ValueError(f"line {number}: {line_of(error)}") from error
            if event is not None:
                yield event


def write_events(path: Path, events: Iterable[Event]) -> None:
    """Write a record, for tests and conversions."""
    path.write_text("".join(f"{event.to_json()}\n" for event in events), encoding="utf-8")
