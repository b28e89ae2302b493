"""``report.html``: the record of a run as a page."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from reports import campaigns, cluster, findings, forced, growth, matrix, standings, texts, trends
from reports.blocks import (
    Banner,
    Cell,
    Code,
    Details,
    Facts,
    Items,
    Page,
    Paragraph,
    Section,
    Span,
    Table,
    html,
    numbers,
)
from reports.blocks.units import plural
from reports.record import FAILING_EXPECTATIONS, Verdict
from reports.words import reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from harness.events import ExpectationJudged, VocabularyLoaded
    from reports.blocks import Block, Inline
    from reports.histories import FindingHistory
    from reports.record import RunRecord
    from reports.trends import Trend

LINES_SHOWN = 20
"""Reasons and notes below the verdict."""
MESSAGE_SHOWN = 600
"""Characters of why an implementation failed to start."""
PROBLEMS_SHOWN = 50
"""Problems of one vocabulary."""
FINGERPRINT_SHOWN = 12
"""Digits of a fingerprint."""

_VERDICTS = {
    Verdict.PASS: ("PASSED", "✓"),
    Verdict.FAIL: ("FAILED", "✗"),
    Verdict.NOT_EXAMINED: ("NOT EXAMINED", "?"),
    Verdict.INCOMPLETE: ("INCOMPLETE", "!"),
}

_BADGES = {
    "stale": ("✗ stale", "unexpected"),
    "expired": ("✗ expired", "unexpected"),
    "shown": ("≈ shown", "expected"),
    "not-exercised": ("· not tested", "none"),
}
"""What is said of an entry's status, and as what it looks."""


def render(
    record: RunRecord,
    series: Sequence[Trend] = (),
    folder: Path | None = None,
    known: Mapping[str, FindingHistory] | None = None,
) -> str:
    """The page for a record, to be written in UTF-8.

    series: of all runs, for trends. folder: that of the run, absolute, which commands name; without
    it they are to be run in it. known: since when findings are, by their ids.
    """
    title, icon = _VERDICTS[record.verdict]
    carded = findings.chosen(record.buckets, findings.MAX_CARDS)
    places = {bucket.name: place for place, bucket in enumerate(carded, start=1)}
    blocks: list[Block] = [
        _verdict(record),
        _numbers(record),
        *_failures(record),
        *standings.sections(record, places),
        *campaigns.sections(record.campaign),
        findings.section(record, carded, folder, known or {}),
        *texts.sections(record.texts),
        *matrix.sections(record, places),
        *growth.sections(record),
        *trends.sections(series),
        *forced.sections(record),
        *_expectations(record),
        *cluster.sections(record.cluster),
        _inputs(record),
        Section("This run", list(_run(record, folder)), "run"),
    ]
    brand = "campaign report" if record.campaign else "run report"
    return html.render(Page(f"{icon} tokgate: {title}", brand, blocks))


def _verdict(record: RunRecord) -> Banner:
    """What the gate said, and what the run said of it, but for what the findings say below."""
    title, icon = _VERDICTS[record.verdict]
    because = reason(record)
    counted = plural(len(record.unexpected), "unexpected finding")
    told = [line for line in record.reasons if not line.startswith(counted) and line != because]
    notes = list(record.notes[:LINES_SHOWN])
    if len(record.notes) > LINES_SHOWN:
        notes.append(f"and {len(record.notes) - LINES_SHOWN} more notes in summary.json")
    stamp = "Incomplete: what is missing below may only not have been reached."
    lists = [Items(told[:LINES_SHOWN], ""), Items(notes, "quiet")]
    return Banner(
        title, icon, record.verdict.value, because,
        stamp if record.verdict is Verdict.INCOMPLETE else "",
        [one for one in lists if one.entries],
    )  # fmt: skip


def _numbers(record: RunRecord) -> Facts:
    judged, everybody = len(record.judged), len(record.implementations)
    unexpected = len(record.unexpected)
    pairs: list[tuple[str, Inline]] = [
        ("Unexpected", Span(unexpected, "bad") if unexpected else 0),
        ("Expected", len(record.buckets) - unexpected),
        ("Cases", record.cases),
        ("Comparisons", record.comparisons),
        ("Implementations judged", f"{judged} of {everybody}" if judged < everybody else judged),
        ("Vocabularies", len(record.vocabularies)),
        ("Time", "cut off" if record.seconds is None else f"{record.seconds:.1f} s"),
    ]
    return Facts(pairs, "numbers")


