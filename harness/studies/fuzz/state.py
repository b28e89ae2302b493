"""What a target of a campaign is between two rounds: plain data, and its form on disk."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import msgspec

from harness.core import stored
from harness.events import BatchDone, Event, Found, Unsettled
from harness.events.base import Base64
from harness.findings.diagnosis import Signature
from harness.findings.entries import Snapshot
from harness.studies.fuzz.schedule import Arm
from harness.studies.fuzz.sizing import FIRST

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.engine.planning import Tally
    from harness.studies.fuzz.corpus import Entry

FORM = 1
"""The number of this form of the state; another one is another version's."""


MAX_BYTES = 256 << 20
"""The greatest size of a state, or of a map of behaviours, when it is unpacked. Those of long
campaigns have some megabytes."""


class StateError(ValueError):
    """A state on disk that this version does not read."""


class _Form(msgspec.Struct):
    """What every state has."""

    form: int


class _Tally(msgspec.Struct):
    """See :meth:`State.keep_tally`."""

    exercised: list[int]
    shown: list[int]
    failed: list[tuple[str, str, str]]
    excused: dict[str, int] = {}
    claims: list[tuple[str, str, int, bool, str]] = []


class _Waiting(msgspec.Struct):
    """See :meth:`harness.studies.fuzz.sizing.Waiting.to_json`."""

    arm: str
    generator: str
    seed: int
    number: int
    start: int
    inputs: list[Base64]
    came: tuple[int, int, int, int]


_SignatureRow = tuple[str, Signature, list[tuple[Base64, str]]]
"""See :meth:`State.keep_tracker`."""


