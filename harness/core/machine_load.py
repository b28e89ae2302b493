"""How busy the machine is, and how much longer what must be done takes by that."""

from __future__ import annotations

import os

MOST = 8.0
"""How many times as long something may take on a busy machine, at the most."""


def crowding() -> float:
    """How many processes have been waiting for each core of late, of others for the most part."""
    return os.getloadavg()[0] / (os.cpu_count() or 1)


def stretched(seconds: float) -> float:
    """What has to fit into these seconds on a quiet machine has so many on this one, as it is."""
    return seconds * min(max(1.0, crowding()), MOST)
