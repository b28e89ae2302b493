"""Reload: what a library saves in its own file format is, loaded again, the same tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.checks.base import Judgement, Observation, Probe
from harness.checks.ways import judged, probes_of
from harness.core.comparisons import Contract
from harness.core.messages import Way
from harness.core.outcomes import Results

STAGES = {Way.RELOADED: "reload"}


@dataclass(frozen=True, slots=True)
class Reload:
    """For all x: load(save(tokenizer)).encode(x) = tokenizer.encode(x).

    Of encoders that can be saved (``Reloads``), each through its own library's file format. It is
    loaded once, at the first question, which takes a second: few batches are asked.
    """

    name: str = "reload"
    summary: str = "saved in its library's own format and loaded again, a tokenizer is the same"
    every: int = 24

    def applies(self, contract: Contract) -> bool:
        """Always: who cannot be saved says so."""
        return True

    def probes(self, seen: Observation) -> list[Probe]:
        """The encoded inputs, to the encoder loaded again."""
        return probes_of(seen, list(STAGES))

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare each implementation with itself."""
        return judged(self.name, seen, STAGES, answers)
