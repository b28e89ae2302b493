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
from harness.studies.fuzz.corpus import Entry
from harness.studies.fuzz.schedule import Arm
from harness.studies.fuzz.sizing import FIRST, Waiting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from harness.engine.planning import Tally

FORM = 3
"""The number of this form of the state; another one is another version's."""

MAIN = "state"
"""The part with all that does not grow with the campaign."""

GROWING = (
    "corpus", "picks", "findings", "causes", "counts", "disagreements", "shared", "covered",
    "waiting",
)  # fmt: skip
"""Lists and dictionaries that grow with the campaign, or are large: each is kept in parts."""

ITEMS, LARGE_ITEMS = 256, 16
"""Items of a part; and of one of :data:`LARGE`."""

LARGE = frozenset({"corpus", "findings"})
"""Items of these have some kilobytes each."""

PAGE = 1 << 12
"""Bytes of a part of the map of behaviours, unpacked."""

MAP = "map"

Parts = dict[str, bytes]
"""Parts by name; an empty one is there no more."""


class StateError(ValueError):
    """A state on disk that this version does not read."""


@dataclass(slots=True)
class Sums:
    """What a campaign adds up of :class:`harness.engine.planning.Tally`."""

    exercised: list[int] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    unsure: list[int] = field(default_factory=list)
    excused: dict[str, int] = field(default_factory=dict)
    claims: list[tuple[str, str, int, bool, str]] = field(default_factory=list)

    def plain(self) -> dict[str, Any]:
        """For :meth:`Tally.add`."""
        return asdict(self)


