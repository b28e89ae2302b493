"""``summary.md``: the record in a page, for the step summary of GitHub Actions."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING

from corpora.plain_text import one_line, printable_line
from reports.record import BAD_GROWTH, FAILING_EXPECTATIONS, Verdict, cell_of
from reports.text import literal
from reports.words import also, growth_left_out, headline, plural, reason, safe_link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reports.record import Bucket, RunRecord

MAX_BYTES = 960 << 10
"""GitHub refuses a step summary above 1 MiB; the rest is for what else the step has to say, such as
the comparison with an earlier run."""
MAX_BUCKETS = 50
"""Rows in the table of buckets: beyond that a reader wants report.html."""

_HEADINGS = {
    Verdict.PASS: "✅ tokgate: pass",
    Verdict.FAIL: "❌ tokgate: fail",
    Verdict.NOT_EXAMINED: "⚠️ tokgate: not examined",
    Verdict.INCOMPLETE: "⚠️ tokgate: incomplete run",
}
_SPECIAL = re.compile(r"[\\`*_{}\[\]()<>#+!|~&@$:]")


def render(record: RunRecord) -> str:
    """The summary as GitHub-flavoured Markdown, below :data:`MAX_BYTES` of UTF-8."""
    text = "\n".join(_lines(record)) + "\n"
    encoded = text.encode("utf-8", "backslashreplace")
    if len(encoded) < MAX_BYTES:
        return text
    note = "\n\n_Cut: the rest is in report.html._\n"
    kept = encoded[: MAX_BYTES - len(note) - 1].decode("utf-8", "ignore")
    return kept.rpartition("\n")[0] + note


def escape(text: str, limit: int = 300) -> str:
    """Free text as one line of Markdown that means nothing but itself."""
    return _SPECIAL.sub(lambda m: f"&#{ord(m[0])};", one_line(text, limit))


def code(text: str) -> str:
    r"""A code span that also survives a table cell.

    A backtick is written ``\x60`` and a bar ``\x7c``: inside the Python literals shown here that
    is the same character, and neither can end the span or the cell.
    """
    inner = printable_line(text).replace("`", r"\x60").replace("|", r"\x7c")
    return f"`{inner}`" if inner.strip() else "` `"


def _lines(record: RunRecord) -> Iterator[str]:
    yield f"## {_HEADINGS[record.verdict]}"
    yield ""
    yield escape(reason(record))
    yield ""
    seconds = "cut off" if record.seconds is None else f"{record.seconds:,.1f} s"
    yield (
        f"{plural(record.cases, 'case')} · {plural(record.comparisons, 'comparison')} · {seconds}"
        + (f" · seed {code(str(record.started.seed))}" if record.started else "")
    )
    reasons = record.finished.reasons if record.finished else []
    if reasons:
        yield ""
        yield from (f"- {escape(line)}" for line in reasons[:MAX_BUCKETS])
    if record.notes:
        yield ""
        yield from (f"- Note: {escape(line)}" for line in record.notes[:MAX_BUCKETS])
    yield from _failures(record)
    yield from _texts(record)
    yield from _buckets(record)
    yield from _expectations(record)
    yield from _growth(record)
    yield from _cluster(record)
    if record.started:
        yield ""
        yield f"Again: {code(record.started.command)}"
        if record.started.confinement:
            yield ""
            yield escape(record.started.confinement)


def _failures(record: RunRecord) -> Iterator[str]:
    if record.failures:
        yield from ("", "### Failed to start", "")
        for failure in record.failures[:MAX_BUCKETS]:
            where = f"{code(failure.implementation)} on {code(failure.vocabulary)}"
            yield f"- {where}: {escape(failure.message)}"


def _texts(record: RunRecord) -> Iterator[str]:
    texts = record.texts
    if not texts:
        return
    yield from ("", "### Your texts", "")
    yield from (f"- {escape(line)}" for line in texts.readings())
    if texts.rows:
        yield ""
        yield "| Implementation | Where | Beside | Documents | Differing | Tokens | More | Fewer |"
        yield "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"
        for row in texts.rows[:MAX_BUCKETS]:
            n = row.counts
            names = " | ".join(code(s) for s in (row.implementation, row.contract, n.against))
            numbers = (n.documents, n.differing, n.tokens, n.more, n.fewer)
            yield f"| {names} | {' | '.join(f'{number:,}' for number in numbers)} |"
    named = [*texts.named(), *texts.faults()]
    if named:
        yield ""
        yield from (f"- {escape(line)}" for line in named[:MAX_BUCKETS])


def _buckets(record: RunRecord) -> Iterator[str]:
    if not record.buckets:
        return
    yield from ("", "### Findings", "")
    yield "| | What | Smallest input | Seen | Bucket |"
    yield "| --- | --- | --- | ---: | --- |"
    for bucket in record.buckets[:MAX_BUCKETS]:
        yield _row(bucket)
    more = len(record.buckets) - MAX_BUCKETS
    if more > 0:
        yield ""
        yield f"and {plural(more, 'more finding')} in report.html."


def _row(bucket: Bucket) -> str:
    example = bucket.example
    shown = literal(base64.b64decode(example.input_b64), limit=80)
    missing = f" and {plural(shown.missing, 'more byte')}" if shown.missing else ""
    what = escape(headline(bucket) + also(bucket))
    if bucket.reason is not None:
        label = "expectation expired" if bucket.expired else "expected"
        link = safe_link(bucket.link)
        target = re.sub(r"[\s()<>|\\]", lambda m: f"%{ord(m[0]):02X}", link) if link else None
        what += f" ({label}: {escape(bucket.reason, 160)}" + (
            f", [link]({target}))" if target else ")"
        )
    mark = "✔️" if bucket.expected else "❌"
    name = f"{code(one_line(bucket.name, 160))} {code(example.id)}"
    return f"| {mark} | {what} | {code(shown.code)}{missing} | {bucket.count:,} | {name} |"


def _expectations(record: RunRecord) -> Iterator[str]:
    failing = [e for e in record.expectations if e.status in FAILING_EXPECTATIONS]
    if failing:
        yield from ("", "### Expectations that no longer hold", "")
        for entry in failing[:MAX_BUCKETS]:
            yield f"- **{escape(entry.status)}** {code(entry.bucket)}: {escape(entry.reason)}"
    quiet = sum(e.status == "not-exercised" for e in record.expectations)
    if quiet:
        yield ""
        yield f"{plural(quiet, 'known difference')} not tested in this run."


def _cluster(record: RunRecord) -> Iterator[str]:
    if not record.cluster:
        return
    yield from ("", "### Cluster", "")
    yield from (f"- {escape(line)}" for line in record.cluster.sentences())
    if record.cluster.nodes:
        yield ""
        yield "| Node | Slots | Units | Lost | Cases | Seconds |"
        yield "| --- | ---: | ---: | ---: | ---: | ---: |"
        for one in record.cluster.nodes[:MAX_BUCKETS]:
            numbers = f"{one.slots:,} | {one.units:,} | {one.lost:,} | {one.cases:,}"
            yield f"| {code(one.node)} | {numbers} | {one.seconds:,.1f} |"


def _growth(record: RunRecord) -> Iterator[str]:
    judged = [g for g in record.growth_judged if g.outcome != "pass"]
    if judged:
        yield from ("", "### Growth against its bounds", "")
        for one in sorted(judged, key=lambda g: g.outcome != "fail")[:MAX_BUCKETS]:
            where = f"{code(one.implementation)} on {code(one.family)}, {code(one.vocabulary)}"
            mark = "❌" if one.outcome == "fail" else "❔"
            said = f": {escape(one.line)}" if one.line else ""
            yield f"- {mark} {where}, in {escape(one.measure)}, bound {code(one.bound)}{said}"
    bound = {cell_of(g) for g in record.growth_judged}
    free = [m for m in record.measured if m.verdict in BAD_GROWTH and cell_of(m) not in bound]
    if free:
        yield from ("", "### Growth that no bound is on", "")
        for row in free[:MAX_BUCKETS]:
            grown = "" if row.exponent is None else f", exponent {row.exponent:.2f}"
            where = f"{code(row.implementation)} on {code(row.vocabulary)}, {code(row.family)}"
            yield f"- {where}: {escape(row.verdict)}{grown}"
        if len(free) > MAX_BUCKETS:
            yield f"- and {len(free) - MAX_BUCKETS} more in report.html."
    for line in growth_left_out(record)[:MAX_BUCKETS]:
        yield ""
        yield escape(line)
    if record.forced:
        yield from ("", "### Forced tokens", "")
        yield "| Implementation | Vocabulary | Method | Sequences | Tokens | Non-canonical |"
        yield "| --- | --- | --- | ---: | ---: | ---: |"
        for f in record.forced[:MAX_BUCKETS]:
            names = " | ".join(code(n) for n in (f.implementation, f.vocabulary, f.method))
            yield f"| {names} | {f.sequences:,} | {f.forced_tokens:,} | {f.non_canonical:,} |"
