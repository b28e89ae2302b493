"""A selftest as tables: which generator and check catches which planted mistake, and how fast."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from reports.cluster import Cluster, ClusterFold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.events import Event


@dataclass(slots=True)
class SelftestRecord:
    """What the events of a selftest told, as plain data."""

    started: dict[str, Any] = field(default_factory=dict)
    mistakes: list[dict[str, Any]] = field(default_factory=list)
    controls: list[dict[str, Any]] = field(default_factory=list)
    hunts: list[dict[str, Any]] = field(default_factory=list)
    finished: dict[str, Any] = field(default_factory=dict)
    units: ClusterFold = field(default_factory=ClusterFold)

    @property
    def cluster(self) -> Cluster:
        """What a cluster did, if there was one."""
        return self.units.made()

    def consume(self, event: Event) -> None:
        """Take an event; those of no selftest are passed over."""
        self.units.take(event)
        row: dict[str, Any] = json.loads(event.to_json())
        match row.pop("event"):
            case "SelftestStarted":
                self.started = row
            case "MistakeJudged":
                row["caught"] = bool(row["named"])
                row["rightly"] = rightly(row)
                (self.mistakes if row["check"] else self.controls).append(row)
            case "HuntDone":
                self.hunts.append(row)
            case "Finished":
                self.finished = row

    def to_json(self) -> str:
        """``selftest.json``: all that was told, and the tables made of it."""
        return json.dumps(
            {
                "complete": bool(self.finished.get("complete")),
                "verdict": self.finished.get("verdict", "fail"),
                "reasons": self.finished.get("reasons", []),
                **self.started,
                "seconds": self.finished.get("seconds"),
                "median_seconds": middle(seconds_of(self.mistakes)),
                "median_cases": middle(cases_of(self.mistakes)),
                "generators": [line.plain() for line in by_generator(self)],
                "checks": [line.plain() for line in by_check(self)],
                "mistakes": self.mistakes,
                "controls": self.controls,
                "hunts": self.hunts,
                **({"cluster": self.cluster.summary()} if self.cluster else {}),
            },
            indent=1,
        )


@dataclass(frozen=True, slots=True)
class Line:
    """What one generator, family or check did.

    tried: mistakes that it could have caught: for a generator those to which it gave cases, for a
    check those planted for it. caught: names. alone: of these, what no other of its kind caught.
    seconds, cases: medians until the first catch, of this one's own. given: cases in all.
    """

    name: str
    tried: int
    caught: tuple[str, ...]
    alone: tuple[str, ...]
    seconds: float | None
    cases: float | None
    given: int

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "name": self.name,
            "tried": self.tried,
            "caught": len(self.caught),
            "alone": list(self.alone),
            "median_seconds": self.seconds,
            "median_cases": self.cases,
            "cases": self.given,
        }


def rightly(row: dict[str, Any]) -> bool:
    """Whether a mistake was found under its name."""
    pairs = [name.partition("/") for name in row["named"]]
    stages = row["stages"]
    return any(check == row["check"] and (not stages or s in stages) for check, _, s in pairs)


def by_generator(record: SelftestRecord) -> list[Line]:
    """A line for each generator, in their order; growth's families and schemas are not among them.

    Only answers that break the property that is a mistake's own count, or show it in any way where
    it was found so.
    """
    lines = []
    caught: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for one in record.mistakes:
        for sighting in one["sightings"]:
            best = caught[sighting["generator"]].get(one["name"])
            if best is None or sighting["cases"] < best["cases"]:
                caught[sighting["generator"]][one["name"]] = sighting
    for name in record.started.get("generators", []):
        hunts = [hunt for hunt in record.hunts if hunt["cases"].get(name)]
        others = {m for other, found in caught.items() if other != name for m in found}
        lines.append(
            Line(
                name,
                sum(len(hunt["mistakes"]) for hunt in hunts),
                tuple(caught[name]),
                tuple(m for m in caught[name] if m not in others),
                middle(sighting["seconds"] for sighting in caught[name].values()),
                middle(sighting["cases"] for sighting in caught[name].values()),
                sum(hunt["cases"][name] for hunt in hunts),
            )
        )
    return lines


def by_check(record: SelftestRecord) -> list[Line]:
    """A line for each check, in their order: what it catches, planted for it or not."""
    lines = []
    shown = {
        one["name"]: {s["check"] for s in one["sightings"]}
        | {name.partition("/")[0] for name in one["named"]}
        for one in record.mistakes
    }
    for check in record.started.get("checks", []):
        caught = [one for one in record.mistakes if check in shown[one["name"]]]
        first = [earliest(one, check) for one in caught]
        lines.append(
            Line(
                check,
                sum(one["check"] == check for one in record.mistakes),
                tuple(one["name"] for one in caught),
                tuple(one["name"] for one in caught if shown[one["name"]] == {check}),
                middle(one["all_seconds"] for one in first if one),
                middle(one["all_cases"] for one in first if one),
                0,
            )
        )
    return lines


def earliest(row: dict[str, Any], check: str = "") -> dict[str, Any] | None:
    """The first sighting of a mistake (by a check, if one is named)."""
    sightings = [s for s in row["sightings"] if not check or s["check"] == check]
    return min(sightings, key=lambda one: float(one["all_seconds"]), default=None)


def seconds_of(mistakes: Iterable[dict[str, Any]]) -> list[float]:
    """Time to detection of each that was caught."""
    return [first["all_seconds"] for one in mistakes if (first := earliest(one))]


def cases_of(mistakes: Iterable[dict[str, Any]]) -> list[float]:
    """Cases to detection of each that was caught in cases."""
    return [first["all_cases"] for one in mistakes if (first := earliest(one)) and first["cases"]]


def middle(numbers: Iterable[float]) -> float | None:
    """The median, if there is anything."""
    every = list(numbers)
    return median(every) if every else None


def verdict_of(row: dict[str, Any]) -> str:
    """``caught``, ``misnamed``, ``escaped``, or ``not hunted``, in a word or two."""
    if row["rightly"]:
        return "caught"
    if row["caught"]:
        return "misnamed"
    return "not hunted" if row["trouble"] else "escaped"


def shown(number: float | None, unit: str = "") -> str:
    """A number for a table: three figures, or nothing."""
    if number is None:
        return ""
    text = f"{number:,.0f}" if number >= 100 or not unit else f"{number:.2g}"
    return f"{text} {unit}".rstrip()


def idle(record: SelftestRecord) -> list[tuple[str, int]]:
    """Generators that caught nothing, and how many cases they gave."""
    return [
        (line.name, line.given) for line in by_generator(record) if line.given and not line.caught
    ]
