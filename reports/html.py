"""The record of a run as blocks, and ``report.html``, the page that is made of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.ledger.trends import Seen, Trend
from reports import campaigns, cluster, findings, forced, growth, matrix, standings, texts, trends
from reports.blocks import (
    Banner,
    Block,
    Cell,
    Code,
    Details,
    Facts,
    Inline,
    Items,
    Page,
    Paragraph,
    Section,
    Span,
    Table,
    html,
)
from reports.blocks.units import plural
from reports.record import FAILING, VERDICTS, RunRecord
from reports.studies import grouped

STATUSES = {
    "stale": ("✗ stale", "unexpected", "gone: delete their entries"),
    "expired": ("✗ expired", "unexpected", "expired"),
    "shown": ("≈ seen", "expected", "seen"),
    "not-exercised": ("· not tested", "none", "not tested"),
}
"""An entry's status as a badge with its style, and what is said of several."""


def render(
    record: RunRecord,
    series: Sequence[Trend] = (),
    folder: Path | None = None,
    known: Mapping[str, Seen] | None = None,
) -> str:
    """The page for a record, to be written in UTF-8; the rest as :func:`blocks_of` takes it."""
    brand = "campaign report" if record.campaign else "run report"
    first, *rest = blocks_of(record, series, folder, known or {})
    assert isinstance(first, Banner)
    return html.render(Page(f"{first.icon} tokgate: {first.title}", brand, [first, *rest]))


def blocks_of(
    record: RunRecord,
    series: Sequence[Trend],
    folder: Path | None,
    known: Mapping[str, Seen],
) -> Iterator[Block]:
    """All that reports for people show of a record.

    series: of all runs, for trends. folder: that of the run, absolute, which commands name; without
    it they are to be run in it. known: since when findings are, by their ids.
    """
    yield _verdict(record)
    yield _numbers(record)
    yield from standings.sections(record)
    yield from campaigns.sections(record.campaign)
    yield findings.section(record, folder, known)
    yield from texts.sections(record.texts)
    yield from matrix.sections(record)
    yield from growth.sections(record)
    yield from trends.sections(series)
    yield from forced.sections(record)
    yield from _expectations(record)
    yield from cluster.sections(record.kept.values())
    yield _inputs(record)
    yield _run(record, folder)


def _verdict(record: RunRecord) -> Banner:
    """What the gate said, and what the run said of it, but for what the findings say below."""
    counted = plural(len(record.unexpected), "unexpected finding")
    told = [r for r in record.reasons if not r.startswith(counted) and r != record.reason]
    stamp = "Incomplete: the run did not get to everything." * (not record.complete)
    more = [Items(told, ""), Items(record.notes, "quiet")]
    return Banner(VERDICTS[record.verdict][0], record.reason, record.verdict, more, stamp)


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


def _expectations(record: RunRecord) -> Iterator[Section]:
    """The entries by status, the failing ones open; those of who takes no part are left out."""
    present, told = set(record.implementations), []
    blocks: list[Block] = []
    about = grouped(record.expectations, lambda one: one.status)
    for status, (badge, style, words) in STATUSES.items():
        failing = status in FAILING
        rows = [
            (
                Span(badge, f"badge {style}"), Span(one.bucket, "code"),
                ", ".join(one.implementations), Span(one.reason, "iso", one.link or ""),
            )
            for one in about.get(status, [])
            if failing or present.issuperset(one.implementations)
        ]  # fmt: skip
        if rows:
            told.append(f"{len(rows):,} {words}")
            title = f"{plural(len(rows), 'entry')} {words}"
            columns = "Status | Signature | Implementations | Reason"
            table = Table(f"Expectations, {title}", columns, rows, header=1)
            blocks.append(Details(title, [table], open=failing))
    if blocks:
        summary = Paragraph(f"Known differences: {', '.join(told)}.", "quiet")
        yield Section("Expectations", [summary, *blocks], "expectations")


def _inputs(record: RunRecord) -> Section:
    generators = Table(
        "Cases by generator",
        "Generator | Cases: | Bytes: | Comparisons: | Violations:",
        [
            [name, *(sums[kind] for kind in ("cases", "bytes", "comparisons", "violations"))]
            for name, sums in record.coverage.generators.items()
        ],
        "Cases by generator, over all contracts",
        empty="No batch of cases was finished.",
    )
    vocabularies = Table(
        "Vocabularies",
        "Vocabulary | Format | Algorithm | Tokens: | Fingerprint | Preflight",
        [
            [
                one.id, one.format, one.algorithm, one.tokens, Span(one.fingerprint[:12], "code"),
                Cell(blocks=[Details(plural(len(one.problems), "problem"), [Items(one.problems)])])
                if len(one.problems) > 1
                else "".join(one.problems) or "proper",
            ]
            for one in record.vocabularies
        ],
        "Vocabularies and what the preflight says of them",
    )  # fmt: skip
    return Section("Inputs", [generators, vocabularies], "inputs", page=True)


def _run(record: RunRecord, folder: Path | None) -> Section:
    started = record.started
    if started is None:
        nothing = Paragraph("The record does not say how the run was started.", "empty")
        return Section("This run", [nothing], "run")
    there = f"cd {shlex.quote(started.folder)} && " if folder and started.folder else ""
    facts: list[tuple[str, Inline]] = [
        ("Seed", str(started.seed)),
        ("Suite", started.suite),
        ("Budget", started.budget),
        ("Started", started.time),
        ("Machine", started.machine),
        ("Confinement", started.confinement),
        ("Exit status", record.finished.exit_status if record.finished else None),
    ]
    return Section("This run", made_by(there + started.command, facts, record.versions), "run")


def made_by(
    command: str, facts: Sequence[tuple[str, Inline]], versions: Mapping[str, str]
) -> list[Block]:
    """How something was measured: the command that repeats it, what is known of it, who with."""
    return [
        Paragraph("Run it again:"),
        Code(command, "the command that repeats this run"),
        Facts([pair for pair in facts if pair[1] not in ("", None)]),
        Table("Versions", "What | Version", list(versions.items()), style="versions"),
    ]
