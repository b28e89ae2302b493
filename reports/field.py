"""The conformance page: what the runs of the field came to, as data and as blocks."""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from harness.events import UNEXAMINED
from impls.explaining import literal
from reports.bench import tables
from reports.blocks import (
    Banner,
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.events import Measured
    from reports.bench import BenchRecord
    from reports.blocks import Inline
    from reports.record import RunRecord

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


@dataclass(frozen=True, slots=True)
class Verdict:
    """A field of the first table. kind: one of :data:`KINDS`."""

    kind: str
    text: str
    detail: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Defect:
    """A row of the second: one signature of one library on one vocabulary."""

    library: str
    version: str
    vocabulary: str
    reference: str
    check: str
    bucket: str
    seen: int
    sentence: str
    input: str
    input_b64: str
    minimal: bool
    expected: str
    reproducer: str


@dataclass(frozen=True, slots=True)
class Growth:
    """A row of the third: a family on which a library is not linear, or fails."""

    library: str
    version: str
    vocabulary: str
    family: str
    verdict: str
    law: str
    exponent: float | None
    low: float | None
    high: float | None
    expression: str
    note: str


@dataclass(frozen=True, slots=True)
class Conformance:
    """All of it, as ``field.json`` has it. verdicts: by library and vocabulary."""

    time: str
    command: str
    complete: bool
    libraries: dict[str, str]
    vocabularies: list[str]
    verdicts: dict[str, dict[str, Verdict]]
    defects: list[Defect]
    growth: list[Growth]
    growth_scope: str
    measured: dict[str, int]
    speeds: dict[str, dict[str, dict[str, float | None]]]

    @property
    def summary(self) -> str:
        """How many matches there are of each kind: ``3 matches: 2 agree, 1 broke off``."""
        found = Counter(one.kind for row in self.verdicts.values() for one in row.values())
        counts = ", ".join(f"{found[kind]} {words}" for kind, words in KINDS.items() if found[kind])
        return f"{plural(found.total(), 'match', 'matches')}: {counts}"


def conformance(
    played: Sequence[Played], bench: BenchRecord | None, time: str, command: str, *, complete: bool
) -> Conformance:
    """Fold the runs; libraries and vocabularies in the order of playing."""
    verdicts: dict[str, dict[str, Verdict]] = {}
    for one in played:
        verdicts.setdefault(one.library, {})[one.vocabulary] = verdict(one)
    return Conformance(
        time=time,
        command=command,
        complete=complete,
        libraries={one.library: one.version for one in played},
        vocabularies=list(dict.fromkeys(one.vocabulary for one in played)),
        verdicts=verdicts,
        defects=[row for one in played for row in defects(one)],
        growth=[row for one in played for row in growth(one)],
        growth_scope=growth_scope(played),
        measured={
            one.library: sum(
                len(other.record.measured)
                for other in played
                if other.library == one.library and other.record is not None
            )
            for one in played
        },
        speeds=speeds(bench) if bench is not None else {},
    )


def verdict(one: Played) -> Verdict:
    """Whether a library agreed with the reference on a vocabulary."""
    record = one.record
    if record is None:
        return Verdict("not-run", "–", one.note)
    link = f"{one.folder}/report.html"
    failed = [f.message for f in record.failures if f.implementation == one.library]
    if failed:
        return Verdict("failed", "does not load", failed[0].split("\n", 1)[0], link)
    own = [b for b in record.buckets if one.library in b.example.culprits]
    unexpected = [bucket for bucket in own if not bucket.expected]
    compared = f"{record.comparisons:,} comparisons with {one.reference}"
    broken = broke_off(record, one.library)
    if unexpected:
        number = plural(len(unexpected), "difference")
        return Verdict("differs", number, f"{compared}; {broken}" if broken else compared, link)
    if broken:
        return Verdict("broke-off", KINDS["broke-off"], f"{broken}; {compared}", link)
    if record.finished is not None and record.finished.verdict == UNEXAMINED:
        reason = "; ".join(record.finished.reasons)
        return Verdict("not-examined", KINDS["not-examined"], reason, link)
    if own:
        return Verdict("by-design", "as known", f"{len(own)} known, {compared}", link)
    if not record.comparisons:
        return Verdict("not-run", "–", "nothing was compared", link)
    return Verdict("agrees", "agrees", compared, link)


def broke_off(record: RunRecord, library: str) -> str:
    """Why a match, or the library in it, did not come to the end; empty where it did."""
    withdrawn = [one.line for one in record.withdrawn if one.implementation == library]
    if withdrawn:
        return withdrawn[0]
    if record.complete:
        return ""
    said = record.finished.reasons if record.finished else []
    return said[0] if said else "the record ends before the run did"


def defects(one: Played) -> list[Defect]:
    """The differences of a library on a vocabulary, the worst first."""
    rows = []
    for bucket in one.record.buckets if one.record is not None else ():
        found = bucket.example
        if one.library not in found.culprits:
            continue
        data = base64.b64decode(found.input_b64)
        more = f".. ({len(data):,} bytes)" if len(data) > LONGEST_INPUT else ""
        rows.append(
            Defect(
                one.library,
                one.version,
                one.vocabulary,
                one.reference,
                found.check,
                bucket.name,
                bucket.count,
                found.difference,
                literal(data[:LONGEST_INPUT]) + more,
                found.input_b64,
                found.minimal,
                (bucket.reason or "") if bucket.expected else "",
                f"{one.folder}/{found.reproducer}" if found.reproducer else "",
            )
        )
    return rows


def growth(one: Played) -> list[Growth]:
    """Families on which a library is superlinear or fails, the steepest first."""
    told = ("family", "verdict", "law", "exponent", "low", "high", "expression", "note")
    rows = [
        Growth(one.library, one.version, one.vocabulary, *(getattr(m, name) for name in told))
        for m in measured(one)
        if m.verdict in BAD_GROWTH
    ]
    return sorted(rows, key=lambda row: -(row.exponent or 9.0))


def measured(one: Played) -> list[Measured]:
    """The growth of a library on a vocabulary, by all measures."""
    every = one.record.measured if one.record is not None else ()
    return [m for m in every if m.implementation == one.library]


def growth_scope(played: Sequence[Played]) -> str:
    """What the table of growth is a statement about: how much was measured, and how much was not.

    A cell is a library on a family of inputs of a vocabulary.
    """
    verdicts = [m.verdict for one in played for m in measured(one) if m.measure == "time"]
    left_out = sum(
        len(families.left_out)
        for one in played
        if one.record is not None
        for families in one.record.families
    )
    unreached = f" There was no time for {plural(left_out, 'more cell')}." if left_out else ""
    if not verdicts:
        return f"Growth was not measured.{unreached}"
    grown = sum(verdict in BAD_GROWTH for verdict in verdicts)
    faulty = f"{grown:,} superlinear or failed" if grown else "none superlinear or failed"
    counts = f"{plural(len(verdicts), 'cell')} (a library on a family) measured: {faulty}"
    return f"{counts}, {verdicts.count('inconclusive'):,} inconclusive.{unreached}"


def speeds(bench: BenchRecord) -> dict[str, dict[str, dict[str, float | None]]]:
    """By text and library: MiB/s of fresh text at the largest size, and times the base's."""
    found: dict[str, dict[str, dict[str, float | None]]] = {}
    for table in tables(bench):
        for line in table.lines:
            speed = line.fields[-1].speeds.get("fresh") if line.fields else None
            if speed is not None:
                row = {"mib_per_second": speed.best, "ratio": speed.ratio}
                found.setdefault(table.title, {})[line.name] = row
    return found


def to_json(survey: Conformance) -> str:
    """``field.json``."""
    whole = {"schema": SCHEMA, "summary": survey.summary, **asdict(survey)}
    return json.dumps(whole, indent=1) + "\n"


def files(survey: Conformance) -> list[tuple[str, str]]:
    """``field.json``, ``field.md`` and ``field.html``, by their names."""
    shown = page(survey)
    return [
        ("field.json", to_json(survey)),
        ("field.md", markdown.render(shown.blocks)),
        ("field.html", html.render(shown)),
    ]


def shown_growth(row: Growth) -> str:
    """``n^2, exponent 1.98 (1.90 to 2.06)``, or how it failed."""
    if row.exponent is None:
        return row.note or row.verdict
    between = interval(row.low, row.high)
    sure = f" ({between})" if between else ""
    return f"{row.law or row.verdict}, exponent {row.exponent:.2f}{sure}"


def page(survey: Conformance) -> Page:
    """``field.html``, self-contained but for links to the runs beside it; ``field.md`` alike."""
    return Page(
        "tokgate: the survey",
        "survey of the field",
        [
            _banner(survey),
            _agreement(survey),
            _differences(survey.defects),
            _growth(survey),
            _speed(survey),
            Section(
                "This survey",
                [
                    Code(survey.command, "the command that repeats this survey"),
                    Paragraph(survey.time, "quiet"),
                ],
                "run",
            ),
        ],
        skip="tables",
    )


def _banner(survey: Conformance) -> Banner:
    known = sum(bool(one.expected) for one in survey.defects)
    also = f", and {known} that {'is' if known == 1 else 'are'} known" if known else ""
    return Banner(
        "Who agrees with the reference",
        "≡" if survey.complete else "!",
        "neutral" if survey.complete else "incomplete",
        f"{plural(len(survey.libraries), 'library', 'libraries')} on "
        f"{plural(len(survey.vocabularies), 'vocabulary', 'vocabularies')}. {survey.summary}; "
        f"{plural(len(survey.defects) - known, 'difference')}{also}.",
        "" if survey.complete else "Interrupted: what had been run by then.",
    )


def _agreement(survey: Conformance) -> Section:
    rows: list[list[Inline | Cell]] = []
    for library, row in survey.verdicts.items():
        cells = [_verdict_cell(row.get(name)) for name in survey.vocabularies]
        rows.append([_versioned(library, survey.libraries[library]), *cells])
    how = (
        "Each library in worker processes of its own, on generated and hostile inputs, against the "
        "library that defines the vocabulary's format. Each field leads to the whole run."
    )
    table = Table(
        "Table of agreement", ("Library", *survey.vocabularies), rows, style="field-table agreement"
    )
    return Section("Agreement", [Paragraph(how, "quiet", page=True), table], "agreement")


def _verdict_cell(one: Verdict | None) -> Cell:
    if one is None:
        return Cell("reference", "not-run", hint="is the reference")
    detail = Span(one.detail, "quiet block-line", page=True) if one.kind != "not-run" else None
    return Cell((Span(one.text, href=one.link), detail), one.kind, hint=one.detail)


def _versioned(library: str, version: str) -> Inline:
    return (library, Span(f" {version}", "quiet"))


def _differences(defects: Sequence[Defect]) -> Section:
    rows = []
    for one in defects:
        known = f"; known: {one.expected}" if one.expected else ""
        seen = f"{one.check}, seen {plural(one.seen, 'time')}{known}"
        unfinished = None if one.minimal else Span(" not minimised to the end", "quiet")
        rows.append(
            (
                _versioned(one.library, one.version),
                one.vocabulary,
                (one.sentence, Span(f" {seen}", "quiet block-line")),
                (Span(one.input, "code"), unfinished),
                Span("repro.py", href=one.reproducer) if one.reproducer else "–",
            )
        )
    columns = (
        "Library", "Vocabulary", "What", "Smallest input", Column("Reproducer", page=True),
    )  # fmt: skip
    none = "None was found in what was compared; the table above says how much that was."
    table = Table("Table of differences", columns, rows, style="field-table", empty=none)
    return Section("Differences", [table], "differences")


def _growth(survey: Conformance) -> Section:
    table = Table(
        "Table of growth",
        ("Library", "Vocabulary", "Family", "Growth", Column("Input of n bytes", page=True)),
        [
            (
                _versioned(one.library, one.version), one.vocabulary, one.family,
                shown_growth(one), Span(one.expression, "code"),
            )
            for one in survey.growth
        ],
        style="field-table",
    )  # fmt: skip
    scope = Paragraph(survey.growth_scope)
    return Section("Growth", [scope, table], "growth")


def _speed(survey: Conformance) -> Section:
    measured_on = [
        Table(
            f"Speed on {title}",
            ("Library", *numbers("MiB/s", "×")),
            [
                (name, rate(one["mib_per_second"] or 0), rate(one["ratio"]))
                for name, one in rows.items()
            ],
            f"{title}: MiB/s of text not seen before",
            "field-table",
        )
        for title, rows in survey.speeds.items()
    ]
    return Section("Speed", measured_on or [Paragraph("Not measured.", "empty")], "speed")