@dataclass(slots=True)
class State:
    """All that a target knows.

    corpus: the inputs that it mutates, in the order in which they joined. findings: all of them.
    batches, cases, size (in bytes): done so far. schedule: the arms. taken: batches taken from each
    arm. disagreements: shape to the number of inputs that showed it. picks: by entry of the corpus.
    causes, counts: of the tracker, see :class:`Snapshot`. losses: deaths and
    time-outs by implementation. sums: of the campaign's checks. totals: what was done, by contract
    and generator; unsettled: what nobody knows, by all that tells it apart. opened: the events with
    which it was opened last, as lines. judged_by: digest of the expectations whose examples were
    run. curve: (cases, behaviours, disagreements, buckets), each a tenth further than the last.
    costs: most nanoseconds a byte seen, by implementation. covered: Atheris's corpus. shared: marks
    of inputs shared, or taken up from others. withdrawn: by implementation, why it was not asked
    for a while, the last time that it was so. rates: bytes a second, by implementation, in
    campaigns that are limited by time: who is slow gets fewer cases in the next round. round_size:
    what the next round takes on, and waiting: what was chosen for it already; see
    :mod:`harness.studies.fuzz.sizing`. crossed: how often inputs crossed between targets, offered:
    how many entries of the corpus did, or could, and given: others' inputs that are to be asked;
    see :mod:`harness.studies.fuzz.crossing`. fixed: findings that no longer show; see
    :mod:`harness.studies.fuzz.amending`. map: counts of behaviours, see
    :class:`harness.studies.fuzz.behaviour.Map`.
    """

    corpus: list[Entry] = field(default_factory=list)
    findings: list[Found] = field(default_factory=list)
    batches: int = 0
    cases: int = 0
    size: int = 0
    schedule: list[Arm] = field(default_factory=list)
    taken: dict[str, int] = field(default_factory=dict)
    disagreements: dict[str, int] = field(default_factory=dict)
    picks: list[int] = field(default_factory=list)
    causes: list[tuple[tuple[str, Signature], Causes]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    losses: dict[str, tuple[int, int]] = field(default_factory=dict)
    sums: Sums = field(default_factory=Sums)
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
    round_size: int = FIRST
    waiting: list[Waiting] = field(default_factory=list)
    crossed: int = 0
    offered: int = 0
    given: list[bytes] = field(default_factory=list)
    fixed: list[Found] = field(default_factory=list)
    map: bytes = b""

    def parts(self) -> dict[str, Any]:
        """All of it, in parts as they are: what :func:`encoded` is yet to be made of."""
        main: dict[str, Any] = {"form": FORM}
        made: dict[str, Any] = {MAIN: main}
        for name in (one.name for one in fields(self)):
            value = getattr(self, name)
            if name in GROWING:
                value = list(value.items() if isinstance(value, Mapping) else value)
            elif name != MAP:
                main[name] = msgspec.to_builtins(value)
                continue
            size = PAGE if name == MAP else LARGE_ITEMS if name in LARGE else ITEMS
            for start in range(0, len(value), size):
                made[f"{name}/{start // size:06}"] = value[start : start + size]
        return made

    @classmethod
    def of(cls, parts: Mapping[str, bytes]) -> State:
        """The state of :meth:`parts`. Raises StateError, with the field at fault."""
        at = MAIN
        try:
            raw = stored.parsed(parts[MAIN])
            if stored.typed(raw, dict[str, Any]).pop("form", None) != FORM:
                raise ValueError("made by another version of tokgate")
            pages = []
            for at in sorted(parts.keys() - {MAIN}):
                name = at.partition("/")[0]
                if name == MAP:
                    pages.append(stored.unzipped(parts[at], PAGE))
                elif name in GROWING:
                    raw.setdefault(name, []).extend(stored.typed(stored.parsed(parts[at]), list))
            at = ""
            for name in ("disagreements", "counts"):
                items = raw.get(name, [])
                raw[name] = dict(stored.typed(items, list[tuple[str, int]], name))
            state = stored.typed(raw, cls)
            for number, line in enumerate(state.opened):
                at = f"opened[{number}]"
                Event.from_json(line)
        except ValueError as error:
            raise StateError(f"{at}: {error}".removeprefix(": ")) from error
        state.map = b"".join(pages)
        return state

    def keep_tracker(self, known: Snapshot) -> None:
        """Note what a tracker knows."""
        self.findings, self.causes = list(known.findings), list(known.causes)
        self.counts = dict(known.counts)

    def tracker(self) -> Snapshot:
        """What the tracker knew."""
        return Snapshot(self.findings, self.causes, self.counts)

    def keep_tally(self, tally: Tally) -> None:
        """Note which expectations were exercised, and what else a campaign adds up."""
        plain = tally.plain()
        self.sums = Sums(**{one.name: plain[one.name] for one in fields(Sums)})

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
                key = "\0".join(same)
                before = self.unsettled[key].count if key in self.unsettled else 0
                self.unsettled[key] = replace(event, count=event.count + before)

    def done(self) -> Iterator[Event]:
        """The sums as events: one for each contract and generator, and all that nobody knows."""
        yield from self.totals.values()
        yield from self.unsettled.values()

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


def encoded(part: Any) -> bytes:
    """A part as it is in the database: a compressed page of the map, or JSON."""
    if isinstance(part, bytes):
        return zlib.compress(part, 1)
    return json.dumps(msgspec.to_builtins(part)).encode()


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """What one round of a target changed: committed together, or not at all.

    batches, cases: done so far. corpus: entries so far. shapes: of disagreement, seen so far.
    waiting: batches that were chosen and not asked whole. round_size: of the next. parts: of the
    state, those that changed. findings: those that are new or changed. gone: ids of findings that
    others replaced. events: lines of the record, for whoever watches, in order.
    """

    target: str
    batches: int
    cases: int
    corpus: int
    shapes: int
    waiting: int
    round_size: int
    parts: dict[str, bytes]
    findings: list[Found]
    gone: list[str]
    events: list[str]
    seconds: float = 0.0


@dataclass(slots=True, eq=False)
class Kept:
    """A target as the database has it. written: the parts of its state there, as they are.

    findings: those that are there.
    """

    state: State = field(default_factory=State)
    written: dict[str, Any] = field(default_factory=dict)
    findings: dict[str, Found] = field(default_factory=dict)

    @classmethod
    def of(cls, parts: Mapping[str, bytes]) -> Kept:
        """What these parts are of. Raises StateError."""
        state = State.of(parts)
        return cls(state, state.parts(), {one.id: one for one in state.findings})

    def round(self, target: str, events: Iterable[Event] = (), seconds: float = 0.0) -> Round:
        """What has changed of the state since the last time; it is taken for committed then."""
        state, parts, written = self.state, self.state.parts(), self.written
        changed = {name: encoded(one) for name, one in parts.items() if written.get(name) != one}
        changed |= dict.fromkeys(written.keys() - parts.keys(), b"")
        old, new = self.findings, {one.id: one for one in state.findings}
        self.written, self.findings = parts, new
        return Round(
            target, state.batches, state.cases, len(state.corpus), len(state.disagreements),
            len(state.waiting), state.round_size, changed,
            [one for name, one in new.items() if old.get(name) != one],
            sorted(old.keys() - new.keys()), [one.to_json() for one in events], seconds,
        )  # fmt: skip