def _failures(record: RunRecord) -> Iterator[Section]:
    if record.failures:
        lines = [
            (Span(one.implementation, "strong"), f" on {one.vocabulary}: ",
             Span(one.message[:MESSAGE_SHOWN], "iso"))
            for one in record.failures
        ]  # fmt: skip
        yield Section("Failed to start", [Items(lines)], "failures", nav="", style="panel warn")


def _expectations(record: RunRecord) -> Iterator[Section]:
    """The entries by what a reader does about them; those of who takes no part are left out."""
    present = set(record.implementations)
    about = [e for e in record.expectations if present.issuperset(e.implementations)]
    failing = [e for e in record.expectations if e.status in FAILING_EXPECTATIONS]
    shown = [e for e in about if e.status == "shown"]
    idle = [e for e in about if e.status == "not-exercised"]
    if not (failing or shown or idle):
        return
    quiet = Paragraph("No entry is stale or expired.", "quiet")
    blocks: list[Block] = [_entries(failing) if failing else quiet]
    if shown:
        title = f"{plural(len(shown), 'known divergence')} shown"
        blocks.append(Details(title, [_entries(shown)]))
    if idle:
        title = f"{plural(len(idle), 'entry', 'entries')} not tested"
        blocks.append(Details(title, [_entries(idle)]))
    yield Section("Expectations", blocks, "expectations")


def _entries(entries: Sequence[ExpectationJudged]) -> Table:
    rows: list[list[Inline]] = []
    for one in entries:
        said, style = _BADGES.get(one.status, (one.status, "none"))
        label = ("link", Span(f" for {one.bucket}", "sr"))
        address = html.link(one.link or "")
        link = (" ", Span(label, href=address)) if address else None
        status, reason = Span(said, f"badge {style}"), (Span(one.reason, "iso"), link)
        rows.append([status, Span(one.bucket, "code"), ", ".join(one.implementations), reason])
    return Table(
        "Table of expectations", ("Status", "Signature", "Implementations", "Reason"), rows,
        "What became of entries of the expectations file", header=1,
    )  # fmt: skip


def _inputs(record: RunRecord) -> Section:
    kinds = ("cases", "bytes", "comparisons", "violations")
    generators: list[list[Inline]] = [
        [name, *(sums[kind] for kind in kinds)] for name, sums in record.coverage.generators.items()
    ]
    blocks: list[Block] = [
        Table(
            "Cases by generator",
            ("Generator", *numbers(*(kind.capitalize() for kind in kinds))),
            generators,
            "Cases by generator, over all contracts",
        )
        if generators
        else Paragraph("No batch of cases was finished.", "empty")
    ]
    if record.vocabularies:
        vocabularies: list[list[Inline | Cell]] = [
            [one.id, one.format, one.algorithm, one.tokens, _fingerprint(one), _problems(one)]
            for one in record.vocabularies
        ]
        [tokens] = numbers("Tokens")
        table = Table(
            "Vocabularies",
            ("Vocabulary", "Format", "Algorithm", tokens, "Fingerprint", "Preflight"),
            vocabularies,
            "Vocabularies and what the preflight says of them",
        )
        blocks.append(table)
    return Section("Inputs", blocks, "inputs")


def _fingerprint(vocabulary: VocabularyLoaded) -> Span:
    return Span(vocabulary.fingerprint[:FINGERPRINT_SHOWN], "code")


def _problems(vocabulary: VocabularyLoaded) -> Cell:
    problems = vocabulary.problems
    if len(problems) < 2:
        return Cell(problems[0] if problems else "proper")
    listed = Items(problems[:PROBLEMS_SHOWN])
    return Cell(blocks=[Details(plural(len(problems), "problem"), [listed])])


def _run(record: RunRecord, folder: Path | None) -> Iterator[Block]:
    started = record.started
    if started is None:
        yield Paragraph("The record does not say how the run was started.", "empty")
        return
    there = f"cd {shlex.quote(started.folder)} && " if folder and started.folder else ""
    yield Paragraph("Run it again:")
    yield Code(there + started.command, "the command that repeats this run")
    facts: list[tuple[str, Inline]] = [
        ("Seed", str(started.seed)),
        ("Suite", started.suite),
        ("Budget", started.budget),
        ("Started", started.time),
        ("Machine", started.machine),
        ("Confinement", started.confinement),
        ("Exit status", record.finished.exit_status if record.finished else None),
    ]
    yield Facts([pair for pair in facts if pair[1] not in ("", None)])
    yield versions(record.versions)


def versions(known: Mapping[str, str]) -> Table:
    """What took part, in which version."""
    return Table("Versions", ("What", "Version"), list(known.items()), "Versions", "versions")
