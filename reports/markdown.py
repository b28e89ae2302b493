"""``summary.md``: the record in a page, for the step summary of GitHub Actions."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from corpora.plain_text import one_line
from reports import cluster, texts
from reports.blocks import Banner, Items, Paragraph, Section, Span, Table, markdown, numbers
from reports.blocks.html import link
from reports.blocks.units import plural
from reports.record import BAD_GROWTH, FAILING_EXPECTATIONS, Verdict, cell_of
from reports.text import visible
from reports.words import also, growth_left_out, headline, reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reports.blocks import Block, Inline
    from reports.record import Bucket, RunRecord

MAX_BYTES = 960 << 10
"""GitHub refuses a step summary above 1 MiB; the rest is for what else the step has to say, such as
the comparison with an earlier run."""

INPUT_SHOWN = 80
"""Characters of an input."""

NAME_SHOWN = 160
"""Characters of a bucket, and of the reason of an expectation."""

_HEADINGS = {
    Verdict.PASS: ("tokgate: pass", "✅"),
    Verdict.FAIL: ("tokgate: fail", "❌"),
    Verdict.NOT_EXAMINED: ("tokgate: not examined", "⚠️"),
    Verdict.INCOMPLETE: ("tokgate: incomplete run", "⚠️"),
}


def render(record: RunRecord) -> str:
    """The summary as GitHub-flavoured Markdown, below :data:`MAX_BYTES` of UTF-8."""
    text = markdown.render(list(_blocks(record)))
    encoded = text.encode("utf-8", "backslashreplace")
    if len(encoded) < MAX_BYTES:
        return text
    note = "\n\n_Cut: the rest is in report.html._\n"
    kept = encoded[: MAX_BYTES - len(note) - 1].decode("utf-8", "ignore")
    return kept.rpartition("\n")[0] + note


def _blocks(record: RunRecord) -> Iterator[Block]:
    started = record.started
    yield Banner(*_HEADINGS[record.verdict], record.verdict.value, reason(record))
    seconds = "cut off" if record.seconds is None else f"{record.seconds:,.1f} s"
    counted = f"{plural(record.cases, 'case')} · {plural(record.comparisons, 'comparison')}"
    seed = (" · seed ", _code(str(started.seed))) if started else None
    yield Paragraph((f"{counted} · {seconds}", seed))
    yield Items(record.reasons)
    yield Items([f"Note: {line}" for line in record.notes])
    if record.failures:
        failed: list[Inline] = [
            (_code(one.implementation), " on ", _code(one.vocabulary), f": {one.message}")
            for one in record.failures
        ]
        yield Section("Failed to start", [Items(failed)], "")
    yield from texts.sections(record.texts)
    if record.buckets:
        (seen,) = numbers("Seen")
        columns = ("", "What", "Smallest input", seen, "Bucket")
        table = Table("", columns, [_row(bucket) for bucket in record.buckets], header=-1)
        yield Section("Findings", [table], "")
    failing: list[Inline] = [
        (Span(one.status, "strong"), " ", _code(one.bucket), f": {one.reason}")
        for one in record.expectations
        if one.status in FAILING_EXPECTATIONS
    ]
    if failing:
        yield Section("Expectations that no longer hold", [Items(failing)], "")
    quiet = sum(e.status == "not-exercised" for e in record.expectations)
    if quiet:
        yield Paragraph(f"{plural(quiet, 'known difference')} not tested in this run.")
    yield from _growth(record)
    yield from cluster.sections(record.cluster)
    if started:
        yield Paragraph(("Again: ", _code(started.command)))
        yield Items([started.confinement] if started.confinement else [], "")


def _code(text: str) -> Span:
    return Span(text, "code")


def _row(bucket: Bucket) -> list[Inline]:
    label = None
    if bucket.reason is not None:
        told = "expectation expired" if bucket.expired else "expected"
        address = re.sub(r"[\s()<>|\\]", lambda m: f"%{ord(m[0]):02X}", link(bucket.link or ""))
        more = (", ", Span("link", href=address)) if address else None
        label = (f" ({told}: {bucket.reason[:NAME_SHOWN]}", more, ")")
    name = (_code(one_line(bucket.name, NAME_SHOWN)), " ", _code(bucket.example.id))
    shown = visible(base64.b64decode(bucket.example.input_b64), INPUT_SHOWN)
    mark = "✔️" if bucket.expected else "❌"
    return [mark, (headline(bucket) + also(bucket), label), shown, bucket.count, name]


def _growth(record: RunRecord) -> Iterator[Block]:
    judged = [one for one in record.growth_judged if one.outcome != "pass"]
    judged.sort(key=lambda one: one.outcome != "fail")
    bound = {cell_of(one) for one in record.growth_judged}
    free = [m for m in record.measured if m.verdict in BAD_GROWTH and cell_of(m) not in bound]
    told: list[Inline] = [
        (
            "❌ " if one.outcome == "fail" else "❔ ",
            _code(one.implementation), " on ", _code(one.family), ", ", _code(one.vocabulary),
            f", in {one.measure}, bound ", _code(one.bound), f": {one.line}" if one.line else None,
        )
        for one in judged
    ]  # fmt: skip
    loose: list[Inline] = [
        (
            _code(row.implementation), " on ", _code(row.vocabulary), ", ", _code(row.family),
            f": {row.verdict}",
            "" if row.exponent is None else f", exponent {row.exponent:.2f}",
        )
        for row in free
    ]  # fmt: skip
    for title, entries in (
        ("Growth against its bounds", told),
        ("Growth that no bound is on", loose),
    ):
        if entries:
            yield Section(title, [Items(entries)], "")
    yield from map(Paragraph, growth_left_out(record))
    if record.forced:
        columns = ("Implementation", "Vocabulary", "Method")
        counts = numbers("Sequences", "Tokens", "Non-canonical")
        rows: list[list[Inline]] = [
            [f.implementation, _code(f.vocabulary), _code(f.method),
             f.sequences, f.forced_tokens, f.non_canonical]
            for f in record.forced
        ]  # fmt: skip
        yield Section("Forced tokens", [Table("", (*columns, *counts), rows)], "")
