"""The conformance page: what the runs of the field came to, as data and as blocks.

What a survey comes to is :func:`document`, which is ``field.json``; its page shows nothing else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harness.events import UNEXAMINED, FamiliesMeasured, MatchPlayed
from reports import studies
from reports.blocks import (
    Banner,
    Cell,
    Cells,
    Code,
    Column,
    Inline,
    Page,
    Paragraph,
    Section,
    Span,
    Table,
    markdown,
)
from reports.blocks.units import exponent, plural
from reports.record import BAD_GROWTH, Bucket, RunRecord
from reports.words import smallest

Document = Mapping[str, Any]
Played = tuple[MatchPlayed, RunRecord | None]
"""What came of one library on one vocabulary; no record where it does not run it."""

KINDS = {
    "agrees": "agree",
    "by-design": "differ as known",
    "differs": "differ",
    "broke-off": "broke off",
    "not-examined": "not examined",
    "failed": "do not load",
    "not-run": "not run",
}
"""What can come of a match, as the summary counts it."""

SCHEMA = 2
"""The version of the format of ``field.json``."""

REFERENCE = {"kind": "not-run", "text": "reference", "detail": "", "link": ""}
"""A field for a library that defines the vocabulary's format itself."""

GROWN = ("family", "verdict", "law", "exponent", "low", "high", "expression", "note")
"""What is told of a measurement of growth."""


def verdict(match: MatchPlayed, record: RunRecord | None) -> dict[str, str]:
    """Whether a library agreed with the reference on a vocabulary: a field of the first table.

    ``kind`` is one of :data:`KINDS`; ``text``, ``detail`` and ``link`` say more.
    """
    if record is None:
        return {"kind": "not-run", "text": "–", "detail": match.refusal, "link": ""}
    library = match.library
    compared = f"{record.comparisons:,} comparisons with {match.reference}"
    failed = [f.message for f in record.failures if f.implementation == library]
    found = [one for one in record.buckets if library in one.example.culprits]
    unexpected = sum(not one.expected for one in found)
    # Why the match, or the library in it, did not come to the end.
    cut = [one.line for one in record.withdrawn if one.implementation == library]
    if not record.complete:
        cut += [*record.reasons, "the record is incomplete"]
    kind, text, detail = "agrees", "agrees", [compared]
    if failed:
        kind, text, detail = "failed", "does not load", failed[0].splitlines()[:1]
    elif unexpected:
        kind, text, detail = "differs", plural(unexpected, "difference"), [compared, *cut[:1]]
    elif cut:
        kind, text, detail = "broke-off", "broke off", [cut[0], compared]
    elif record.verdict == UNEXAMINED:
        kind, text, detail = "not-examined", "not examined", record.reasons
    elif found:
        kind, text, detail = "by-design", "as known", [f"{len(found)} known", compared]
    elif not record.comparisons:
        kind, text, detail = "not-run", "–", ["nothing was compared"]
    link = f"{match.folder}/report.html"
    return {"kind": kind, "text": text, "detail": "; ".join(detail), "link": link}


def document(
    played: Sequence[Played], time: str, command: str, *, complete: bool, speed: bool
) -> Document:
    """``field.json``; libraries and vocabularies are in the order of playing.

    speed: whether there is ``bench.json`` beside it.
    """
    verdicts: dict[str, dict[str, dict[str, str]]] = {}
    defects: list[Document] = []
    grown: list[dict[str, Any]] = []
    growth = Counter[str]()
    for match, record in played:
        library = match.library
        verdicts.setdefault(library, {})[match.vocabulary] = verdict(match, record)
        if record is None:
            continue
        who = {"library": library, "version": match.version, "vocabulary": match.vocabulary}
        defects += [
            {**who, "reference": match.reference, **_defect(bucket, match.folder)}
            for bucket in record.buckets
            if library in bucket.example.culprits
        ]
        measured = [one for one in record.measured if one.implementation == library]
        growth.update(one.verdict for one in measured if one.measure == "time")
        growth["left out"] += sum(len(one.left_out) for one in record.of(FamiliesMeasured))
        grown += [
            {**who, **{name: getattr(one, name) for name in GROWN}}
            for one in measured
            if one.verdict in BAD_GROWTH
        ]
    kinds = Counter(one["kind"] for row in verdicts.values() for one in row.values())
    counts = ", ".join(f"{kinds[kind]} {words}" for kind, words in KINDS.items() if kinds[kind])
    return {
        "schema": SCHEMA,
        "summary": f"{kinds.total():,} matches: {counts}",
        "time": time,
        "command": command,
        "complete": complete,
        "libraries": {match.library: match.version for match, _ in played},
        "vocabularies": list(dict.fromkeys(match.vocabulary for match, _ in played)),
        "verdicts": verdicts,
        "defects": defects,
        "growth": sorted(grown, key=lambda row: -(row["exponent"] or 9.0)),
        "growth_scope": growth_scope(growth),
        "speed": speed,
    }


def _defect(bucket: Bucket, folder: str) -> Document:
    """All that is told of what a library does otherwise. folder: of the run that found it."""
    found = bucket.example
    return {
        "check": found.check,
        "bucket": bucket.name,
        "seen": bucket.count,
        "sentence": found.difference,
        "input": smallest(found),
        "input_b64": found.input_b64,
        "minimal": found.minimal,
        "expected": (bucket.reason or "") * bucket.expected,
        "reproducer": f"{folder}/{found.reproducer}" if found.reproducer else "",
    }


