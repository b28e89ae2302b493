"""What a target of ``tokgate fuzz`` knows between two rounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from harness.events import BatchDone, Event, Found, Unsettled
from harness.findings.causes import Causes, Snapshot
from harness.findings.diagnosis import Signature
from harness.studies.campaigns import state
from harness.studies.fuzz.behaviour import Map
from harness.studies.fuzz.corpus import Entry
from harness.studies.fuzz.known import comes_back

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(slots=True)
class State(state.State):
    """All that a target knows.

    corpus: the inputs that it mutates, in the order in which they joined. disagreements: shape to
    the number of inputs that showed it. causes, counts: of the tracker, see :class:`Snapshot`.
    losses: deaths and time-outs by implementation. tally: what
    :meth:`harness.engine.plan.Tally.plain` gives. totals: what was done, by contract and
    generator; unsettled: what nobody knows, by all that tells it apart. opened: the events with
    which it was opened last, as lines. judged_by: digest of the expectations whose examples were
    run. curve: (cases, behaviours, disagreements, buckets), each a tenth further than the last.
    costs: most nanoseconds a byte seen, by implementation. covered: Atheris's corpus. shared: marks
    of inputs shared, or taken up from others. withdrawn: by implementation, why it was not asked
    for a while, the last time that it was so. rates: bytes a second, by implementation, in
    campaigns that are limited by time: who is slow gets fewer cases in the next round. fixed:
    findings that no longer show. left: lines on the processes that implementations left behind,
    told in the first target of a campaign. map: counts of behaviours, see
    :class:`harness.studies.fuzz.behaviour.Map`.
    """

    PAGES: ClassVar[Mapping[str, int]] = {
        "corpus": 16, "findings": 16, "causes": 256, "counts": 256, "disagreements": 256,
        "shared": 256, "covered": 256, "map": 1 << 12,
    }  # fmt: skip
    """Inputs of the corpus and findings have some kilobytes each."""

    corpus: list[Entry] = field(default_factory=list)
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
    map: bytes = field(default_factory=bytes)

    @property
    def facts(self) -> dict[str, int]:
        """The size of the corpus, and the shapes of disagreement seen."""
        return {"corpus": len(self.corpus), "disagreements": len(self.disagreements)}

    @property
    def again(self) -> bool:
        """Whether anything may be seen to be fixed, or to come back."""
        return bool(self.fixed or any(map(comes_back, self.findings)))

    def check(self) -> None:
        """Raise ValueError for events and a map that are none."""
        for number, line in enumerate(self.opened):
            try:
                Event.from_json(line)
            except ValueError as error:
                raise ValueError(f"opened[{number}]: {error}") from error
        Map(self.map)

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
