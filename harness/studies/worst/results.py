"""``worst.json``: what a search found, beside what is listed; and the families made of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from corpora.families.pattern import Pattern
from harness.core import stored

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from harness.studies.worst.plan import WorstPlan
    from harness.studies.worst.state import Aim, Candidate, State

SCHEMA = 1
"""The version of the format of ``worst.json``. It changes with what a reader of the file would
notice."""


@dataclass(slots=True)
class Entry:
    """One kind of input.

    kind: ``cost``, ``growth`` or ``memory``, for what it stands out; the label of a status
    (``crashed``, ``timed-out``, ..) where it got no answer; ``listed`` for a family that is known,
    ``control``.
    a_byte: nanoseconds a byte at ``Report.size``. points: ``[bytes, seconds]``. memory: bytes at
    the peak for each of the input. length: bytes of the shortest input that got no answer.
    expression: one line of Python with ``n`` and ``random`` free; of a listed family its reason.
    """

    name: str
    kind: str
    a_byte: float | None = None
    points: list[list[float]] = field(default_factory=list)
    exponent: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    memory: float | None = None
    length: int | None = None
    message: str = ""
    expression: str = ""
    origin: str = ""
    pattern: dict[str, Any] | None = None


@dataclass(slots=True)
class Report:
    """A whole search. seconds: of searching, in all sittings. ended: why, if before its time.

    complete: whether what was found was compared with what is listed, before any interruption; else
    ``found`` is what the search itself measured. prepared, spent: seconds before the first
    measurement, and from it to the end. compared: whole rounds of the finals; 0 where there was no
    time for one.

    withheld: the families that it was not told of. found: the worst first. listed: likewise.
    guided: places in the source that were reached, None where it was a black box.
    left: the processes that the worker left behind, on one line, empty where it left none.
    families: the file that the results were added to, empty where none was.
    """

    command: str
    implementation: str
    version: str
    vocabulary: str
    seed: int
    size: int
    withheld: list[str]
    complete: bool = False
    prepared: float = 0.0
    spent: float = 0.0
    seconds: float = 0.0
    compared: int = 0
    generations: int = 0
    readings: int = 0
    kinds: int = 0
    died: int = 0
    guided: int | None = None
    ended: str = ""
    left: str = ""
    control: Entry | None = None
    found: list[Entry] = field(default_factory=list)
    listed: list[Entry] = field(default_factory=list)
    families: str = ""

    @classmethod
    def of(cls, plan: WorstPlan, command: str) -> Report:
        """That of a search which has yet to begin."""
        one, vocabulary, seed = plan.participant, plan.vocabulary.id, plan.plan.seed
        withheld = sorted(plan.withheld)
        return cls(
            command, one.name, one.about.version, vocabulary, seed, plan.sizes.full, withheld
        )

    def sum_up(self, states: Sequence[State], *, guided: bool) -> None:
        """Say how far the searches got."""
        self.generations = sum(one.schedule.number for one in states)
        self.readings = sum(one.cases for one in states)
        self.died = sum(one.died for one in states)
        self.kinds = sum(one.kinds for one in states)
        self.ended = next((one.ended for one in states if one.ended), "")
        if guided:
            self.guided = len({place for one in states for place in one.lines})

    def break_off(self, standing_out: Iterable[tuple[Aim, Candidate]]) -> None:
        """Tell what stands out so far, as the search measured it."""
        if self.found:  # the finals had come to their end
            return
        made: dict[str, Entry] = {}
        for aim, one in standing_out:
            line = one.pattern.expression()
            samples = sorted(one.samples, key=lambda sample: sample.size)
            points = [[s.length, s.least / 1e9] for s in samples]
            made.setdefault(line, Entry(
                line, aim.value, points=points, expression=line, origin=one.origin,
                pattern=one.pattern.to_dict(),
            ))  # fmt: skip
        self.found += made.values()

    def to_json(self) -> str:
        """``worst.json``."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, indent=1) + "\n"


def report_of(data: Mapping[str, Any]) -> Report:
    """A report from its plain data, as an event has it. Raises ValueError for what is none."""
    return stored.typed(data, Report)


def as_families(report: Report) -> list[tuple[str, str, Pattern]]:
    """Name, reason and pattern of everything found, for the user's file of families."""
    made = []
    for number, entry in enumerate(report.found, 1):
        if entry.pattern is None:
            continue
        name = f"worst-{report.implementation}-{report.vocabulary}-{number}".replace("/", "-")
        made.append((name, reason(report, entry), Pattern.from_dict(entry.pattern)))
    return made


def reason(report: Report, entry: Entry) -> str:
    """One line on what the input does to whom."""
    whom = f"{report.implementation} {report.version} on {report.vocabulary}"
    if entry.length is not None:
        return f"{whom}: {entry.kind} at {entry.length:,} bytes"
    parts = []
    control = report.control.a_byte if report.control is not None else None
    if entry.a_byte and control:
        parts.append(f"{entry.a_byte / control:.1f} times the cost of prose")
    if entry.exponent is not None:
        parts.append(f"exponent {entry.exponent:.2f}")
    if entry.memory:
        parts.append(f"{entry.memory:,.0f} bytes of memory per byte")
    return f"{whom}: {', '.join(parts) or entry.kind}"
