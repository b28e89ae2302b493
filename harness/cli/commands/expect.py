"""``tokgate expect``: expectations from a run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from corpora.errors import UserError
from harness.cli.commands.common import recorded
from harness.cli.display import Display
from harness.core.writing import write_whole
from harness.verdict import bounds, expectations, memory
from reports import proposing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.events import Measured
    from harness.verdict.bounds import Bound


def expect(
    folder: Annotated[Path, typer.Argument(help="A run's folder.")] = Path("tokgate-out"),
    file: Annotated[
        Path, typer.Option("--file", "-f", help="The expectations file to write or to add to.")
    ] = Path("expected.toml"),
    broad: Annotated[
        bool,
        typer.Option("--broad", help="Cover all kinds of input that differ at the same stage."),
    ] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Also remove the entries that the run found stale.")
    ] = False,
) -> None:
    """Write what a run found into an expectations file, with reasons to fill in.

    One entry is added for each finding that the file does not cover yet, and for each broken bound
    on growth; all else in the file stays as it is. Give the file to `tokgate run --expect` when you
    have filled in the reasons: it is refused before that.
    """

    record = recorded(folder)
    known = expectations.load(file, drafts=True) if file.exists() else []
    limits = bounds.load(file) if file.exists() else []
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    versions = record.started.versions if record.started else {}
    added = proposing.entries(record.findings, known, versions, broad=broad)
    measured = [one for one in record.measured if not held(one, limits)]
    growth = proposing.scaling(record.growth_judged, measured, narrowest)
    tables = expectations.tables(file, "expected") if prune and file.exists() else []
    gone = proposing.stale(record.expectations, [entry for _, entry in tables])
    console = Display(stderr=True)
    if not (added or growth or gone):
        console.print(Text(f"nothing to change in {file}: no finding of {folder} is unexpected"))
        return
    text = proposing.added(proposing.pruned(before, gone) if gone else before, added, growth)
    if len(tomllib.loads(text).get("expected", ())) != len(known) - len(gone) + len(added):
        raise UserError(f"{file}: its entries cannot be told apart; remove the stale ones yourself")
    write_whole(file, text)
    for place in gone:
        console.print(Text(f"removed: {known[place].bucket} on {known[place].vocabulary}"))
    for one in (*added, *growth):
        console.print(Text(f"added: {one.covers}"))
    if added or growth:
        number = len(added) + len(growth)
        count = f"{number} {'entry' if number == 1 else 'entries'}"
        console.print(Text(f"{file}: {count} added; fill in each reason that says TODO"))


def held(cell: Measured, limits: Sequence[Bound]) -> bool:
    """Whether the file has a bound on a cell already that the cell keeps."""
    bound = next((one for one in limits if one.covers(cell)), None)
    if bound is None:
        return False
    if cell.measure == "memory":
        if bound.memory is None:
            return bound.bound not in bounds.LEAN
        return memory.outcome_of(cell, bound.memory)[0] == "pass"
    return bound.bound == bounds.NO_BOUND or bounds.outcome_of(cell, bound.bound)[0] == "pass"


def narrowest(cells: Sequence[Measured]) -> str:
    """The narrowest bound that all measurements of one cell keep."""
    return next((one for one in bounds.IN_TIME if all(keeps(c, one) for c in cells)), "none")


def keeps(cell: Measured, bound: str) -> bool:
    """Whether a measurement keeps a bound; memory for each byte is written down by itself."""
    if cell.measure == "memory":
        soars = cell.memory_verdict == memory.SUPERLINEAR or cell.verdict == "failed"
        return not (soars and bound in bounds.LEAN)
    return bounds.outcome_of(cell, bound)[0] == "pass"
