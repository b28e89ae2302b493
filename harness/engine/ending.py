"""How the work of a command ends: by itself, by Ctrl-C or SIGTERM, or by a fault."""

from __future__ import annotations

import logging
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.core import exit_statuses
from harness.core.interruption import exit_status
from harness.core.output import NO_ROOM, OutputError, cannot_write
from harness.engine.state import NamedFailed

if TYPE_CHECKING:
    from collections.abc import Callable

LOG = logging.getLogger(__name__)
"""The log of faults, which is shown under ``--debug`` only."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a piece of work ended.

    how: why it did not come to its end, in words, or None where it did. status: the exit status
    that this gives the command; 0 where it came to its end.
    """

    how: str | None = None
    status: int = 0

    @property
    def complete(self) -> bool:
        """Whether the work came to its end."""
        return self.how is None


def to_the_end(work: Callable[[], None], mendable: tuple[type[Exception], ...] = ()) -> Ending:
    """Do a piece of work, and return how it ended.

    mendable: mistakes of the user, which are raised, since they end a command with one line.
    Raises OutputError where the output cannot be written.
    """
    raised: tuple[type[Exception], ...] = (OutputError, *mendable)
    try:
        work()
    except KeyboardInterrupt as interrupt:
        return Ending("interrupted", exit_status(interrupt))
    except raised:
        raise
    except NamedFailed as error:
        return Ending(f"stopped: {error}", exit_statuses.CANNOT_START)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise cannot_write(error.filename or "a temporary file", error) from error
        LOG.debug("the work broke off", exc_info=error)
        return Ending(f"internal error ({words_of(error)})", exit_statuses.CANNOT_START)
    return Ending()


class BrokenOff(Exception):
    """The work of another process of ours broke off: its words say how."""


def words_of(error: Exception) -> str:
    """What an error is, and where it was raised, or its cause, in a line."""
    line = str(error).split("\n", 1)[0].encode(errors="replace").decode()
    if isinstance(error, BrokenOff):
        return line
    frames = traceback.extract_tb((error.__cause__ or error).__traceback__)[-1:]
    places = [f", at {Path(frame.filename).name}:{frame.lineno}" for frame in frames]
    return "".join((f"{type(error).__name__}: {line}", *places))
