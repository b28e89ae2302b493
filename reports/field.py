"""The conformance page: what the runs of the field came to, as data, Markdown and HTML."""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from harness.events import UNEXAMINED
from impls.explaining import literal
from reports.bench import BenchRecord, shown_ratio, shown_speed, tables
from reports.blocks.html import assets, environment
from reports.markdown import code, escape
from reports.words import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        number = f"{len(unexpected)} difference{'' if len(unexpected) == 1 else 's'}"
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
    if one.record is None:
        return []
    rows = []
    for bucket in one.record.buckets:
        found = bucket.example
        if one.library not in found.culprits:
            continue
        data = base64.b64decode(found.input_b64)
        cut = literal(data[:LONGEST_INPUT]) + (
            f".. ({len(data):,} bytes)" if len(data) > LONGEST_INPUT else ""
        )
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
                cut,
                found.input_b64,
                found.minimal,
                (bucket.reason or "") if bucket.expected else "",
                f"{one.folder}/{found.reproducer}" if found.reproducer else "",
            )
        )
    return rows


def growth(one: Played) -> list[Growth]:
    """Families on which a library is superlinear or fails, the steepest first."""
    if one.record is None:
        return []
    rows = [
        Growth(
            one.library,
            one.version,
            one.vocabulary,
            m.family,
            m.verdict,
            m.law,
            m.exponent,
            m.low,
            m.high,
            m.expression,
            m.note,
        )
        for m in one.record.measured
        if m.implementation == one.library and m.verdict in {"superlinear", "failed"}
    ]
    return sorted(rows, key=lambda row: -(row.exponent or 9.0))


def growth_scope(played: Sequence[Played]) -> str:
    """What the table of growth is a statement about: how much was measured, and how much was not.

    A cell is a library on a family of inputs of a vocabulary.
    """
    cells = [
        m
        for one in played
        if one.record is not None
        for m in one.record.measured
        if m.implementation == one.library and m.measure == "time"
    ]
    left_out = sum(
        len(families.left_out)
        for one in played
        if one.record is not None
        for families in one.record.families
    )
    unreached = f" There was no time for {plural(left_out, 'more cell')}." if left_out else ""
    if not cells:
        return f"Growth was not measured.{unreached}"
    grown = sum(m.verdict in {"superlinear", "failed"} for m in cells)
    unclear = sum(m.verdict == "inconclusive" for m in cells)
    faulty = f"{grown:,} superlinear or failed" if grown else "none superlinear or failed"
    counts = f"{plural(len(cells), 'cell')} (a library on a family) measured: {faulty}"
    return f"{counts}, {unclear:,} inconclusive.{unreached}"


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


def render_json(page: Conformance) -> str:
    """``field.json``."""
    return json.dumps({"schema": SCHEMA, "summary": page.summary, **asdict(page)}, indent=1) + "\n"


def render_markdown(page: Conformance) -> str:
    """``field.md``: the tables, for a README."""
    lines = ["# The field", "", f"{page.summary}.", ""]
    lines += ["## Who agrees with the reference", ""]
    names = page.vocabularies
    lines += [f"| library | {' | '.join(map(escape, names))} |", "|---" * (len(names) + 1) + "|"]
    for library, row in page.verdicts.items():
        cells = [escape(row[name].text) if name in row else "" for name in names]
        lines.append(f"| {escape(f'{library} {page.libraries[library]}')} | {' | '.join(cells)} |")
    lines += ["", "## Differences", ""]
    lines += ["| library | vocabulary | what | smallest input |", "|---|---|---|---|"]
    for one in page.defects:
        if not one.expected:
            name = escape(f"{one.library} {one.version}")
            what = escape(one.sentence)
            lines.append(f"| {name} | {escape(one.vocabulary)} | {what} | {code(one.input)} |")
    lines += ["", "## Growth", "", escape(page.growth_scope)]
    if page.growth:
        lines += ["", "| library | vocabulary | family | growth |"]
        lines.append("|---|---|---|---|")
        for grown in page.growth:
            name = escape(f"{grown.library} {grown.version}")
            place = f"{escape(grown.vocabulary)} | {escape(grown.family)}"
            lines.append(f"| {name} | {place} | {escape(shown_growth(grown))} |")
    for title, rows in page.speeds.items():
        lines += [
            "",
            f"## Speed: {escape(title)}",
            "",
            "| library | MiB/s | ratio |",
            "|---|---|---|",
        ]
        for library, speed in rows.items():
            figures = f"{shown_speed(speed['mib_per_second'] or 0)} | {shown_ratio(speed['ratio'])}"
            lines.append(f"| {escape(library)} | {figures} |")
    return "\n".join(lines) + "\n"


def shown_growth(row: Growth) -> str:
    """``n^2, exponent 1.98 (1.90 to 2.06)``, or how it failed."""
    if row.exponent is None:
        return row.note or row.verdict
    interval = "" if row.low is None or row.high is None else f" ({row.low:.2f} to {row.high:.2f})"
    return f"{row.law or row.verdict}, exponent {row.exponent:.2f}{interval}"


def render_html(page: Conformance) -> str:
    """``field.html``: self-contained but for links to the runs beside it."""
    return (
        environment()
        .get_template("field.html.j2")
        .render(
            page=page,
            shown_growth=shown_growth,
            shown_speed=shown_speed,
            shown_ratio=shown_ratio,
            **assets(),
        )
    )
