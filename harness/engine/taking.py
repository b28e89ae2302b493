"""Which batches a contract and a check take, and what a batch counts for. Pure functions."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from harness.core.outcomes import Status

if TYPE_CHECKING:
    from harness.checks.base import Check, Observation
    from harness.core.comparisons import Contract
    from harness.engine.streams import Batch

SPECIAL_GENERATORS = frozenset({"special", "edge", "expectations", "given"})
"""These generators are worth asking with special tokens on, since the texts of special tokens
hardly ever occur elsewhere."""


TEXTS = "input"
"""The name, in provenance and options, of what the user gave after ``--input``."""


def takes(contract: Contract, batch: Batch) -> bool:
    """Whether a contract takes a batch: with special tokens on, only what is about them.

    The user's texts are asked as they are tokenized in use, in one mode.
    """
    if batch.mode is not None:
        return contract.mode == batch.mode
    return contract.mode.special != "all" or batch.generator in SPECIAL_GENERATORS


def due(check: Check, batch: Batch, contract: Contract) -> bool:
    """Whether a check that samples takes this batch.

    Each generator starts at another place under each contract, so that a run too short for more
    than first batches still spreads its checks; decided by names and numbers alone.
    """
    start = zlib.crc32(
        f"{check.name} {batch.generator} {contract.id}".encode("utf-8", "surrogatepass")
    )
    return (start + batch.number) % check.every == 0


def comparisons(seen: Observation) -> int:
    """Pairs of a case and an implementation beyond the first that was compared with others."""
    judged = [
        int((results.status <= Status.REJECTED).sum())
        for name, results in seen.results.items()
        if name in seen.contract.exact
    ]
    return max(0, sum(judged) - max(judged, default=0))