def growth_scope(verdicts: Counter[str]) -> str:
    """What the table of growth is a statement about: how much was measured, and how much was not.

    A cell is a library on a family of inputs of a vocabulary. verdicts: how many cells have each,
    and how many are ``left out``.
    """
    left_out = verdicts["left out"]
    unreached = f" There was no time for {plural(left_out, 'more cell')}." if left_out else ""
    if not (cells := verdicts.total() - left_out):
        return f"Growth was not measured.{unreached}"
    grown = sum(verdicts[one] for one in BAD_GROWTH)
    faulty = f"{grown:,} superlinear or failed" if grown else "none superlinear or failed"
    counts = f"{plural(cells, 'cell')} (a library on a family) measured: {faulty}"
    return f"{counts}, {verdicts['inconclusive']:,} inconclusive.{unreached}"


def files(survey: Document) -> list[tuple[str, str]]:
    """``field.json``, ``field.html`` and ``field.md``, by their names."""
    shown = page(survey)
    return [
        *studies.files("field", json.dumps(survey, indent=1) + "\n", shown),
        ("field.md", markdown.render(shown.blocks)),
    ]


def page(survey: Document) -> Page:
    """``field.html``, self-contained but for links to the runs beside it; ``field.md`` alike."""
    defects = survey["defects"]
    known = sum(bool(one["expected"]) for one in defects)
    said = (
        f"{plural(len(survey['libraries']), 'library')} on "
        f"{plural(len(survey['vocabularies']), 'vocabulary')}. "
        f"{survey['summary']}; {plural(len(defects) - known, 'difference')}, and {known} known."
    )
    cut_off = "Interrupted: the matches so far." * (not survey["complete"])
    differences = Table(
        "Table of differences",
        "Library | Vocabulary | What | Smallest input | (Reproducer)",
        list(map(_difference, defects)),
        style="field-table",
        empty="No difference was found. The table above says how much was compared.",
    )
    grown = Table(
        "Table of growth",
        "Library | Vocabulary | Family | Growth | (Input of n bytes)",
        [
            (
                *_place(one), one["family"], _growth(one),
                Span(one["expression"], "code"),
            )
            for one in survey["growth"]
        ],
        style="field-table",
    )  # fmt: skip
    speed = ("MiB/s of text not seen before: ", Span("bench.html", href="bench.html"))
    how = Paragraph(speed) if survey["speed"] else Paragraph("Not measured.", "empty")
    again = Code(survey["command"], "the command that repeats this survey")
    return Page(
        "tokgate: the survey",
        "survey of the field",
        [
            Banner("Who agrees with the reference", said, stamp=cut_off),
            _agreement(survey),
            Section("Differences", [differences], "differences"),
            Section("Growth", [Paragraph(survey["growth_scope"]), grown], "growth"),
            Section("Speed", [how], "speed"),
            Section("This survey", [again, Paragraph(survey["time"], "quiet")], "run"),
        ],
        skip="tables",
    )


def _agreement(survey: Document) -> Section:
    vocabularies = survey["vocabularies"]
    rows: list[Cells] = [
        [
            (library, Span(f" {survey['libraries'][library]}", "quiet")),
            *(_met(row.get(name, REFERENCE)) for name in vocabularies),
        ]
        for library, row in survey["verdicts"].items()
    ]
    how = (
        "Each library in worker processes of its own, on generated and hostile inputs, against the "
        "library that defines the vocabulary's format. Each field leads to the whole run."
    )
    columns = [Column("Library"), *map(Column, vocabularies)]
    table = Table("Table of agreement", columns, rows, style="field-table agreement")
    return Section("Agreement", [Paragraph(how, "quiet", page=True), table], "agreement")


def _met(one: Document) -> Cell:
    """A field of the table of agreement."""
    detail = Span(one["detail"], "quiet block-line", page=True)
    return Cell((Span(one["text"], href=one["link"]), detail), one["kind"])


def _place(one: Document) -> tuple[Inline, Inline]:
    """A library with its version, and a vocabulary."""
    return (one["library"], Span(f" {one['version']}", "quiet")), one["vocabulary"]


def _difference(one: Document) -> list[Inline]:
    known = f"; known: {one['expected']}" if one["expected"] else ""
    seen = f" {one['check']}, seen {plural(one['seen'], 'time')}{known}"
    unfinished = "" if one["minimal"] else " not completely minimised"
    script = one["reproducer"]
    text = script.replace("repro.py", "issue.md")
    return [
        *_place(one),
        (one["sentence"], Span(seen, "quiet block-line")),
        (Span(one["input"], "code"), Span(unfinished, "quiet")),
        (Span("repro.py", href=script), " ", Span("issue text", href=text)) if script else "–",
    ]


def _growth(one: Document) -> str:
    """A measurement of growth, in words."""
    if one["exponent"] is None:
        return str(one["note"] or one["verdict"])
    how = exponent(one["exponent"], one["low"], one["high"])
    return f"{one['law'] or one['verdict']}, exponent{how}"
