"""Why an input is unsupported that the harness did not ask: no word of the implementation's."""

from __future__ import annotations

from harness.workers.requests import FAULT

STOPPED = "stopped"
"""The reason for which a worker is withdrawn that the harness has ended."""

NOT_ASKED = "not asked"
"""The reasons begin with this of single inputs that were not asked."""

ENOUGH = f"{NOT_ASKED}: it died too often in this batch"

ABANDONED = f"{NOT_ASKED}: nobody waited for its answers any more"

NOT_STARTED = "could not be started again"
"""The reason begins with this for which a worker is withdrawn that cannot be had again."""

NO_ROOM = f"{NOT_STARTED}: {FAULT}"
"""Likewise, where it is the machine and not the implementation that cannot be started."""

TIME_OUTS = "time-outs"
"""The reason ends with this for which a worker is withdrawn that was slow too often."""

TOO_LONG = "longer than its limit"
"""The reason begins with this of inputs that are held back."""


def kept_from_answering(reason: str) -> bool:
    """Whether an input is unsupported for want of time, of room or by a limit that is declared.

    Who is withdrawn for its deaths has brought that about itself.
    """
    return (
        reason == STOPPED
        or reason.startswith((NOT_ASKED, NOT_STARTED, TOO_LONG))
        or (reason.startswith("withdrawn after") and reason.endswith(TIME_OUTS))
    )
