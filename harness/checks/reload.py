"""Reload: a tokenizer is the same, saved and loaded again, and its file spelled another way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.checks.base import Judgement, Observation, Probe
from harness.checks.ways import judged, probes_of
from harness.core.comparisons import Contract
from harness.core.messages import Way
from harness.core.outcomes import Results

STAGES = {Way.RELOADED: "reload", Way.RESPELLED: "spelling"}


@dataclass(frozen=True, slots=True)
class Reload:
    """For all x: load(save(tokenizer)).encode(x) = tokenizer.encode(x).

    Of encoders that can be saved (``Reloads``), each through its own library's file format; and of
    those that read the user's file likewise for the file that is written from the plain model: its
    pattern is spelled in another way, ``use_regex`` is a Split, and so on (``Respells``). Both are
    loaded once, at the first question, which takes a second: few batches are asked.
    """

    name: str = "reload"
    summary: str = "saved and loaded again, or of a file written anew, a tokenizer is the same"
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
