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
from harness.cli.catalogues import rows
from harness.cli.commands.common import VOCAB_HELP
from harness.cli.display import Display

WHOLE = frozenset({"name", "version"})
"""Columns whose entries stay in one piece."""


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
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for heading in entries[0] if entries else ["name"]:
        widest = max((len(plain(entry[heading])) for entry in entries), default=0)
        # What is copied into a command is never broken, however narrow the terminal.
        whole = heading in WHOLE
        table.add_column(
            heading,
            header_style="dim",
            overflow="fold",
            no_wrap=whole,
            min_width=max(widest, len(heading)) if whole else None,
        )
    for entry in entries:
        table.add_row(*(Text(plain(value)) for value in entry.values()))
    Display().print(table)


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
