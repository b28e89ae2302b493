"""``tokgate list`` and ``tokgate preflight``: what there is, and what is wrong with it."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from corpora.vocabularies import preflight as rules
from corpora.vocabularies import sources
from harness.cli.catalogues import NOT_INSTALLED, rows
from harness.cli.commands.common import VOCAB_HELP
from harness.cli.display import Display

WHOLE = frozenset({"name", "version"})
"""Columns whose entries stay in one piece."""

GAP = 2
"""Spaces between two columns."""


class Kind(StrEnum):
    """What ``tokgate list`` lists."""

    VOCABS = "vocabs"
    IMPLS = "impls"
    GENERATORS = "generators"
    FAMILIES = "families"
    CHECKS = "checks"


def list_(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """List what there is: names to use with the options of `tokgate run`."""

    entries = rows(kind.value)
    if as_json:
        print(json.dumps(entries, indent=1))
        return
    console = Display()
    headings = shown(entries, console.width)
    table = Table(box=None, padding=(0, GAP, 0, 0), show_edge=False, pad_edge=False)
    for heading in headings:
        # What is copied into a command is never broken, however narrow the terminal.
        whole = heading in WHOLE
        width = narrowest(entries, heading) if whole else None
        table.add_column(
            heading, header_style="dim", overflow="fold", no_wrap=whole, min_width=width
        )
    for entry in entries:
        table.add_row(*(Text(plain(entry[heading])) for heading in headings))
    console.print(table)
    left = [*entries[0]][len(headings) :] if entries else []
    if "homepage" in left:
        for entry in entries:
            if entry["version"] == NOT_INSTALLED:
                console.print(Text(f"{entry['name']}: {entry['homepage']}"))
    if left:
        hint = f"--json, or a wider terminal, has {', '.join(left)}, too"
        console.print(Text(hint, style="dim"))


def shown(entries: list[dict[str, Any]], width: int) -> list[str]:
    """The headings whose columns have room beside one another; the last ones are left out first.

    A table that is too wide would break words and addresses into a few letters a line.
    """
    headings = list(entries[0]) if entries else ["name"]
    needs = [narrowest(entries, heading) + GAP for heading in headings]
    while len(needs) > len(WHOLE) and sum(needs) - GAP > width:
        needs.pop()
    return headings[: len(needs)]


def narrowest(entries: list[dict[str, Any]], heading: str) -> int:
    """How narrow a column can be without a word of it being broken."""
    cells = [heading, *(plain(entry[heading]) for entry in entries)]
    if heading not in WHOLE:
        cells = [word for cell in cells for word in cell.split()]
    return max(map(len, cells), default=0)


def preflight(
    vocab: Annotated[list[str], typer.Argument(help=VOCAB_HELP)],
    as_json: Annotated[bool, typer.Option("--json", help="For scripts.")] = False,
) -> None:
    """Say what makes a vocabulary improper for an algorithm."""

    console = Display()
    report: dict[str, list[dict[str, Any]]] = {}
    for source in vocab:
        vocabulary = sources.resolve(source)
        problems = rules.preflight(vocabulary)
        report[source] = [
            {"kind": p.kind, "count": p.count, "examples": list(p.examples), "message": p.message}
            for p in problems
        ]
        if not as_json:
            sizes = f"{vocabulary.format} {vocabulary.algorithm}, {len(vocabulary):,} ids"
            console.print(Text.assemble((source, "bold"), f"  {sizes}"))
            for problem in problems:
                console.print(Text(f"  {problem.message}", style="yellow"))
            if not problems:
                console.print(Text("  proper: nothing to report", style="green"))
    if as_json:
        print(json.dumps(report, indent=1))


def plain(value: object) -> str:
    """A cell of a table."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
