"""The conformance page: what the runs of the field came to, as data and as blocks.

What a survey comes to is :func:`document`, which is ``field.json``; its page shows nothing else.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from harness.events import UNEXAMINED
from impls.explaining import literal
from reports import studies
from reports.blocks import (
    Cell,
    Code,
    Column,
    Page,
    Paragraph,
    Section,
    Span,
    Table,
    markdown,
    numbers,
)
from reports.blocks.units import interval, plural, rate
from reports.record import BAD_GROWTH
from reports.speeds import tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.events import Event, MatchPlayed
    from reports.blocks import Inline
    from reports.record import RunRecord

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

SCHEMA = 1
LONGEST_INPUT = 60
"""Bytes of an input that a table shows; the finding's folder has all."""

GROWN = ("family", "verdict", "law", "exponent", "low", "high", "expression", "note")
"""What is told of a measurement of growth."""


def verdict(match: MatchPlayed, record: RunRecord | None) -> dict[str, str]:
    """Whether a library agreed with the reference on a vocabulary: a field of the first table.

    ``kind`` is one of :data:`KINDS`; ``text``, ``detail`` and ``link`` say more.
    """
    if record is None:
        return {"kind": "not-run", "text": "–", "detail": match.refusal, "link": ""}
    library = match.library
    failed = [f.message for f in record.failures if f.implementation == library]
    found = [one for one in record.buckets if library in one.example.culprits]
    unexpected = sum(not one.expected for one in found)
    compared = f"{record.comparisons:,} comparisons with {match.reference}"
    # Why the match, or the library in it, did not come to the end.
    cut = [one.line for one in record.withdrawn if one.implementation == library]
    if not record.complete:
        cut += [*record.reasons, "the record ends before the run did"]
    kind, text, detail = "agrees", "agrees", compared
    if failed:
        kind, text, detail = "failed", "does not load", failed[0].split("\n", 1)[0]
    elif unexpected:
        detail = "; ".join([compared, *cut[:1]])
        kind, text = "differs", plural(unexpected, "difference")
    elif cut:
        kind, text, detail = "broke-off", KINDS["broke-off"], f"{cut[0]}; {compared}"
    elif record.finished is not None and record.finished.verdict == UNEXAMINED:
        kind, text, detail = "not-examined", KINDS["not-examined"], "; ".join(record.reasons)
    elif found:
        kind, text, detail = "by-design", "as known", f"{len(found)} known, {compared}"
    elif not record.comparisons:
        kind, text, detail = "not-run", "–", "nothing was compared"
    return {"kind": kind, "text": text, "detail": detail, "link": f"{match.folder}/report.html"}


