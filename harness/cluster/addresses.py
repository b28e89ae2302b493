"""From ``--cluster`` to an executor; nothing of Ray is imported before one is opened."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING

from harness.cluster.executor import ClusterError

if TYPE_CHECKING:
    from harness.cluster.executor import Executor

ADDRESS = re.compile(r"auto|ray://[^/\s]+:\d+|local:[1-9]\d*")
"""What may stand after ``--cluster``."""

TEXTS_STAY = "--cluster: texts of --input stay on this machine; run them without --cluster"
"""What is said where texts of the user's own are to be compared on a cluster."""

WORKER_BYTES = 256 << 20
"""What a worker with a large vocabulary holds, as Ray is told; its limit is many times that."""


def check(address: str) -> None:
    """Raise ClusterError for what is no address, and where Ray is not installed."""
    if not ADDRESS.fullmatch(address):
        raise ClusterError(
            f"--cluster {address!r}: not a cluster address: use auto, ray://HOST:10001 or local:4"
        )
    if importlib.util.find_spec("ray") is None:
        raise ClusterError(f"--cluster {address}: Ray is not installed; pip install 'tokgate[ray]'")


def opened(address: str, workers: int, memory: int | None = None) -> Executor:
    """Return the executor of a cluster for units that run so many workers.

    memory: that a unit may take, in bytes, where more is known of it. Raises ClusterError.
    """
    check(address)
    from harness.cluster.ray_executor import RayExecutor  # noqa: PLC0415 (heavy, and an extra)

    return RayExecutor(address, workers, memory or workers * WORKER_BYTES)
