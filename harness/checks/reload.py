"""Reload: a tokenizer is the same, saved and loaded again, and its file spelled another way."""

from __future__ import annotations

from collections.abc import Sequence

from harness.checks.base import Check, Judgement, Observation, Probe, Severity
from harness.checks.ways import judged, probes_of
from harness.core.messages import Way
from harness.core.outcomes import Results

STAGES = {Way.RELOADED: "reload", Way.RESPELLED: "spelling"}


class Reload(Check):
    """For all x: load(save(tokenizer)).encode(x) = tokenizer.encode(x).

    Of encoders that can be saved (``Reloads``), each through its own library's file format; and of
    those that read the user's file likewise for the file that is written from the plain model: its
    pattern is spelled in another way, ``use_regex`` is a Split, and so on (``Respells``). Both are
    loaded once, at the first question, which takes a second: few batches are asked.
    """

    name = "reload"
    summary = "saved and loaded again, or loaded from a file written anew, a tokenizer is the same"
    severity = Severity.IDS
    said = "answered differently when saved and loaded again"
    every = 24

    def probes(self, seen: Observation) -> list[Probe]:
        """The encoded inputs, to the encoder loaded again."""
        return probes_of(seen, list(STAGES))

    def judge(self, seen: Observation, answers: Sequence[Results]) -> Judgement:
        """Compare each implementation with itself."""
        return judged(self.name, seen, STAGES, answers)
