"""Batch: many inputs in one call give what each gives by itself."""

from __future__ import annotations

from collections.abc import Sequence

from harness.checks.base import Check, Judgement, Observation, Probe, Severity
from harness.checks.ways import judged, probes_of
from harness.core.messages import Way
from harness.core.outcomes import Results

STAGES = {Way.SINGLY: "single", Way.MANY: "batch"}


class Batch(Check):
    """For all x1, .., xn and i: encode_many(x1, .., xn)[i] = encode(xi).

    Of encoders that take batches (``EncodesBatches``, by which they are asked anyway: here input by
    input), and of those whose library has a call of its own for many (``EncodesMany``).
    """

    name = "batch"
    summary = "many inputs in one call give the ids that each gives by itself"
    severity = Severity.IDS
    said = "answered differently in a batch"
    every = 8

    def probes(self, seen: Observation) -> list[Probe]:
        """The encoded inputs again, one by one and together."""
        return probes_of(seen, list(STAGES))

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare each implementation with itself."""
        return judged(self.name, seen, STAGES, answers)
