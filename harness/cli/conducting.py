"""A study of steps from the command line: its record, its display, and the mistakes of users."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora.errors import UserError
from harness.engine.steps import conduct
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from harness.cli.progress.moving import Progress
    from harness.engine.steps import SteppedStudy
    from harness.events import Event, Finished


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
