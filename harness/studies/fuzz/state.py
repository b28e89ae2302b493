"""What a target of a campaign is between two rounds: plain data, and the parts in which it is kept.

What grows with a campaign is cut into parts, each of which is made and written again only when it
has changed, so that a commit costs as much after a month as after a minute.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

import msgspec

from harness.core import stored
from harness.events import BatchDone, Event, Found, Unsettled
from harness.findings.causes import Causes, Snapshot
from harness.findings.diagnosis import Signature
from harness.studies.fuzz.behaviour import Map
from harness.studies.fuzz.corpus import Entry
from harness.studies.fuzz.loop import Arm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FORM = 4
"""The number of this form of the state; another one is another version's."""

MAIN = "state"
"""The part with all that does not grow with the campaign."""

MAP = "map"

PAGES = {
    "corpus": 16, "findings": 16, "causes": 256, "counts": 256, "disagreements": 256,
    "shared": 256, "covered": 256, MAP: 1 << 12,
}  # fmt: skip
"""What grows with the campaign, or is large: so many items, or bytes, are a part. Inputs of the
corpus and findings have some kilobytes each."""


class StateError(ValueError):
    """A state on disk that this version does not read."""


@dataclass(frozen=True, slots=True)
class Round:
    """What one round of a target changed: committed together, or not at all.

    cases: done so far. corpus: entries so far. shapes: of disagreement, seen so far. parts: of the
    state, those that changed; an empty one is there no more. findings: those that are new or
    changed. gone: ids of findings that others replaced. events: lines of the record, for whoever
    watches, in order.
    """

    target: str
    cases: int
    corpus: int
    shapes: int
    parts: dict[str, bytes]
    findings: list[Found]
    gone: list[str]
    events: list[str]
    seconds: float = 0.0


