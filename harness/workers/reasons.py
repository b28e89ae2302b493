"""Why an input is unsupported that the harness did not ask: no word of the implementation's."""

from __future__ import annotations

STOPPED = "stopped"
"""The reason for which a worker is withdrawn that the harness has ended."""

NOT_ASKED = "not asked"
"""The reasons begin with this of single inputs that were not asked."""

ENOUGH = f"{NOT_ASKED}: it died too often in this batch"

LATE = f"{NOT_ASKED}: it was too slow in this batch"

ABANDONED = f"{NOT_ASKED}: nobody waited for its answers any more"

AFTER_DEATH = f"{NOT_ASKED} again after a death"
