"""``tokgate expect``: expectations from a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from harness.cli.commands.common import recorded
from harness.cli.display import Display
from harness.core.writing import write_whole
from harness.verdict import expectations
from reports import proposing


def expect(
    folder: Annotated[Path, typer.Argument(help="A run's folder.")] = Path("tokgate-out"),
    file: Annotated[
        Path, typer.Option("--file", "-f", help="The expectations file to write or to add to.")
    ] = Path("expected.toml"),
) -> None:
    """Write what a run found into an expectations file, with reasons to fill in.

    One entry is added for each cause that the file does not cover yet; what stands in the file
    stays as it is. Give the file to `tokgate run --expect` when you have filled in the reasons.
    """

    record = recorded(folder)
    known = expectations.load(file) if file.exists() else []
    found = list(record.findings)
    added = proposing.entries(found, known, record.started.versions)
    console = Display(stderr=True)
    if not added:
        console.print(Text(f"nothing to add to {file}: no finding of {folder} is unexpected"))
        return
    before = file.read_text(encoding="utf-8").rstrip("\n") if file.exists() else ""
    before = f"{before}\n\n" if before else ""
    write_whole(file, before + "\n".join(added))
    count = f"{len(added)} {'entry' if len(added) == 1 else 'entries'}"
    console.print(Text(f"{file}: {count} added; fill in each reason that says TODO"))
