"""Determinism: asking again gives the same answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from harness.checks.another_way import EncodesAnotherWay, Subject
from harness.checks.base import Script
from harness.core.outcomes import Results
from impls.interface import Capability


class Determinism(EncodesAnotherWay):
    """encode(x) is one value: later, in another order, and from several threads at once.

    The threads are tried only where an implementation claims to allow them.
    """

    name = "determinism"
    summary = "the same input gives the same ids later, in another order, and from several threads"
    said = "answered differently when asked again"
    every = 5
    alone = True
    by_chance = True
    script = Script("changes")

    def rows(self, results: Results) -> Sequence[int]:
        """All that were answered, backwards.

        A death on the first call is the survival check's, one on a later call is not.
        """
        rows: list[int] = np.flatnonzero(results.answered)[::-1].tolist()
        return rows

    def ways(self, one: Subject) -> Sequence[tuple[str, str, Mapping[str, Any]]]:
        """Again, and from threads."""
        threads = [("threads", "again", {"threads": True})]
        return [("order", "again", {}), *threads * one.participant.can(Capability.THREADS)]