def document(
    played: Sequence[Played], bench: Sequence[Event], time: str, command: str, *, complete: bool
) -> Document:
    """``field.json``; libraries and vocabularies are in the order of playing.

    bench: the events of a measurement of speed, if there was any.
    """
    verdicts: dict[str, dict[str, dict[str, str]]] = {}
    defects: list[Document] = []
    grown: list[dict[str, Any]] = []
    measured: Counter[str] = Counter()
    growth: Counter[str] = Counter()
    for match, record in played:
        library = match.library
        verdicts.setdefault(library, {})[match.vocabulary] = verdict(match, record)
        measured[library] += 0
        if record is None:
            continue
        who = {"library": library, "version": match.version, "vocabulary": match.vocabulary}
        for bucket in record.buckets:
            if library in bucket.example.culprits:
                found, reason = bucket.example, bucket.reason or ""
                data = base64.b64decode(found.input_b64)
                more = f".. ({len(data):,} bytes)" if len(data) > LONGEST_INPUT else ""
                defects.append(
                    {
                        **who,
                        "reference": match.reference,
                        "check": found.check,
                        "bucket": bucket.name,
                        "seen": bucket.count,
                        "sentence": found.difference,
                        "input": literal(data[:LONGEST_INPUT]) + more,
                        "input_b64": found.input_b64,
                        "minimal": found.minimal,
                        "expected": reason if bucket.expected else "",
                        "reproducer": (found.reproducer and f"{match.folder}/{found.reproducer}")
                        or "",
                    }
                )
        for one in record.measured:
            if one.implementation == library:
                measured[library] += 1
                growth[one.verdict] += one.measure == "time"
                if one.verdict in BAD_GROWTH:
                    grown.append({**who, **{name: getattr(one, name) for name in GROWN}})
        growth["left out"] += sum(len(family.left_out) for family in record.families)
    kinds = Counter(one["kind"] for row in verdicts.values() for one in row.values())
    counts = ", ".join(f"{kinds[kind]} {words}" for kind, words in KINDS.items() if kinds[kind])
    return {
        "schema": SCHEMA,
        "summary": f"{plural(kinds.total(), 'match', 'matches')}: {counts}",
        "time": time,
        "command": command,
        "complete": complete,
        "libraries": {match.library: match.version for match, _ in played},
        "vocabularies": list(dict.fromkeys(match.vocabulary for match, _ in played)),
        "verdicts": verdicts,
        "defects": defects,
        "growth": sorted(grown, key=lambda row: -(row["exponent"] or 9.0)),
        "growth_scope": growth_scope(growth),
        "measured": measured,
        "speeds": {
            table.title: {
                line.name: {
                    "mib_per_second": speed.best, "ratio": speed.ratio and speed.ratio.value,
                }
                for line in table.lines
                if (speed := line.speeds.get((table.sizes[-1], "fresh")))
            }
            for table in tables(bench)
        },
    }  # fmt: skip


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
    known = sum(bool(one["expected"]) for one in survey["defects"])
    also = f", and {known} that {'is' if known == 1 else 'are'} known" if known else ""
    said = (
        f"{plural(len(survey['libraries']), 'library', 'libraries')} on "
        f"{plural(len(survey['vocabularies']), 'vocabulary', 'vocabularies')}. "
        f"{survey['summary']}; {plural(len(survey['defects']) - known, 'difference')}{also}."
    )
    cut_off = "" if survey["complete"] else "Interrupted: what had been run by then."
    again = Code(survey["command"], "the command that repeats this survey")
    grown = Table(
        "Table of growth",
        ("Library", "Vocabulary", "Family", "Growth", Column("Input of n bytes", page=True)),
        [
            (
                _versioned(one), one["vocabulary"], one["family"], _growth(one),
                Span(one["expression"], "code"),
            )
            for one in survey["growth"]
        ],
        style="field-table",
    )  # fmt: skip
    measured = [
        Table(
            f"Speed on {title}",
            ("Library", *numbers("MiB/s", "×")),
            [(name, rate(one["mib_per_second"]), rate(one["ratio"])) for name, one in rows.items()],
            f"{title}: MiB/s of text not seen before",
            "field-table",
        )
        for title, rows in survey["speeds"].items()
    ]
    return Page(
        "tokgate: the survey",
        "survey of the field",
        [
            studies.banner("Who agrees with the reference", said, cut_off=cut_off),
            _agreement(survey),
            Section("Differences", [_differences(survey["defects"])], "differences"),
            Section("Growth", [Paragraph(survey["growth_scope"]), grown], "growth"),
            Section("Speed", measured or [Paragraph("Not measured.", "empty")], "speed"),
            Section("This survey", [again, Paragraph(survey["time"], "quiet")], "run"),
        ],
        skip="tables",
    )


def _agreement(survey: Document) -> Section:
    rows: list[list[Inline | Cell]] = []
    for library, row in survey["verdicts"].items():
        version = survey["libraries"][library]
        cells: list[Inline | Cell] = [_versioned({"library": library, "version": version})]
        for name in survey["vocabularies"]:
            if (one := row.get(name)) is None:
                cells.append(Cell("reference", "not-run", hint="is the reference"))
            else:
                known = one["kind"] != "not-run"
                detail = Span(one["detail"], "quiet block-line", page=True) if known else None
                link = Span(one["text"], href=one["link"])
                cells.append(Cell((link, detail), one["kind"], hint=one["detail"]))
        rows.append(cells)
    how = (
        "Each library in worker processes of its own, on generated and hostile inputs, against the "
        "library that defines the vocabulary's format. Each field leads to the whole run."
    )
    columns, style = ("Library", *survey["vocabularies"]), "field-table agreement"
    table = Table("Table of agreement", columns, rows, style=style)
    return Section("Agreement", [Paragraph(how, "quiet", page=True), table], "agreement")


def _versioned(one: Document) -> Inline:
    return (one["library"], Span(f" {one['version']}", "quiet"))


def _differences(defects: Sequence[Document]) -> Table:
    rows = []
    for one in defects:
        known = f"; known: {one['expected']}" if one["expected"] else ""
        seen = f" {one['check']}, seen {plural(one['seen'], 'time')}{known}"
        unfinished = None if one["minimal"] else Span(" not minimised to the end", "quiet")
        rows.append(
            (
                _versioned(one), one["vocabulary"],
                (one["sentence"], Span(seen, "quiet block-line")),
                (Span(one["input"], "code"), unfinished),
                Span("repro.py", href=one["reproducer"]) if one["reproducer"] else "–",
            )
        )  # fmt: skip
    columns = "Library", "Vocabulary", "What", "Smallest input", Column("Reproducer", page=True)
    none = "None was found in what was compared; the table above says how much that was."
    return Table("Table of differences", columns, rows, style="field-table", empty=none)


def _growth(one: Document) -> str:
    """A measurement of growth, in words."""
    if one["exponent"] is None:
        return str(one["note"] or one["verdict"])
    between = interval(one["low"], one["high"])
    sure = f" ({between})" if between else ""
    return f"{one['law'] or one['verdict']}, exponent {one['exponent']:.2f}{sure}"
