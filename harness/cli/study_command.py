"""A study of steps from the command line: its record, its display, its files, and its page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from corpora.errors import UserError
from harness.cli.display import Display
from harness.cli.progress import Progress
from harness.core.output import writing
from harness.engine.steps import SteppedStudy, conduct
from harness.events import Event, Finished
from impls.errors import ImplementationError
from reports import write
from reports.blocks import Page
from reports.studies import files


def conducted(
    study: SteppedStudy, out: Path, progress: Progress, *consumers: Callable[[Event], None]
) -> tuple[Finished, list[Event]]:
    """Do a study, or go on with it, and return its closing event and all of its events.

    out: the folder of its record. Raises what a user can mend, which ends the command in one line.
    """
    events: list[Event] = []
    everyone = [events.append, *consumers, progress.consume]
    try:
        finished = conduct(study, out, everyone, (UserError, ImplementationError))
    finally:
        progress.stop()
    if not finished.complete:
        line = f"{finished.reasons[0]}; run the same command again to continue from {out}"
        progress.say(line, "yellow")
    return finished, events


def show(name: str, data: str, page: Page, out: Path, *, as_json: bool) -> None:
    """Write the files of a study, print its page or its JSON, and say where the page is.

    name: of both files in the folder ``out``. data: the JSON.
    """
    with writing(out):
        write(files(name, data, page), out)
    if as_json:
        print(data.rstrip("\n"))
    else:
        Display().show(page.blocks)
    Display(stderr=True).print(f"  {out / name}.html", style="dim")