@dataclass(slots=True)
class State:
    """All that a target knows.

    corpus: the inputs that it mutates, in the order in which they joined. findings: all of them.
    batches, cases: done so far. schedule: the arms. disagreements: shape to the number of inputs
    that showed it. causes, counts: of the tracker, see :class:`Snapshot`. losses: deaths and
    time-outs by implementation. tally: what :meth:`harness.engine.planning.Tally.plain` gives.
    totals: what was done, by contract and generator; unsettled: what nobody knows, by all that
    tells it apart. opened: the events with which it was opened last, as lines. judged_by: digest of
    the expectations whose examples were run. curve: (cases, behaviours, disagreements, buckets),
    each a tenth further than the last. costs: most nanoseconds a byte seen, by implementation.
    covered: Atheris's corpus. shared: marks of inputs shared, or taken up from others. withdrawn:
    by implementation, why it was not asked for a while, the last time that it was so. rates: bytes
    a second, by implementation, in campaigns that are limited by time: who is slow gets fewer cases
    in the next round. fixed: findings that no longer show. left: lines on the processes that
    implementations left behind, told in the first target of a campaign. map: counts of
    behaviours, see :class:`harness.studies.fuzz.behaviour.Map`.
    """

    corpus: list[Entry] = field(default_factory=list)
    findings: list[Found] = field(default_factory=list)
    batches: int = 0
    cases: int = 0
    schedule: list[Arm] = field(default_factory=list)
    disagreements: dict[str, int] = field(default_factory=dict)
    causes: list[tuple[tuple[str, Signature], Causes]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    losses: dict[str, tuple[int, int]] = field(default_factory=dict)
    tally: dict[str, Any] = field(default_factory=dict)
    totals: dict[str, BatchDone] = field(default_factory=dict)
    unsettled: dict[str, Unsettled] = field(default_factory=dict)
    opened: list[str] = field(default_factory=list)
    judged_by: str = ""
    curve: list[tuple[int, int, int, int]] = field(default_factory=list)
    costs: dict[str, float] = field(default_factory=dict)
    covered: list[bytes] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    withdrawn: dict[str, str] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    fixed: list[Found] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)
    map: bytes = b""

    def parts(self) -> dict[str, Any]:
        """All of it, in parts as they are: what :func:`encoded` is yet to be made of."""
        main: dict[str, Any] = {"form": FORM}
        made: dict[str, Any] = {MAIN: main}
        for name in (one.name for one in fields(self)):
            value = getattr(self, name)
            if (size := PAGES.get(name)) is None:
                main[name] = msgspec.to_builtins(value)
                continue
            items = [*value.items()] if isinstance(value, Mapping) else value
            for start in range(0, len(items), size):
                made[f"{name}/{start // size:06}"] = items[start : start + size]
        return made

    @classmethod
    def of(cls, parts: Mapping[str, bytes]) -> State:
        """The state of these parts, as they are in the database; a new one of none.

        Raises StateError, with the field at fault.
        """
        if not parts:
            return cls()
        at = MAIN
        try:
            raw = stored.typed(stored.parsed(parts[MAIN]), dict[str, Any])
            if raw.pop("form", None) != FORM:
                raise ValueError("made by another version of tokgate")
            pages = []
            for at in sorted(parts.keys() - {MAIN}):
                name = at.partition("/")[0]
                if name == MAP:
                    pages.append(stored.unzipped(parts[at], PAGES[MAP]))
                else:
                    raw.setdefault(name, []).extend(stored.typed(stored.parsed(parts[at]), list))
            at = ""
            for name in ("disagreements", "counts"):
                raw[name] = dict(stored.typed(raw.get(name, []), list[tuple[str, int]], name))
            state = stored.typed(raw, cls)
            for number, line in enumerate(state.opened):
                at = f"opened[{number}]"
                Event.from_json(line)
            at, state.map = MAP, b"".join(pages)
            Map(state.map)
        except ValueError as error:
            raise StateError(f"{at}: {error}".removeprefix(": ")) from error
        return state

    @property
    def snapshot(self) -> Snapshot:
        """What the tracker knew."""
        return Snapshot(self.findings, self.causes, self.counts)

    @snapshot.setter
    def snapshot(self, known: Snapshot) -> None:
        self.findings, self.causes = list(known.findings), list(known.causes)
        self.counts = dict(known.counts)

    def add(self, events: Iterable[Event]) -> None:
        """Add batches, and what nobody knows, to the sums of them."""
        for event in events:
            if isinstance(event, BatchDone):
                key = f"{event.contract}\0{event.generator}"
                if key in self.totals:
                    event = BatchDone(**added(asdict(self.totals[key]), asdict(event)))
                self.totals[key] = event
            elif isinstance(event, Unsettled):
                same = (event.contract, event.check, *event.implementations, event.reason)
                known = self.unsettled.get(key := "\0".join(same))
                self.unsettled[key] = replace(
                    event, count=event.count + (known.count if known else 0)
                )

    def opening(self) -> Iterator[Event]:
        """The events with which it was opened last."""
        for line in self.opened:
            if (event := Event.from_json(line)) is not None:
                yield event


def added(one: Any, other: Any) -> Any:
    """Return two plain values as one: numbers add up, in dictionaries and lists too; texts stay."""
    match one:
        case dict():
            both = {key: added(one[key], value) for key, value in other.items() if key in one}
            return {**one, **other, **both}
        case list():
            return [added(*pair) for pair in zip(one, other, strict=True)]
        case str():
            return one
    return one + other


class Kept:
    """A target as the database has it, by which it is known what a round has changed.

    parts: as they are there. Raises StateError for what is none.
    """

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        self.state = State.of(parts)
        self._written = self.state.parts() if parts else {}
        self._findings = {one.id: one for one in self.state.findings}

    def round(self, target: str, events: Iterable[Event] = (), seconds: float = 0.0) -> Round:
        """What has changed of the state since the last time; it is taken for committed then."""
        state, parts, written = self.state, self.state.parts(), self._written
        old, new = self._findings, {one.id: one for one in state.findings}
        self._written, self._findings = parts, new
        return Round(
            target, state.cases, len(state.corpus), len(state.disagreements),
            {name: encoded(one) for name, one in parts.items() if written.get(name) != one}
            | dict.fromkeys(written.keys() - parts.keys(), b""),
            [one for name, one in new.items() if old.get(name) != one],
            sorted(old.keys() - new.keys()), [one.to_json() for one in events], seconds,
        )  # fmt: skip


def encoded(part: Any) -> bytes:
    """A part as it is in the database: a compressed page of the map, or JSON."""
    if isinstance(part, bytes):
        return zlib.compress(part, 1)
    return json.dumps(msgspec.to_builtins(part)).encode()