@dataclass(slots=True)
class State:
    """All that a target knows, but for its map, its corpus and its findings.

    batches, cases, size (in bytes): done so far. schedule: of :meth:`Schedule.state`. taken:
    batches taken from each arm. disagreements: shape to the number of inputs that showed it.
    picks: by entry of the corpus. tracker: a snapshot without its findings. losses: deaths and
    time-outs by implementation. tally: of the campaign's checks. totals: what was done, by
    contract and generator; unsettled: what nobody knows, by all that tells it apart. opened: the
    events with which it was opened last. judged_by: digest of the expectations whose examples were
    run. curve: (cases, behaviours, disagreements, buckets),
    each a tenth further than the last. costs: most nanoseconds a byte seen, by implementation.
    covered: Atheris's corpus, base64. shared: marks of inputs shared, or taken up from others.
    withdrawn: by implementation, why it was not asked for a while, the last time that it was so.
    rates: bytes a second, by implementation, in campaigns that are limited by time: who is slow
    gets fewer cases in the next round. round_size: what the next round takes on, and waiting: what
    was chosen for it already; see :mod:`harness.studies.fuzz.sizing`. crossed: how often inputs
    crossed between targets, offered: how many entries of the corpus did, or could, and given:
    others' inputs that are to be asked, base64; see :mod:`harness.studies.fuzz.crossing`. fixed:
    findings that no longer show; see :mod:`harness.studies.fuzz.known`.
    """

    batches: int = 0
    cases: int = 0
    size: int = 0
    schedule: list[dict[str, Any]] = field(default_factory=list)
    taken: dict[str, int] = field(default_factory=dict)
    disagreements: dict[str, int] = field(default_factory=dict)
    picks: list[int] = field(default_factory=list)
    pages: list[Any] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    provisionals: list[str] = field(default_factory=list)
    losses: dict[str, list[int]] = field(default_factory=dict)
    tally: dict[str, Any] = field(default_factory=dict)
    totals: dict[str, dict[str, Any]] = field(default_factory=dict)
    unsettled: dict[str, dict[str, Any]] = field(default_factory=dict)
    looks: list[Any] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    judged_by: str = ""
    curve: list[list[int]] = field(default_factory=list)
    costs: dict[str, float] = field(default_factory=dict)
    covered: list[Base64] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    withdrawn: dict[str, str] = field(default_factory=dict)
    rates: dict[str, float] = field(default_factory=dict)
    round_size: int = FIRST
    waiting: list[dict[str, Any]] = field(default_factory=list)
    crossed: int = 0
    offered: int = 0
    given: list[Base64] = field(default_factory=list)
    fixed: list[dict[str, Any]] = field(default_factory=list)

    def packed(self) -> bytes:
        """The form on disk."""
        return zlib.compress(json.dumps({"form": FORM, **asdict(self)}).encode(), 1)

    @classmethod
    def unpacked(cls, packed: bytes) -> State:
        """The state of :meth:`packed`. Raises StateError, with the field at fault."""
        try:
            raw = stored.parsed(stored.unzipped(packed, MAX_BYTES))
            if stored.typed(raw, _Form).form != FORM:
                raise StateError("made by another version of tokgate")
            state = stored.typed(raw, cls)
            state._inspect()
        except ValueError as error:
            raise StateError(str(error)) from error
        return state

    def _inspect(self) -> None:
        """Look into fields whose type does not say all. Raises ValueError with the field."""
        stored.typed(self.schedule, list[Arm], "schedule")
        stored.typed(self.totals, dict[str, BatchDone], "totals")
        stored.typed(self.unsettled, dict[str, Unsettled], "unsettled")
        stored.typed(self.losses, dict[str, tuple[int, int]], "losses")
        stored.typed(self.curve, list[tuple[int, int, int, int]], "curve")
        if self.tally:
            stored.typed(self.tally, _Tally, "tally")
        stored.typed(self.waiting, list[_Waiting], "waiting")
        stored.typed(self.pages, list[_SignatureRow], "pages")
        if min(self.crossed, self.offered) < 0 or self.crossed > 64:
            raise ValueError("crossed, offered: no numbers of crossings and of entries")
        stored.typed(self.fixed, list[Found], "fixed")
        for number, line in enumerate(self.opened):
            try:
                Event.from_json(line)
            except ValueError as error:
                raise ValueError(f"opened[{number}]: {error}") from error

    def keep_tracker(self, known: Snapshot) -> None:
        """Note what a tracker knows, but for its findings."""
        self.pages = [
            [
                where,
                asdict(sign),
                [[base64.b64encode(data).decode(), name] for data, name in minimal],
            ]
            for where, sign, minimal in known.known
        ]
        self.looks = [[where, asdict(sign), dict(plain)] for where, sign, plain in known.looks]
        self.counts = dict(known.counts)
        self.provisionals = list(known.provisionals)

    def tracker(self, findings: Sequence[Found]) -> Snapshot:
        """What the tracker knew, with its findings."""
        return Snapshot(
            findings=findings,
            known=[
                (
                    where,
                    Signature(**sign),
                    [(base64.b64decode(data), name) for data, name in minimal],
                )
                for where, sign, minimal in self.pages
            ],
            looks=[(where, Signature(**sign), plain) for where, sign, plain in self.looks],
            counts=self.counts,
            provisionals=self.provisionals,
        )

    def keep_tally(self, tally: Tally) -> None:
        """Note which expectations were exercised, and who failed."""
        self.tally = {
            "exercised": sorted(tally.exercised),
            "shown": sorted(tally.shown),
            "unsure": sorted(tally.unsure),
            "failed": [list(one) for one in tally.failed_to_load],
            "excused": dict(tally.excused),
            "claims": [list(one) for one in tally.claims],
        }

    def add(self, events: Iterable[Event]) -> None:
        """Add batches, and what nobody knows, to the sums of them."""
        for event in events:
            if isinstance(event, BatchDone):
                key = f"{event.contract}\0{event.generator}"
                old = self.totals.get(key)
                self.totals[key] = asdict(event if old is None else _sum(BatchDone(**old), event))
            elif isinstance(event, Unsettled):
                same = (event.contract, event.check, *event.implementations, event.reason)
                key = "\0".join(same)
                count = event.count + self.unsettled.get(key, {"count": 0})["count"]
                self.unsettled[key] = asdict(replace(event, count=count))

    def done(self) -> list[Event]:
        """The sums as events: one for each contract and generator, and all that nobody knows."""
        return [
            *(BatchDone(**total) for total in self.totals.values()),
            *(Unsettled(**one) for one in self.unsettled.values()),
        ]


NONE = [0, 0, 0]
"""How many cases were answered, failed on and declined, where none was asked."""


def _sum(one: BatchDone, other: BatchDone) -> BatchDone:
    return BatchDone(
        contract=one.contract,
        generator=one.generator,
        cases=one.cases + other.cases,
        bytes=one.bytes + other.bytes,
        comparisons=one.comparisons + other.comparisons,
        exercised=_merged(one.exercised, other.exercised),
        violations=_merged(one.violations, other.violations),
        forced=_merged(one.forced, other.forced),
        answers={
            name: [a + b for a, b in zip(one.answers.get(name, NONE), counts, strict=True)]
            for name, counts in {**dict.fromkeys(one.answers, NONE), **other.answers}.items()
        },
        declined={**other.declined, **one.declined},
    )


def _merged(
    one: Mapping[str, Mapping[str, int]], other: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    merged = {check: dict(names) for check, names in one.items()}
    for check, names in other.items():
        into = merged.setdefault(check, {})
        for name, count in names.items():
            into[name] = into.get(name, 0) + count
    return merged


@dataclass(frozen=True, slots=True, eq=False)
class Round:
    """What one round of a target changed: committed together, or not at all.

    map: of behaviours, packed. joined: new entries of the corpus, from number ``first`` on.
    findings: those that are new or changed. gone: ids of findings that others replaced.
    events: for whoever watches, in order.
    """

    target: str
    state: State
    map: bytes
    first: int
    joined: Sequence[Entry]
    findings: Sequence[Found]
    gone: Iterable[str]
    events: Sequence[Event]
    seconds: float
