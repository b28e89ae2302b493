"""Speeds of all measurements as the site shows them: tables of libraries, and series. Pure."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.events.timing import MEBIBYTE
from reports.bench import KINDS
from reports.trends import Trend

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping, Sequence

    from reports.site.data import SpeedRow

NANOSECONDS = 1e9


@dataclass(frozen=True, slots=True, eq=False)
class SpeedLine:
    """A library on one kind of text, at the largest size that was measured.

    speeds: by kind. place: among all that gave the right ids, by speed on fresh text, from 1; None
    where the ids are wrong, or fresh text was not measured.
    """

    row: str
    library: str
    version: str
    answer: str
    speeds: Mapping[str, SpeedRow]
    place: int | None

    @property
    def leading(self) -> SpeedRow:
        """The speed that the line is sorted by."""
        return next(self.speeds[kind] for kind in KINDS if kind in self.speeds)


@dataclass(frozen=True, slots=True, eq=False)
class SpeedTable:
    """The last measurement of one kind of text in one mode on one vocabulary, the fastest first."""

    vocabulary: str
    mode: str
    text: str
    size: int
    cpu: str
    when: datetime.datetime
    lines: Sequence[SpeedLine]

    def of(self, library: str) -> list[SpeedLine]:
        """The lines of a library."""
        return [line for line in self.lines if line.library == library]


def speed_tables(rows: Sequence[SpeedRow]) -> list[SpeedTable]:
    """Of each kind of text on each vocabulary the last measurement."""
    latest: dict[tuple[str, str, str], list[SpeedRow]] = {}
    for row in rows:  # the oldest first
        key = row.vocabulary, row.mode, row.text
        known = latest.get(key)
        if known and known[0].measurement == row.measurement:
            known.append(row)
        else:
            latest[key] = [row]
    return [_table(found) for _, found in sorted(latest.items())]


def _table(rows: Sequence[SpeedRow]) -> SpeedTable:
    size = max(row.size for row in rows)
    here: dict[str, dict[str, SpeedRow]] = defaultdict(dict)
    for row in rows:
        if row.size == size:
            here[row.row][row.kind] = row
    right = sorted(
        (-kinds["fresh"].best, name)
        for name, kinds in here.items()
        if "fresh" in kinds and kinds["fresh"].answer in {"equal", "by-law"}
    )
    places = {name: place for place, (_, name) in enumerate(right, start=1)}
    lines = []
    for name, kinds in here.items():
        one = next(iter(kinds.values()))
        lines.append(SpeedLine(name, one.library, one.version, one.answer, kinds, places.get(name)))
    lines.sort(key=lambda line: -line.leading.best)
    first = rows[0]
    return SpeedTable(first.vocabulary, first.mode, first.text, size, first.cpu, first.when, lines)


def speed_series(rows: Sequence[SpeedRow]) -> dict[str, list[Trend]]:
    """Of each library its time a byte of fresh text over all measurements on one processor.

    The processor is that of the last measurement, and the size the largest that it had: others
    would be another machine, or another task.
    """
    fresh = [row for row in rows if row.kind == "fresh"]
    grouped: dict[tuple[str, str, str, str], list[SpeedRow]] = defaultdict(list)
    for row in fresh:
        grouped[row.row, row.vocabulary, row.mode, row.text].append(row)
    made: dict[str, list[Trend]] = defaultdict(list)
    for (name, vocabulary, mode, text), found in sorted(grouped.items()):
        last = found[-1]
        size = max(row.size for row in found if row.measurement == last.measurement)
        alike = [row for row in found if (row.cpu, row.size) == (last.cpu, size)]
        made[last.library].append(
            Trend(
                f"{name} on {text}, {mode}, {vocabulary}: time of fresh text",
                "ns/byte",
                [(row.when, row.version, NANOSECONDS / (row.best * MEBIBYTE)) for row in alike],
            )
        )
    return made
