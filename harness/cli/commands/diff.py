"""``tokgate diff``: what is new between two runs."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from corpora.plain_text import one_line, printable
from harness.cli.commands.common import recorded
from harness.cli.display import Display
from harness.core import exit_statuses
from harness.engine.selection import SelectionError
from harness.verdict.diff import Diff, Growth, Scaling, State, compare
from reports.blocks.markdown import code, escape
from reports.text import literal
from reports.texts import changes
from reports.words import title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from harness.verdict.diff import Change

EPILOG = """
A finding that is gone is fixed only where the new run judged the same check of the same
implementations often enough to see it; else it is not observed, with the reason. Exit status: 0
nothing new; 1 new findings that no expectation covers, or growth that got worse; 2 usage or input
error.
"""

SHOWN = 40
"""Changes of one kind that are listed on a terminal and in Markdown; --json has all."""

STYLES = {
    State.NEW: ("✗", "bold red"),
    State.STILL: ("=", "yellow"),
    State.FIXED: ("✓", "green"),
    State.NOT_OBSERVED: ("?", "dim"),
}
WORDS = {
    Growth.WORSE: "red",
    Growth.BETTER: "green",
    Growth.CHANGED: "",
    Growth.NOT_OBSERVED: "dim",
}


def diff(
    old: Annotated[Path, typer.Argument(help="Folder of the run to compare with.")],
    new: Annotated[Path, typer.Argument(help="Folder of the run to judge.")],
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="For a comment or a step summary.")
    ] = False,
) -> None:
    """Say what is new, fixed, still there, and not observed from one run to another."""
    if as_json and as_markdown:
        raise SelectionError("--json, --markdown: give one of them")

    before, now = recorded(old), recorded(new)
    result = compare(before.coverage, now.coverage)
    texts = list(changes(before.texts, now.texts))
    if as_json:
        print(json.dumps({**document(result), "texts": texts}, indent=1))
    elif as_markdown:
        text = "\n".join([*markdown(result), *map(text_line, texts)]) + "\n"
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    else:
        console = Display()
        for line in texts:
            console.print(Text(line), soft_wrap=True)
        show(result, console)
    raise typer.Exit(exit_statuses.FAILS if result.new else exit_statuses.HOLDS)


def text_line(line: str) -> str:
    """A line on the user's texts in Markdown."""

    return f"\n{escape(line)}"


def counts(result: Diff) -> str:
    """``1 new, 2 fixed, ..`` in one line."""
    return ", ".join(f"{len(result.of(state))} {state.value}" for state in STYLES)


def cautions(result: Diff) -> Iterator[str]:
    """What limits the comparison, a line each."""
    if not result.old_complete:
        yield "The old run did not come to its end: what is new may have been there."
    if not result.new_complete:
        yield "The new run did not come to its end: more may be new."


def document(result: Diff) -> dict[str, Any]:
    """Everything, as a document for scripts."""

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
    }


def show(result: Diff, console: Console) -> None:
    """The changes on a terminal."""

    for line in cautions(result):
        console.print(Text(line, style="yellow"))
    for name, (old, new) in result.versions.items():
        console.print(Text(f"{name} {old or 'absent'} → {new or 'absent'}", style="dim"))
    for state, (mark, style) in STYLES.items():
        changes = result.of(state)
        for change in changes[:SHOWN]:
            heading, shown = described(change)
            console.print(
                Text.assemble((f"{mark} {state.value}  ", style), heading, "  ", (shown, "bold"))
            )
            console.print(Text(f"    {printable(change.bucket)} · {change.example.id}", "dim"))
            if change.note:
                console.print(Text(f"    {printable(change.note)}", "dim"))
        if len(changes) > SHOWN:
            console.print(Text(f"  and {len(changes) - SHOWN} more {state.value}", "dim"))
    for row in result.scaling[:SHOWN]:
        console.print(Text.assemble((f"growth {row.state.value}  ", WORDS[row.state]), grown(row)))
    console.print(Text(counts(result), style="bold red" if result.new else "bold"))


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


def markdown(result: Diff) -> Iterator[str]:
    """The changes as GitHub-flavoured Markdown."""

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
