"""A study of steps from the command line: its record, its display, its files, and its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.errors import UserError
from harness.cli.display import Display
from harness.core.writing import writing
from harness.engine.steps import conduct
from impls.errors import ImplementationError
from reports import write
from reports.blocks import terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from harness.cli.progress.moving import Progress
    from harness.engine.steps import SteppedStudy
    from harness.events import Event, Finished
    from reports.blocks import Block


def conducted(
    study: SteppedStudy, out: Path, progress: Progress, *consumers: Callable[[Event], None]
) -> Finished:
    """Do a study, or go on with it, and return its closing event.

    out: the folder of its record. Raises what a user can mend, which ends the command in one line.
    """
    try:
        everyone = [*consumers, progress.consume]
        finished = conduct(study, out, everyone, (UserError, ImplementationError))
    finally:
        progress.stop()
    if not finished.complete:
        line = f"{finished.reasons[0]}; run the same command again to continue from {out}"
        progress.say(line, "yellow")
    return finished


def show(
    files: Sequence[tuple[str, str]], page: Iterable[Block], out: Path, *, as_json: bool
) -> None:
    """Write the files of a study, print its page or its JSON, and say where the page is.

    files: by their names in the folder ``out``, the JSON first and the page last.
    """
    with writing(out):
        write(files, out)
    if as_json:
        print(files[0][1].rstrip("\n"))
    else:
        Display().show(terminal.render(page))
    Display(stderr=True).print(f"  {out / files[-1][0]}", style="dim")
