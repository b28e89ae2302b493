"""A search for the worst input: its record, as ``worst.json`` has it, and what is shown."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from reports import cluster
from reports.blocks import (
    COLOURS,
    SIZES,
    Axis,
    Banner,
    Cell,
    Code,
    Column,
    Figure,
    Page,
    Paragraph,
    Plot,
    Row,
    Section,
    Series,
    Span,
    Table,
    numbers,
)
from reports.blocks.html import render
from reports.blocks.units import interval, plural, rate, size, usable
from reports.cluster import Cluster

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.blocks import Block, Inline

PEERS = 2
"""Listed families drawn behind what was found, besides the control."""

LISTED = 3
"""Listed families that a terminal shows."""

COSTS = (
    "Costs are CPU time of the worker's process, the least of several fresh inputs, all kinds in "
    "turn in every round. In a line of Python "
)

DRAWN = (
    "Time by size of all of them; dashed: the worst listed families, and prose. Point at a line or "
    "its name."
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of input, found or listed; see :class:`harness.studies.worst.results.Entry`.

    times: of the control's cost a byte.
    """

    name: str
    kind: str
    a_byte: float | None
    points: list[list[float]]
    exponent: float | None
    low: float | None
    high: float | None
    verdict: str
    memory: float | None
    length: int | None
    message: str
    expression: str
    origin: str
    times: float | None = None

    @property
    def died(self) -> bool:
        """Whether there is no answer to it."""
        return self.length is not None

    @property
    def remark(self) -> str:
        """How it died, or what else went wrong."""
        return f"No answer at {self.length:,} bytes: {self.message}" if self.died else self.message


@dataclass(frozen=True, slots=True)
class WorstRecord:
    """A whole search: ``worst.json``, with its rows. facts: what decided it, and how far it got.

    cluster: what one did for it, if there was one.
    """

    facts: dict[str, Any]
    control: Entry | None = None
    found: list[Entry] = field(default_factory=list)
    listed: list[Entry] = field(default_factory=list)
    cluster: Cluster = field(default_factory=Cluster)

    @classmethod
    def of(cls, data: dict[str, Any]) -> WorstRecord:
        """The record of a report as plain data. Raises KeyError or TypeError for what is none."""
        base = None if data["control"] is None else data["control"]["a_byte"]
        rows = {"control", "found", "listed"}
        return cls(
            {key: value for key, value in data.items() if key not in rows},
            None if data["control"] is None else _entry(data["control"], base),
            [_entry(one, base) for one in data["found"]],
            [_entry(one, base) for one in data["listed"]],
        )

    @property
    def title(self) -> str:
        """``tiktoken 0.14.0 on tekken_240911``."""
        facts = self.facts
        return f"{facts['implementation']} {facts['version']} on {facts['vocabulary']}".strip()

    @property
    def size(self) -> str:
        """The size at which costs are compared."""
        return size(self.facts["size"])

    @property
    def verdict(self) -> str:
        """What was found, held against what was known: one sentence."""
        found = max((r.a_byte for r in self.found if r.a_byte), default=None)
        known = max(self.listed, key=lambda row: row.a_byte or 0.0, default=None)
        died = sum(row.died for row in self.found)
        deaths = f"{plural(died, 'way')} to bring it down" if died else ""
        if not self.facts["complete"]:
            said = "broken off before what stood out was measured beside what is listed"
        elif not self.facts.get("compared", 1):
            said = "there was no time to measure what stood out beside what is listed"
        elif found is None or known is None or not known.a_byte:
            return deaths or f"nothing stood out in {self.facts['readings']:,} inputs"
        else:
            withheld = known.name in self.facts["withheld"]
            told = "which it was not told of" if withheld else "which it began with"
            said = (
                f"the worst input found costs {found / known.a_byte:.2f} times the worst listed "
                f"family ({known.name}, {told}) at {self.size}"
            )
        return f"{said}; {deaths}" if deaths else said

    @property
    def left(self) -> str:
        """What the worker left behind, as a sentence; empty where it left nothing."""
        said = self.facts.get("left")
        return f"{self.facts['implementation']} {said}" if said else ""

    @property
    def how(self) -> str:
        """How far the search got."""
        facts = self.facts
        guided = facts["guided"]
        places = "" if guided is None else f", {guided} places in its source"
        ended = f"; ended early: {facts['ended']}" if facts["ended"] else ""
        return (
            f"{facts['readings']:,} inputs in {facts['seconds']:.0f} s, {facts['generations']:,} "
            f"generations, {facts['kinds']} kinds of pattern kept{places}, "
            f"seed {facts['seed']}{ended}; {self.finals}"
        )

    @property
    def finals(self) -> str:
        """How often what was found was measured beside what is listed."""
        compared, grown = self.facts.get("compared", 0), self.facts.get("grown", 0)
        if not compared:
            return f"measured in no whole round at {self.size}"
        rounds = f"measured in {plural(compared, 'round')} at {self.size}"
        if not grown:
            return f"{rounds}; growth in no whole round, for want of time"
        return f"{rounds}, growth in {grown}"


def _entry(data: dict[str, Any], control: float | None) -> Entry:
    times = data["a_byte"] / control if data["a_byte"] and control else None
    told = {one.name: data[one.name] for one in fields(Entry) if one.name != "times"}
    return Entry(**told, times=times)


