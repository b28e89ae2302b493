"""The signals that end a command early: Ctrl-C (SIGINT) and SIGTERM, handled alike.

Whoever handles ``KeyboardInterrupt`` handles both, since SIGTERM is raised as a subclass of it:
reports are written, nothing is lost. Only the exit status tells them apart.
"""

from __future__ import annotations

import signal
from types import FrameType

INTERRUPTED = 130
"""The exit status that shells report of a program which Ctrl-C ended: 128 and SIGINT's number."""

TERMINATED = 143
"""The exit status after SIGTERM, which CI systems, containers and ``timeout`` send."""


class Terminated(KeyboardInterrupt):
    """SIGTERM was received."""


def listen() -> None:
    """Raise Terminated in the main thread at the first SIGTERM from now on.

    Further ones are ignored, so that they do not break off the writing of reports: ``timeout``
    sends the signal twice, once to its child and once to the group. Ctrl-C still ends the program
    then.
    """
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(number: int, frame: FrameType | None) -> None:
    # Not SIG_IGN: programs that are started from now on would inherit it.
    signal.signal(signal.SIGTERM, lambda number, frame: None)
    raise Terminated


def exit_status(interrupt: KeyboardInterrupt) -> int:
    """The exit status of a command that was ended by this."""
    return TERMINATED if isinstance(interrupt, Terminated) else INTERRUPTED


def again(status: int) -> KeyboardInterrupt:
    """The interrupt behind the exit status of a part, for a command that consists of such parts."""
    return Terminated() if status == TERMINATED else KeyboardInterrupt()
