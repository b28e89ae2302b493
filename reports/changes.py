"""What changed from one run to another, as blocks, and as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from harness.verdict.diff import Change, Diff, Growth, Scaling, State
from reports.blocks import Banner, Block, Items, Paragraph, Section, Span, Table
from reports.blocks.units import exponent
from reports.words import smallest, title

SIDE = ("verdict", "exponent")
"""What is said of growth in one of the runs."""

TONES = {Growth.WORSE: "bad", Growth.BETTER: "ok"}


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
    yield Banner(f"tokgate diff: {counts(result)}", tone="fail" if result.new else "pass")
    for run, complete, but in (
        ("old", result.old_complete, "findings shown as new may have existed before"),
        ("new", result.new_complete, "it may have missed new findings"),
    ):
        if not complete:
            yield Paragraph(f"The {run} run was interrupted: {but}.", "warn")
    changed = [
        f"{name} {a or 'absent'} → {b or 'absent'}" for name, (a, b) in result.versions.items()
    ]
    yield Paragraph(f"Changed: {', '.join(changed)}" if changed else None, "quiet")
    for state in State:
        yield from listed(state.value.capitalize(), result.of(state))
    yield from grown(result)
    yield Items(texts)


def listed(heading: str, changes: Sequence[Change]) -> Iterator[Section]:
    """A table of changes under a heading; nothing if there is none."""
    rows = [
        (
            f"{title(one.example)} on {one.contract}{' (expected)' * one.expected}",
            Span(smallest(one.example), "literal"),
            one.example.difference,
            (Span(one.example.id, "code"), " ", Span(one.bucket, "code")),
            one.note,
        )
        for one in changes
    ]
    columns = "What | Smallest input | First difference | Finding | Note"
    shown = [Table("", columns, rows, header=-1, most=40)]
    yield from [Section(heading, shown, "")] * bool(rows)


def grown(result: Diff) -> Iterator[Section]:
    """What became of the growth of costs; nothing if all of it stayed."""
    lines = [
        (Span(f"{row.state.value}: ", TONES.get(row.state, "quiet")), _grown(row))
        for row in result.scaling
    ]
    yield from [Section("Changes of growth", [Items(lines)], "")] * bool(lines)


def _grown(row: Scaling) -> str:
    """``bpe.heap on runs, tekken: linear (1.02) → superlinear (1.97), in time``."""
    old, new = (
        "not measured" if side is None
        else side[0] + exponent(side[1])
        for side in (row.old, row.new)
    )  # fmt: skip
    where = f"{row.implementation} on {row.family}, {row.vocabulary}"
    return f"{where}: {old} → {new}, in {row.measure}"