def shown_exponent(row: Entry) -> str:
    """``1.02 (0.98 to 1.05)``."""
    between = interval(row.low, row.high)
    return f"{row.exponent:.2f} ({between})" if row.exponent is not None and between else ""


def files(record: WorstRecord, text: str) -> list[tuple[str, str]]:
    """``worst.json``, which is the text, and ``worst.html``, by their names."""
    return [("worst.json", text), ("worst.html", render(page(record)))]


def page(record: WorstRecord) -> Page:
    """``worst.html``."""
    facts, verdict = record.facts, record.verdict
    banner = Banner(
        f"The worst inputs of {record.title}",
        "≡" if facts["complete"] else "!",
        "neutral" if facts["complete"] else "incomplete",
        f"{verdict[:1].upper()}{verdict[1:]}.",
        "" if facts["complete"] else "Not searched to the end.",
        [
            *([Paragraph(f"{record.left}.", "bad")] if record.left else []),
            Paragraph(f"{record.how}.", "quiet"),
        ],
    )
    search: list[Block] = [Code(facts["command"], "the command that repeats this search")]
    if facts["families"]:
        search.append(Paragraph(("Added to ", Span(facts["families"], "code"), ".")))
    blocks: list[Block] = [
        banner,
        _found(record),
        *(_pattern(number, row) for number, row in enumerate(record.found, 1)),
        _listed(record),
        Section("This search", search, "search", page=True),
        *cluster.sections(record.cluster, page=True),
    ]
    title = f"tokgate: worst inputs of {record.title}"
    return Page(title, "worst inputs", blocks, skip="inputs")


def _pattern(number: int, row: Entry) -> Section:
    return Section(
        f"{number}: {row.kind}",
        [
            Code(row.expression, f"pattern {number}"),
            *([Paragraph(row.remark, "bad")] if row.remark else []),
        ],
        f"found-{number}",
        tags=[row.verdict] if row.verdict else [],
        nav="",
        style="pattern",
        level=3,
    )


def _found(record: WorstRecord) -> Section:
    """What was found, with a plot of all of it."""
    until = "" if record.facts["complete"] else ", until the search was broken off"
    readings = plural(record.facts["readings"], "input")
    rows: list[Sequence[Inline | Cell]] = [
        (
            Span(f"{number}: {row.kind}", href=f"#found-{number}"),
            Cell("no answer", "bad", "9e99") if row.died else _nanoseconds(row),
            rate(row.times),
            Cell(
                (
                    Span(row.verdict, f"tally {row.verdict}") if row.verdict else None,
                    f" {shown_exponent(row)}",
                ),
                sort=-1.0 if row.exponent is None else row.exponent,
            ),
            f"{row.memory:,.0f} B" if row.memory else None,
            row.origin,
        )
        for number, row in enumerate(record.found, 1)
    ]
    table = Table(
        "Inputs that were found",
        (
            "Pattern",
            *numbers("ns/byte", "× prose"),
            "Exponent",
            *numbers("Memory a byte"),
            Column("Origin", page=True),
        ),
        rows,
        f"The worst first; costs at {record.size}",
        empty=f"Nothing stood out in {readings}{until}.",
    )
    note = (COSTS, Span("n", "code"), " is the size in bytes, with ", Span("random", "code"),
            " imported.")  # fmt: skip
    plot = overlay(record)
    return Section(
        "What was found",
        [
            Paragraph(note, "quiet"),
            table,
            *([Figure(DRAWN, [plot])] if plot is not None else []),
        ],
        "found",
        nav="Found",
    )


def _listed(record: WorstRecord) -> Section:
    """The listed families, the worst first, and prose."""
    hidden = set(record.facts["withheld"])
    rows = [
        Row(
            (
                row.name, _nanoseconds(row), rate(row.times), shown_exponent(row),
                "no, withheld" if row.name in hidden else "yes", row.origin,
            ),
            page=place >= LISTED,
        )
        for place, row in enumerate(record.listed)
    ]  # fmt: skip
    if (one := record.control) is not None:
        rows.append(Row((one.name, _nanoseconds(one), "1.00", "", "", one.origin)))
    table = Table(
        "Listed families",
        (
            "Family",
            *numbers("ns/byte", "× prose"),
            "Exponent",
            "Told to the search",
            Column("Reason", page=True),
        ),
        rows,
        f"At {record.size}, measured in the same rounds",
    )
    title = "Listed families, the worst of them"
    return Section(title, [table], "listed", nav="Listed families")


def _nanoseconds(row: Entry) -> str:
    return f"{row.a_byte or 0:,.0f}"


def overlay(record: WorstRecord) -> Plot | None:
    """All that was found in one plot, by number; dashed behind it, the worst listed, and prose."""
    found = [
        (f"{number}: {row.kind}", usable(row.points)) for number, row in enumerate(record.found, 1)
    ]
    found = [(name, points) for name, points in found if points]
    if not found:
        return None
    peers = [*record.listed[:PEERS], *filter(None, [record.control])]
    behind = [(row.name, points) for row in peers if (points := usable(row.points))]
    series = [
        Series(name, points, place % COLOURS, dash=place >= len(found))
        for place, (name, points) in enumerate([*found, *behind])
    ]
    slowest = max(series, key=lambda one: one.points[-1][1]).name
    label = f"{len(series)} inputs of {record.title}; slowest at the end: {slowest}"
    return Plot(label, SIZES, Axis("time", "", 10), series)
