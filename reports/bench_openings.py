"""What opening a vocabulary takes: a table for each, from the quickest implementation down."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from harness.events.timing import MEBIBYTE
from reports.blocks import Column, Items, Paragraph, Section, Table, numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.events import VocabularyOpened

MEANINGS = {
    "code": "importing the library, or our modules and the loading of a toy",
    "cold": "from the file to the ids of a first text, no tables of ours on disk, all compiled",
    "warm": "the same with the tables that the cold one left (libraries keep none)",
    "before": "resident memory of the process before it read the file",
    "vocabulary": "what it has more once it has encoded the first text",
    "own": "of that, what is mapped from no file; the rest, as our tables on disk, is memory that "
    "processes share",
    "text": "what it has more once it has encoded the whole text, a cache of pieces for one",
}
"""The columns: the first three in seconds, the others in MiB."""


def opening_sections(openings: Sequence[VocabularyOpened]) -> Iterator[Section]:
    """A section for each vocabulary, in the order of measuring."""
    for number, vocabulary in enumerate(dict.fromkeys(one.vocabulary for one in openings)):
        here = [one for one in openings if one.vocabulary == vocabulary]
        measured = sorted((one for one in here if one.openings), key=_quickness)
        rounds = max((len(_of(one, "warm")) for one in measured), default=0)
        caption = (
            f"Seconds of CPU time, the least of {rounds} rounds, and MiB of resident memory, the "
            "median of the warm ones, each in a process of its own that did nothing else. The "
            f"whole text is {here[0].text}, {here[0].bytes:,} bytes."
        )
        failed = [f"{one.implementation}: {one.note}" for one in here if one.status == "failed"]
        table = Table(
            f"What opening {vocabulary} takes",
            ("Implementation", Column("Reads", page=True), *numbers(*MEANINGS)),
            [(one.implementation, one.file, *figures(one)) for one in measured],
            "Seconds of CPU time and MiB of memory",
            "openings",
        )
        meanings = [f"{name}: {words}" for name, words in MEANINGS.items()]
        yield Section(
            "Opening a vocabulary",
            [Paragraph(caption, "quiet"), table, Items([*meanings, *failed], "remarks")],
            f"opening-{number}",
            tags=(vocabulary,),
            nav=f"load, {vocabulary}",
        )


def _of(one: VocabularyOpened, kind: str, name: str = "cpu") -> list[float]:
    openings: list[Any] = [opening for opening in one.openings if opening["kind"] == kind]
    return [opening[name] for opening in openings]


def _quickness(one: VocabularyOpened) -> float:
    return min(_of(one, "warm") or _of(one, "cold"))


def figures(one: VocabularyOpened) -> tuple[str, ...]:
    """The columns of an implementation, empty where it was not measured."""
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
