"""What a target of a campaign is between two rounds: plain data, and the parts in which it is kept.

What grows with a campaign is cut into parts, each of which is made and written again only when it
has changed, so that a commit costs as much after a month as after a minute.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import msgspec

from harness.core import stored
from harness.events import Found
from harness.studies.campaigns.loop import Schedule

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.events import Event

FORM = 5
"""The number of this form of the state; another one is another version's."""

MAIN = "state"
"""The part with all that does not grow with the campaign."""


class StateError(ValueError):
    """A state on disk that this version does not read."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one round of a target changed: committed together, or not at all.

    cases: done so far. facts: counts of the whole target, by what is counted, for whoever watches.
    parts: of the state, those that changed; an empty one is there no more. findings: those that
    are new or changed. gone: ids of findings that others replaced. events: lines of the record, in
    order.
    """

    target: str
    cases: int
    facts: dict[str, int]
    parts: dict[str, bytes]
    findings: list[Found] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(slots=True)
class State:
    """All that a target knows; each feedback adds what it keeps.

    PAGES: the fields that grow with the campaign, or are large: so many items, or bytes, are a
    part. cases: asked so far. schedule: of the loop. findings: all of them.
    """

    PAGES: ClassVar[Mapping[str, int]] = {}
    cases: int = 0
    schedule: Schedule = field(default_factory=Schedule)
    findings: list[Found] = field(default_factory=list)

    @property
    def facts(self) -> dict[str, int]:
        """Counts for whoever watches."""
        return {}

    @property
    def again(self) -> bool:
        """Whether anything that was found is asked again when a session begins."""
        return False

    def check(self) -> None:
        """Raise ValueError where a field has a value that its type alone does not refuse."""

    def parts(self) -> dict[str, Any]:
        """All of it, in parts as they are: what :func:`encoded` is yet to be made of.

        What is in a part must not be changed later, or its change is not seen.
        """
        main: dict[str, Any] = {"form": FORM}
        made: dict[str, Any] = {MAIN: main}
        for name in (one.name for one in fields(self)):
            value = getattr(self, name)
            if (size := self.PAGES.get(name)) is None:
                main[name] = msgspec.to_builtins(value)
                continue
            items = [*value.items()] if isinstance(value, Mapping) else value
            for start in range(0, len(items), size):
                made[f"{name}/{start // size:06}"] = items[start : start + size]
        return made

    @classmethod
    def of(cls, parts: Mapping[str, bytes]) -> Self:
        """The state of these parts, as they are in the database; a new one of none.

        Raises StateError, with the field at fault.
        """
        if not parts:
            return cls()
        kinds = {one.name: one.default_factory for one in fields(cls)}
        at = MAIN
        try:
            raw = stored.typed(stored.parsed(parts[MAIN]), dict[str, Any])
            if raw.pop("form", None) != FORM:
                raise ValueError("made by another version of tokgate")
            for at in sorted(parts.keys() - {MAIN}):
                name = at.partition("/")[0]
                if kinds.get(name) is bytes:
                    page: Any = stored.unzipped(parts[at], cls.PAGES[name])
                    raw[name] = raw.get(name, b"") + page
                else:
                    page = stored.typed(stored.parsed(parts[at]), list)
                    raw.setdefault(name, []).extend(page)
            at = ""
            for name in cls.PAGES:
                if kinds[name] is dict:
                    pairs = stored.typed(raw.get(name, []), list[tuple[str, Any]], name)
                    raw[name] = dict(pairs)
            state = stored.typed(raw, cls)
            state.check()
        except ValueError as error:
            raise StateError(f"{at}: {error}".removeprefix(": ")) from error
        return state


S = TypeVar("S", bound=State)


class Kept(Generic[S]):
    """A target as the database has it, by which it is known what a round has changed.

    parts: as they are there. Raises StateError for what is none.
    """

    def __init__(self, kind: type[S], parts: Mapping[str, bytes]) -> None:
        self.state = kind.of(parts)
        self._written = self.state.parts() if parts else {}
        self._findings = {one.id: one for one in self.state.findings}

    def round(self, target: str, events: Iterable[Event] = (), seconds: float = 0.0) -> Round:
        """What has changed of the state since the last time; it is taken for committed then."""
        state, parts, written = self.state, self.state.parts(), self._written
        old, new = self._findings, {one.id: one for one in state.findings}
        self._written, self._findings = parts, new
        return Round(
            target, state.cases, state.facts,
            {name: encoded(one) for name, one in parts.items() if written.get(name) != one}
            | dict.fromkeys(written.keys() - parts.keys(), b""),
            [one for name, one in new.items() if old.get(name) != one],
            sorted(old.keys() - new.keys()), [one.to_json() for one in events], seconds,
        )  # fmt: skip


def encoded(part: Any) -> bytes:
    """A part as it is in the database: compressed bytes, or JSON."""
    if isinstance(part, bytes):
        return zlib.compress(part, 1)
    return json.dumps(msgspec.to_builtins(part)).encode()
