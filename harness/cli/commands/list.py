"""``tokgate list``: what there is to name, each a flat dictionary."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from corpora.families import user
from corpora.families.catalog import families
from corpora.generators import catalog
from corpora.vocabularies import drawn, embedded
from harness.checks import CHECKS, MEASURES
from harness.cli.display import Display
from harness.cli.options import AsJson
from harness.core.quiet import aside
from impls import registry
from impls.errors import ImplementationError
from impls.interface import About

Row = dict[str, Any]

NOT_INSTALLED = "not installed"
"""The version of an implementation that cannot be imported; its home page then says why."""


def command(
    kind: Annotated[
        Literal["vocabs", "impls", "generators", "families", "checks"],
        typer.Argument(help="What to list."),
    ],
    as_json: AsJson = False,
) -> None:
    """List the names that the options of `tokgate run` accept."""

    entries = rows(kind)
    if as_json:
        print(json.dumps(entries, indent=1))
        return
    # Of two columns alone, so that no name is broken, and words hardly ever, on a narrow terminal.
    table = Table.grid("", "", padding=(0, 2, 0, 0))
    table.columns[0].no_wrap, table.columns[1].overflow = True, "fold"
    for name, *more in (entry.values() for entry in entries):
        cells = (", ".join(one) if isinstance(one, list) else str(one) for one in more)
        table.add_row(Text(name, "bold"), Text("  ".join(filter(None, cells))))
    Display().print(table)


def rows(kind: str) -> list[Row]:
    """The entries of ``vocabs``, ``impls``, ``generators``, ``families`` or ``checks``."""
    match kind:
        case "impls":
            return [implementation(spec) for spec in registry.registered()]
        case "vocabs":
            found = {
                **(embedded.embedded() | embedded.left_out()),
                **embedded.TOY_FILES,
                **{f"{embedded.RANDOM}{kind}:SEED": why for kind, (why, _) in drawn.KINDS.items()},
            }
        case "generators":
            found = {one.name: one.summary for one in catalog.generators().values()}
        case "families":  # with the user's own
            found = {one.name: one.reason for one in families(user.chosen(None)).values()}
        case _:
            found = {one.name: one.summary for one in CHECKS.values()} | MEASURES
    said = "reason" if kind == "families" else "summary"
    return [{"name": name, said: text} for name, text in found.items()]


def implementation(spec: str) -> Row:
    """What one that is registered says of itself, or why it cannot be had."""
    try:
        with aside():
            about = registry.resolve(spec).about
    except (ImplementationError, ImportError) as error:
        about = About(spec, NOT_INSTALLED, "", homepage=str(error))
    return {
        "name": about.name,
        "version": about.version,
        "language": about.language,
        "capabilities": sorted(about.capabilities),
        "homepage": about.homepage,
    }
