"""The conformance page: what the runs of the field came to, as data and as blocks.

What a survey comes to is :func:`document`, which is ``field.json``; its page shows nothing else.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from harness.events import UNEXAMINED
from impls.explaining import literal
from reports.blocks import (
    Cell,
    Code,
    Column,
    Page,
    Paragraph,
    Section,
    Span,
    Table,
    html,
    markdown,
    numbers,
)
from reports.blocks.units import interval, plural, rate
from reports.record import BAD_GROWTH
from reports.speeds import tables
from reports.studies import banner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.events import Event, Measured
    from reports.blocks import Inline
    from reports.record import Bucket, RunRecord

    Document = Mapping[str, Any]

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


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one library on one vocabulary. folder: of its run, relative to the page.

    record: None where the library does not run the vocabulary, for the reason in ``note``.
    """

    library: str
    version: str
    homepage: str
    vocabulary: str
    reference: str
    folder: str
    record: RunRecord | None
    note: str = ""

    @property
    def buckets(self) -> list[Bucket]:
        """Its differences, the worst first."""
        found = self.record.buckets if self.record else ()
        return [one for one in found if self.library in one.example.culprits]

    @property
    def measured(self) -> list[Measured]:
        """Its growth, by all measures."""
        every = self.record.measured if self.record else ()
        return [one for one in every if one.implementation == self.library]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A field of the first table. kind: one of :data:`KINDS`."""

    kind: str
    text: str
    detail: str = ""
    link: str = ""


def verdict(one: Played) -> Verdict:
    """Whether a library agreed with the reference on a vocabulary."""
    record = one.record
    if record is None:
        return Verdict("not-run", "–", one.note)
    failed = [f.message for f in record.failures if f.implementation == one.library]
    unexpected = sum(not bucket.expected for bucket in one.buckets)
    compared = f"{record.comparisons:,} comparisons with {one.reference}"
    broken = broke_off(record, one.library)
    if failed:
        kind, text, detail = "failed", "does not load", failed[0].split("\n", 1)[0]
    elif unexpected:
        detail = f"{compared}; {broken}" if broken else compared
        kind, text = "differs", plural(unexpected, "difference")
    elif broken:
        kind, text, detail = "broke-off", KINDS["broke-off"], f"{broken}; {compared}"
    elif record.finished is not None and record.finished.verdict == UNEXAMINED:
        kind, text, detail = "not-examined", KINDS["not-examined"], "; ".join(record.reasons)
    elif one.buckets:
        kind, text, detail = "by-design", "as known", f"{len(one.buckets)} known, {compared}"
    elif not record.comparisons:
        kind, text, detail = "not-run", "–", "nothing was compared"
    else:
        kind, text, detail = "agrees", "agrees", compared
    return Verdict(kind, text, detail, f"{one.folder}/report.html")


def broke_off(record: RunRecord, library: str) -> str:
    """Why a match, or the library in it, did not come to the end; empty where it did."""
    withdrawn = [one.line for one in record.withdrawn if one.implementation == library]
    ended = [] if record.complete else [*record.reasons, "the record ends before the run did"]
    return next(iter([*withdrawn, *ended]), "")


def document(
    played: Sequence[Played], bench: Sequence[Event], time: str, command: str, *, complete: bool
) -> Document:
    """``field.json``; libraries and vocabularies are in the order of playing.

    bench: the events of a measurement of speed, if there was any.
    """
    verdicts: dict[str, dict[str, dict[str, Any]]] = {}
    measured: Counter[str] = Counter()
    for one in played:
        verdicts.setdefault(one.library, {})[one.vocabulary] = asdict(verdict(one))
        measured[one.library] += len(one.measured)
    kinds = Counter(one["kind"] for row in verdicts.values() for one in row.values())
    counts = ", ".join(f"{kinds[kind]} {words}" for kind, words in KINDS.items() if kinds[kind])
    grown = [
        {**_of(one), **{name: getattr(m, name) for name in GROWN}}
        for one in played
        for m in one.measured
        if m.verdict in BAD_GROWTH
    ]
    return {
        "schema": SCHEMA,
        "summary": f"{plural(kinds.total(), 'match', 'matches')}: {counts}",
        "time": time,
        "command": command,
        "complete": complete,
        "libraries": {one.library: one.version for one in played},
        "vocabularies": list(dict.fromkeys(one.vocabulary for one in played)),
        "verdicts": verdicts,
        "defects": [_defect(one, bucket) for one in played for bucket in one.buckets],
        "growth": sorted(grown, key=lambda row: -(row["exponent"] or 9.0)),
        "growth_scope": growth_scope(played),
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


def _of(one: Played) -> dict[str, Any]:
    return {"library": one.library, "version": one.version, "vocabulary": one.vocabulary}


def _defect(one: Played, bucket: Bucket) -> dict[str, Any]:
    found = bucket.example
    data = base64.b64decode(found.input_b64)
    more = f".. ({len(data):,} bytes)" if len(data) > LONGEST_INPUT else ""
    return {
        **_of(one),
        "reference": one.reference,
        "check": found.check,
        "bucket": bucket.name,
        "seen": bucket.count,
        "sentence": found.difference,
        "input": literal(data[:LONGEST_INPUT]) + more,
        "input_b64": found.input_b64,
        "minimal": found.minimal,
        "expected": bucket.reason or "" if bucket.expected else "",
        "reproducer": f"{one.folder}/{found.reproducer}" if found.reproducer else "",
    }


def growth_scope(played: Sequence[Played]) -> str:
    """What the table of growth is a statement about: how much was measured, and how much was not.

    A cell is a library on a family of inputs of a vocabulary.
    """
    verdicts = [m.verdict for one in played for m in one.measured if m.measure == "time"]
    families = [family for one in played if one.record for family in one.record.families]
    left_out = sum(len(one.left_out) for one in families)
    unreached = f" There was no time for {plural(left_out, 'more cell')}." if left_out else ""
    if not verdicts:
        return f"Growth was not measured.{unreached}"
    grown = sum(verdict in BAD_GROWTH for verdict in verdicts)
    faulty = f"{grown:,} superlinear or failed" if grown else "none superlinear or failed"
    counts = f"{plural(len(verdicts), 'cell')} (a library on a family) measured: {faulty}"
    return f"{counts}, {verdicts.count('inconclusive'):,} inconclusive.{unreached}"


def files(survey: Document) -> list[tuple[str, str]]:
    """``field.json``, ``field.md`` and ``field.html``, by their names."""
    shown = page(survey)
    return [
        ("field.json", json.dumps(survey, indent=1) + "\n"),
        ("field.md", markdown.render(shown.blocks)),
        ("field.html", html.render(shown)),
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
    return Page(
        "tokgate: the survey",
        "survey of the field",
        [
            banner("Who agrees with the reference", said, cut_off=cut_off),
            _agreement(survey),
            _differences(survey["defects"]),
            _growth(survey),
            _speed(survey["speeds"]),
            Section("This survey", [again, Paragraph(survey["time"], "quiet")], "run"),
        ],
        skip="tables",
    )


def _agreement(survey: Document) -> Section:
    rows: list[list[Inline | Cell]] = []
    for library, row in survey["verdicts"].items():
        cells: list[Inline | Cell] = [_versioned(library, survey["libraries"][library])]
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


def _versioned(library: str, version: str) -> Inline:
    return (library, Span(f" {version}", "quiet"))


def _differences(defects: Sequence[Document]) -> Section:
    rows = []
    for one in defects:
        known = f"; known: {one['expected']}" if one["expected"] else ""
        seen = f" {one['check']}, seen {plural(one['seen'], 'time')}{known}"
        unfinished = None if one["minimal"] else Span(" not minimised to the end", "quiet")
        rows.append(
            (
                _versioned(one["library"], one["version"]), one["vocabulary"],
                (one["sentence"], Span(seen, "quiet block-line")),
                (Span(one["input"], "code"), unfinished),
                Span("repro.py", href=one["reproducer"]) if one["reproducer"] else "–",
            )
        )  # fmt: skip
    columns = (
        "Library", "Vocabulary", "What", "Smallest input", Column("Reproducer", page=True),
    )  # fmt: skip
    none = "None was found in what was compared; the table above says how much that was."
    table = Table("Table of differences", columns, rows, style="field-table", empty=none)
    return Section("Differences", [table], "differences")


def _growth(survey: Document) -> Section:
    rows = []
    for one in survey["growth"]:
        said = one["note"] or one["verdict"]
        if one["exponent"] is not None:
            between = interval(one["low"], one["high"])
            sure = f" ({between})" if between else ""
            said = f"{one['law'] or one['verdict']}, exponent {one['exponent']:.2f}{sure}"
        who, expression = (
            _versioned(one["library"], one["version"]),
            Span(one["expression"], "code"),
        )
        rows.append((who, one["vocabulary"], one["family"], said, expression))
    columns = ("Library", "Vocabulary", "Family", "Growth", Column("Input of n bytes", page=True))
    table = Table("Table of growth", columns, rows, style="field-table")
    return Section("Growth", [Paragraph(survey["growth_scope"]), table], "growth")


def _speed(speeds: Mapping[str, Mapping[str, Document]]) -> Section:
    measured = [
        Table(
            f"Speed on {title}",
            ("Library", *numbers("MiB/s", "×")),
            [(name, rate(one["mib_per_second"]), rate(one["ratio"])) for name, one in rows.items()],
            f"{title}: MiB/s of text not seen before",
            "field-table",
        )
        for title, rows in speeds.items()
    ]
    return Section("Speed", measured or [Paragraph("Not measured.", "empty")], "speed")
