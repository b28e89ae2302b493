"""What changed from one run to another, on a terminal, in Markdown, and as plain data."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from rich.text import Text

from corpora.plain_text import one_line, printable
from harness.verdict.diff import Diff, Growth, Scaling, State
from reports.blocks.markdown import code, escape
from reports.text import literal
from reports.words import title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.verdict.diff import Change

SHOWN = 40
"""Changes of one kind that are listed on a terminal and in Markdown; plain data has all."""

STYLES = {
    State.NEW: ("✗", "bold red"),
    State.STILL: ("=", "yellow"),
    State.FIXED: ("✓", "green"),
    State.NOT_OBSERVED: ("?", "dim"),
}
GROWTH_STYLES = {
    Growth.WORSE: "red",
    Growth.BETTER: "green",
    Growth.CHANGED: "",
    Growth.NOT_OBSERVED: "dim",
}


def counts(result: Diff) -> str:
    """``1 new, 2 fixed, ..`` in one line."""
    return ", ".join(f"{len(result.of(state))} {state.value}" for state in STYLES)


def cautions(result: Diff) -> Iterator[str]:
    """What limits the comparison, a line each."""
    if not result.old_complete:
        yield "The old run was interrupted: findings shown as new may have existed before."
    if not result.new_complete:
        yield "The new run was interrupted: it may have missed new findings."


def document(result: Diff, texts: Sequence[str]) -> dict[str, Any]:
    """Everything, as a document for scripts. texts: what became of the user's own texts."""

    return {
        "new": result.new,
        "complete": {"old": result.old_complete, "new": result.new_complete},
        "versions": {name: list(pair) for name, pair in result.versions.items()},
        "changes": [
            {
                "state": change.state.value,
                "bucket": change.bucket,
                "contract": change.contract,
                "check": change.example.check,
                "title": title(change.example),
                "finding": change.example.id,
                "implementations": change.example.culprits,
                "input_b64": change.example.input_b64,
                "expected": change.expected,
                "note": change.note,
            }
            for change in result.changes
        ],
        "scaling": [
            {
                "state": row.state.value,
                "implementation": row.implementation,
                "vocabulary": row.vocabulary,
                "family": row.family,
                "measure": row.measure,
                "old": {"verdict": row.old[0], "exponent": row.old[1]},
                "new": row.new and {"verdict": row.new[0], "exponent": row.new[1]},
            }
            for row in result.scaling
        ],
        "texts": list(texts),
    }


def lines(result: Diff, texts: Sequence[str]) -> Iterator[Text]:
    """The changes on a terminal."""
    yield from map(Text, texts)
    for line in cautions(result):
        yield Text(line, "yellow")
    for name, (old, new) in result.versions.items():
        yield Text(f"{name} {old or 'absent'} → {new or 'absent'}", "dim")
    for state, (mark, style) in STYLES.items():
        changes = result.of(state)
        for change in changes[:SHOWN]:
            heading, shown = described(change)
            yield Text.assemble((f"{mark} {state.value}  ", style), heading, "  ", (shown, "bold"))
            yield Text(f"    {printable(change.bucket)} · {change.example.id}", "dim")
            if change.note:
                yield Text(f"    {printable(change.note)}", "dim")
        if len(changes) > SHOWN:
            yield Text(f"  and {len(changes) - SHOWN} more {state.value}", "dim")
    for row in result.scaling[:SHOWN]:
        yield Text.assemble((f"growth {row.state.value}  ", GROWTH_STYLES[row.state]), grown(row))
    yield Text(counts(result), "bold red" if result.new else "bold")


def described(change: Change) -> tuple[str, str]:
    """What happened and where, and the smallest input."""

    shown = literal(base64.b64decode(change.example.input_b64), limit=60)
    expected = " (expected)" if change.expected else ""
    heading = printable(f"{title(change.example)} on {change.contract}{expected}")
    return heading, shown.code + ("…" if shown.missing else "")


def grown(row: Scaling) -> str:
    """``bpe.heap on runs, tekken: linear (1.02) → superlinear (1.97), in time``."""

    def told(side: tuple[str, float | None] | None) -> str:
        if side is None:
            return "not measured"
        return side[0] if side[1] is None else f"{side[0]} ({side[1]:.2f})"

    where = f"{row.implementation} on {row.family}, {row.vocabulary}"
    return printable(f"{where}: {told(row.old)} → {told(row.new)}, in {row.measure}")


def markdown(result: Diff, texts: Sequence[str]) -> str:
    """The changes as GitHub-flavoured Markdown."""
    return "".join(f"{line}\n" for line in _markdown_lines(result, texts))


def _markdown_lines(result: Diff, texts: Sequence[str]) -> Iterator[str]:
    mark = "❌" if result.new else "✅"
    yield f"## {mark} tokgate diff: {counts(result)}"
    for line in cautions(result):
        yield f"\n> {escape(line)}"
    changed = [
        f"{code(name)} {escape(old or 'absent')} → {escape(new or 'absent')}"
        for name, (old, new) in result.versions.items()
    ]
    if changed:
        yield f"\nChanged: {', '.join(changed)}"
    for state in STYLES:
        changes = result.of(state)
        if not changes:
            continue
        yield f"\n### {state.value.capitalize()}\n"
        yield "| What | Smallest input | Finding | Note |"
        yield "| --- | --- | --- | --- |"
        for change in changes[:SHOWN]:
            heading, shown = described(change)
            name = f"{code(change.example.id)} {code(one_line(change.bucket, 160))}"
            yield f"| {escape(heading)} | {code(shown)} | {name} | {escape(change.note)} |"
        if len(changes) > SHOWN:
            yield f"\nand {len(changes) - SHOWN} more."
    if result.scaling:
        yield "\n### Growth\n"
        for row in result.scaling[:SHOWN]:
            yield f"- {row.state.value}: {escape(grown(row))}"
    for line in texts:
        yield f"\n{escape(line)}"
