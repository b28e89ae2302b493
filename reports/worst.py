"""The record of a search for the worst input, as read from ``worst.json``."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from harness.events import Measured
from reports.bench import shown_size
from reports.cluster import NO_CLUSTER, Cluster

LARGE = 1000.0
"""Times the control from which no digit behind the point is worth its place."""


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of input, found or listed; see :class:`harness.studies.worst.results.Entry`.

    times: of the control's cost a byte.
    """

    name: str
    kind: str
    a_byte: float | None
    times: float | None
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

    @property
    def died(self) -> bool:
        """Whether there is no answer to it."""
        return self.length is not None

    def measured(self, vocabulary: str) -> Measured:
        """For a plot: a line with the row's name."""
        return Measured(
            implementation=self.name,
            vocabulary=vocabulary,
            family=self.kind,
            exponent=self.exponent,
            low=self.low,
            high=self.high,
            verdict=self.verdict,
            points=self.points,
        )


@dataclass(frozen=True, slots=True)
class WorstRecord:
    """A whole search: ``worst.json``, with its rows. facts: what decided it, and how far it got.

    cluster: what one did for it, if there was one.
    """

    facts: dict[str, Any]
    control: Row | None = None
    found: list[Row] = field(default_factory=list)
    listed: list[Row] = field(default_factory=list)
    cluster: Cluster = NO_CLUSTER

    @classmethod
    def from_json(cls, text: str) -> WorstRecord:
        """The record. Raises ValueError, KeyError or TypeError for what is none."""
        return cls.of(json.loads(text))

    @classmethod
    def of(cls, data: dict[str, Any]) -> WorstRecord:
        """The record of a report as plain data. Raises KeyError or TypeError for what is none."""
        rows = {"control", "found", "listed"}
        control = data["control"]
        base = control["a_byte"] if control is not None else None
        return cls(
            {key: value for key, value in data.items() if key not in rows},
            None if control is None else _row(control, base),
            [_row(one, base) for one in data["found"]],
            [_row(one, base) for one in data["listed"]],
        )

    @property
    def title(self) -> str:
        """``tiktoken 0.14.0 on tekken_240911``."""
        facts = self.facts
        return f"{facts['implementation']} {facts['version']} on {facts['vocabulary']}".strip()

    @property
    def size(self) -> str:
        """The size at which costs are compared."""
        return shown_size(self.facts["size"])

    @property
    def verdict(self) -> str:
        """What was found, held against what was known: one sentence."""
        found = max((r.a_byte for r in self.found if r.a_byte), default=None)
        known = max(self.listed, key=lambda row: row.a_byte or 0.0, default=None)
        died = sum(row.died for row in self.found)
        deaths = f"{died} way{'' if died == 1 else 's'} to bring it down" if died else ""
        if not self.facts["complete"]:
            so_far = f"; {deaths}" if deaths else ""
            return f"broken off before what stood out was measured beside what is listed{so_far}"
        if not self.facts.get("compared", 1):
            so_far = f"; {deaths}" if deaths else ""
            return f"there was no time to measure what stood out beside what is listed{so_far}"
        if found is None or known is None or not known.a_byte:
            return deaths or f"nothing stood out in {self.facts['readings']:,} inputs"
        share = found / known.a_byte
        hidden = self.facts["withheld"]
        told = "which it was not told of" if known.name in hidden else "which it began with"
        said = f"the worst input found costs {share:.2f} times the worst listed family"
        said = f"{said} ({known.name}, {told}) at {self.size}"
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
        rounds = f"measured in {compared} round{'' if compared == 1 else 's'} at {self.size}"
        if not grown:
            return f"{rounds}; growth in no whole round, for want of time"
        return f"{rounds}, growth in {grown}"


def _row(data: dict[str, Any], control: float | None) -> Row:
    times = data["a_byte"] / control if data["a_byte"] and control else None
    wanted = {key: data[key] for key in Row.__dataclass_fields__ if key != "times"}
    return Row(times=times, **wanted)


def shown_times(times: float | None) -> str:
    """``3.4``, ``1,200``; nothing where there is no control."""
    if times is None:
        return ""
    return f"{times:,.0f}" if times >= LARGE else f"{times:,.1f}"


def shown_exponent(row: Row) -> str:
    """``1.02 (0.98 to 1.05)``."""
    if row.exponent is None or row.low is None or row.high is None:
        return ""
    return f"{row.exponent:.2f} ({row.low:.2f} to {row.high:.2f})"
