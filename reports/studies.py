"""What the reports of all studies share: a study's events by their kinds, and its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from harness.events import Event, Finished
from reports.blocks import Cell, Page, Span, html

Kind = TypeVar("Kind", bound=Event)
Item = TypeVar("Item")
Key = TypeVar("Key")


def of(events: Iterable[Event], kind: type[Kind]) -> list[Kind]:
    """The events of one kind, in their order."""
    return [one for one in events if isinstance(one, kind)]


def last(events: Iterable[Event], kind: type[Kind]) -> Kind | None:
    """The last event of a kind, if there is any."""
    return next(reversed(of(events, kind)), None)


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """The items by a key, in the order of first appearance."""
    groups: dict[Key, list[Item]] = {}
    for one in items:
        groups.setdefault(key(one), []).append(one)
    return groups


def files(name: str, data: str, page: Page) -> list[tuple[str, str]]:
    """The files of a study, by their names: its JSON, and its page."""
    return [(f"{name}.json", data), (f"{name}.html", html.render(page))]


def bad(number: int, note: str = "") -> Cell:
    """A number that ought to be 0, with a note below it."""
    text = (number, Span(f" {note}", "count")) if note else number
    return Cell(text, "bad" if number else "")


def complete(events: Sequence[Event]) -> bool:
    """Whether a study came to its end; without a last event it was killed."""
    finished = last(events, Finished)
    return finished is not None and finished.complete
