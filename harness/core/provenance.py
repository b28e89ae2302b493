"""When and where something is recorded, as all records have it."""

from __future__ import annotations

import datetime
import os
import platform


def now() -> str:
    """This moment, in UTC, so finely that a ledger keeps short runs in their order.

    ``2026-01-31T12:00:00.123+00:00``
    """
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def machine() -> str:
    """The system, the processor's family, and how many cores there are."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
