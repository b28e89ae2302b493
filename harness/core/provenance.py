"""When and where something is recorded, as all records have it."""

from __future__ import annotations

import datetime
import os
import platform


def now() -> str:
    """This second, in UTC: ``2026-01-31T12:00:00+00:00``."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def machine() -> str:
    """The system, the processor's family, and how many cores there are."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
