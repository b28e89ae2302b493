"""Determinism: asking again gives the same answer."""

from collections.abc import Sequence

import numpy as np

from harness.checks.asking import AsksAtOnce, Encodings, Expected
from harness.checks.base import Script, Severity
from harness.core.comparisons import Contract
from harness.core.messages import Encode
from harness.core.outcomes import Results
from impls.interface import Capability


class Determinism(AsksAtOnce):
    """encode(x) is one value: later, in another order, and from several threads at once.

    The threads are tried only where an implementation claims to allow them.
    """

    name = "determinism"
    summary = "the same input gives the same ids later, in another order, and from several threads"
    severity = Severity.IDS
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

    def expected(self, contract: Contract, given: Encodings) -> Sequence[Expected]:
        """The same answers, and from threads."""
        one, stages = given.participant, {"order": False, "threads": True}
        return [
            Expected(
                Encode(given.inputs, contract.mode, threads=threads),
                given.results,
                stage,
                one.name,
                "again",
            )
            for stage, threads in stages.items()
            if not threads or one.can(Capability.THREADS)
        ]
