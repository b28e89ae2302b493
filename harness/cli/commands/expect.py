"""``tokgate expect``: expectations from a run."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated

import typer

from corpora.errors import UserError
from harness.cli.display import Display
from harness.cli.options import option
from harness.cli.records import recorded
from harness.core.output import write_whole
from harness.verdict import bounds, expectations
from reports import proposals
from reports.blocks.units import plural


def command(
    folder: Annotated[Path, typer.Argument(help="The folder of a run.")] = Path("tokgate-out"),
    file: Annotated[
        Path,
        option("The expectations file to write or to add to.", "FILE", "--file", "-f"),
    ] = Path("expected.toml"),
    broad: Annotated[
        bool,
        option("Let an entry cover every kind of input with the same cause.", None, "--broad"),
    ] = False,
    prune: Annotated[
        bool,
        option("Also remove the entries that the run found out of date.", None, "--prune"),
    ] = False,
) -> None:
    """Write the findings of a run into an expectations file.

    The command adds one entry for each finding that the file does not cover yet, and one for each
    broken growth limit; nothing else in the file changes. Fill in the reasons, then give
    the file to `tokgate run --expect`, which refuses entries without a reason.
    """

    record = recorded(folder)
    before, known, limits, entries = "", [], [], []
    if file.exists():
        before = file.read_text(encoding="utf-8")
        known = expectations.load(file, drafts=True)
        limits = bounds.load(file, drafts=True)
        entries = [entry for _, entry in expectations.tables(file, "expected")]
    versions = record.started.versions if record.started else {}
    added = proposals.entries(record.findings, known, versions, broad=broad)
    measured = [one for one in record.measured if not bounds.held(one, limits)]
    growth = proposals.scaling(record.growth_judged, measured)
    gone = proposals.stale(record.expectations, entries) if prune else []
    console = Display(stderr=True)
    if not (added or growth or gone):
        console.print(f"nothing to change in {file}: {folder} has no unexpected findings")
        return
    text = proposals.added(proposals.pruned(before, gone) if gone else before, added, growth)
    if len(tomllib.loads(text).get("expected", ())) != len(known) - len(gone) + len(added):
        raise UserError(f"{file}: it has identical entries; remove the outdated ones by hand")
    write_whole(file, text)
    for place in gone:
        console.print(f"removed: {known[place].bucket} on {known[place].vocabulary}")
    for one in (*added, *growth):
        console.print(f"added: {one.covers}")
    if added or growth:
        count = plural(len(added) + len(growth), "entry")
        console.print(f"{file}: {count} added; fill in each reason that says TODO")
