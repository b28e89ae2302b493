"""What opening a vocabulary takes, as rows that the terminal and the page show."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from harness.events.timing import MEBIBYTE

if TYPE_CHECKING:
    from harness.events import VocabularyOpened
    from reports.bench import BenchRecord

COLUMNS = ("code", "cold", "warm", "before", "vocabulary", "own", "text")
"""The heads of :attr:`OpeningRow.cells`."""

MEANINGS = (
    "code: importing the library, or our modules and the loading of a toy",
    "cold: from the file to the ids of a first text, no tables of ours on disk, all compiled",
    "warm: the same with the tables that the cold one left (libraries keep none)",
    "before: resident memory of the process before it read the file",
    "vocabulary: what it has more once it has encoded the first text",
    "own: of that, what is mapped from no file; the rest, as our tables on disk, is memory that "
    "processes share",
    "text: what it has more once it has encoded the whole text, a cache of pieces for one",
)


@dataclass(frozen=True, slots=True)
class OpeningRow:
    """An implementation. cells: of :data:`COLUMNS`, or none where it was not measured."""

    name: str
    version: str
    file: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpeningTable:
    """A vocabulary; rows from the quickest down. notes: why some were not measured."""

    vocabulary: str
    caption: str
    rows: list[OpeningRow]
    notes: list[str]

    @property
    def title(self) -> str:
        """``load, tekken_240911``."""
        return f"load, {self.vocabulary}"


def opening_tables(record: BenchRecord) -> list[OpeningTable]:
    """The tables of a record, in the order of measuring."""
    versions = {} if record.started is None else record.started.versions
    names = dict.fromkeys(one.vocabulary for one in record.openings)
    return [_table(record, name, versions) for name in names]


def _table(record: BenchRecord, vocabulary: str, versions: dict[str, str]) -> OpeningTable:
    here = [one for one in record.openings if one.vocabulary == vocabulary]
    measured = sorted((one for one in here if one.openings), key=_quickness)
    rows = [
        OpeningRow(one.implementation, versions.get(one.implementation, ""), one.file, _cells(one))
        for one in measured
    ]
    failed = [one for one in here if one.status == "failed"]
    rounds = max((len(_of(one, "warm")) for one in measured), default=0)
    caption = (
        f"Seconds of CPU time, the least of {rounds} rounds, and MiB of resident memory, the "
        "median of the warm ones, each in a process of its own that did nothing else. The whole "
        f"text is {here[0].text}, {here[0].bytes:,} bytes."
    )
    notes = [f"{one.implementation}: {one.note}" for one in failed]
    return OpeningTable(vocabulary, caption, rows, notes)


def _of(one: VocabularyOpened, kind: str, name: str = "cpu") -> list[float]:
    openings: list[Any] = [opening for opening in one.openings if opening["kind"] == kind]
    return [opening[name] for opening in openings]


def _quickness(one: VocabularyOpened) -> float:
    return min(_of(one, "warm") or _of(one, "cold"))


def _cells(one: VocabularyOpened) -> tuple[str, ...]:
    kind = "warm" if _of(one, "warm") else "cold"

    def held(later: str, earlier: str = "") -> str:
        before = _of(one, kind, earlier) if earlier else [0.0] * len(_of(one, kind))
        grown = [b - a for a, b in zip(before, _of(one, kind, later), strict=True)]
        return f"{median(grown) / MEBIBYTE:.1f}"

    return (
        _seconds([opening["code"] for opening in one.openings]),
        _seconds(_of(one, "cold")),
        _seconds(_of(one, "warm")),
        held("before"),
        held("after", "before"),
        held("own_after", "own_before"),
        held("worked", "after"),
    )


def _seconds(found: list[float]) -> str:
    return f"{min(found):.2f}" if found else ""
