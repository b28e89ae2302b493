"""Worker processes: limits, clocks, the format of the exchange, restarts.

Import one way: ``requests`` says what a request asks about, ``wire`` how it travels; ``clock``
reads the kernel's counters; ``keeper`` is the parent of a process, a copy of the ``nursery``;
``kept`` is both seen from the harness; ``process`` is one process, ``serving`` the inside of any;
``worker`` is one implementation, whose process is started again as often as its limits allow, and
which is asked until its failures are sure; ``server`` is what answers for it; ``pool`` has the
workers of a run.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.workers.limits import Limits
    from harness.workers.requests import rows
    from harness.workers.worker import Worker

__all__ = ["Limits", "Worker", "rows"]

HOMES = {"Limits": "limits", "rows": "requests", "Worker": "worker"}
"""The module of each name of this package. It is imported when the name is asked for: the inside of
a worker needs none of what stands outside of it, and would be ready later."""


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{HOMES[name]}"), name)
