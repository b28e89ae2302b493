"""What changed from one run to another, as blocks, and as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.verdict.diff import Diff, Growth, Scaling, State
from reports.blocks import Banner, Items, Paragraph, Section, Span, Table
from reports.words import smallest, title

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.verdict.diff import Change
    from reports.blocks import Block, Inline

SHOWN = 40
"""Changes of one kind that are listed; plain data has all."""

SIDE = ("verdict", "exponent")
"""What is said of growth in one of the runs."""


def counts(result: Diff) -> str:
    """``1 new, 2 fixed, ..`` in one line."""
    return ", ".join(f"{len(result.of(state))} {state.value}" for state in State)


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
                **asdict(row),
                "state": row.state.value,
                "old": dict(zip(SIDE, row.old, strict=True)),
                "new": row.new and dict(zip(SIDE, row.new, strict=True)),
            }
            for row in result.scaling
        ],
        "texts": list(texts),
    }


def blocks_of(result: Diff, texts: Sequence[str]) -> Iterator[Block]:
    """The changes, as Markdown and a terminal show them."""
    yield Banner(f"tokgate diff: {counts(result)}", "❌" if result.new else "✅", "")
    for run, complete, but in (
        ("old", result.old_complete, "findings shown as new may have existed before"),
        ("new", result.new_complete, "it may have missed new findings"),
    ):
        if not complete:
            yield Paragraph(f"The {run} run was interrupted: {but}.", "warn")
    changed = [
        f"{name} {a or 'absent'} → {b or 'absent'}" for name, (a, b) in result.versions.items()
    ]
    if changed:
        yield Paragraph(f"Changed: {', '.join(changed)}", "quiet")
    for state in State:
        changes = result.of(state)
        columns = ("What", "Smallest input", "Finding", "Note")
        table = Table("", columns, list(map(_row, changes[:SHOWN])), header=-1)
        yield from _cut(state.value.capitalize(), table, len(changes))
    grown = [(Span(f"{row.state.value}: ", _tone(row)), _grown(row)) for row in result.scaling]
    yield from _cut("Growth", Items(grown[:SHOWN]), len(grown))
    yield Items(texts)


def _cut(name: str, shown: Block, number: int) -> Iterator[Section]:
    """A section of the first so many changes of one kind; nothing where there is none."""
    more = [Paragraph(f"and {number - SHOWN} more.")] if number > SHOWN else []
    if number:
        yield Section(name, [shown, *more], "")


def _row(change: Change) -> list[Inline]:
    """What happened and where, the smallest input, and why it counts as this."""
    example, expected = change.example, " (expected)" if change.expected else ""
    name = (Span(example.id, "code"), " ", Span(change.bucket, "code"))
    shown = Span(smallest(example), "literal")
    return [f"{title(example)} on {change.contract}{expected}", shown, name, change.note]


def _tone(row: Scaling) -> str:
    return {Growth.WORSE: "bad", Growth.BETTER: "ok"}.get(row.state, "quiet")


def _grown(row: Scaling) -> str:
    """``bpe.heap on runs, tekken: linear (1.02) → superlinear (1.97), in time``."""

    def told(side: tuple[str, float | None] | None) -> str:
        if side is None:
            return "not measured"
        return side[0] if side[1] is None else f"{side[0]} ({side[1]:.2f})"

    where = f"{row.implementation} on {row.family}, {row.vocabulary}"
    return f"{where}: {told(row.old)} → {told(row.new)}, in {row.measure}"
