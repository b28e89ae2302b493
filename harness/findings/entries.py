"""What the tracker of findings writes down: violations, by their signature and by their bucket."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING

from corpora.generators.base import Case
from harness.checks.base import Violation
from harness.core.comparisons import Contract
from harness.core.outcomes import Failed, Status
from harness.core.partition import Part
from harness.events.causes import UNICODE
from harness.findings import unicode_skew
from harness.findings.diagnosis import (
    SHOWN_ONLY,
    Pair,
    Signature,
    bucket,
    categories,
    differences,
    explain,
    kind_of,
    signature,
)
from impls.explanations import IDS, NORMALIZATION, SEGMENTATION

if TYPE_CHECKING:
    from harness.events.run import Explained, Found

Group = tuple[str, Signature]
"""The id of a contract, and a signature: what is minimised and known together."""

FINER = {(NORMALIZATION, "white-space")}
"""Stages of an explanation that the diagnosis names better; as it does merges, ties and scores."""

ORIGINS = {Status.LEFT_PROCESSES: "end of the worker", Status.FALSE_CLAIM: "claims"}
"""What stands in place of the name of a generator, of what no input brings about."""

EXAMPLES = "expectations"
"""The origin of the examples of expectations, which stands in place of the name of a generator."""

UNSURE = ""
"""This stands in place of the bucket of a violation that could not be told when it was asked
again."""

PER_BUCKET = 8
"""Minimal inputs of one bucket that are findings of their own: what can be mended one without the
other is not one finding. Inputs of a kind that stands out are taken to have one cause."""

REGIONS = 8
"""Places at which two encodings differ that are told apart, of one input."""

TOKENS = 3
"""Tokens of such a place that are told apart, on either side."""


@dataclass(frozen=True)
class Entry:
    """A violation with its contract and the case that showed it first."""

    contract: Contract
    violation: Violation
    case: Case
    mistake: str = ""
    """The well-known mistake that gives these ids, in the words of a headline; empty for none."""
    found: Found | None = None
    """The finding by which it is on record already, which is not minimal."""

    @cached_property
    def signature(self) -> Signature:
        """What it is grouped by before it is minimised."""
        return signature(self.violation, self.contract)

    @property
    def group(self) -> Group:
        """Where it belongs before it is minimised."""
        return self.contract.id, self.signature

    @cached_property
    def differences(self) -> frozenset[Pair]:
        """The tokens in which its first two encodings differ, place by place."""
        return differences(self.violation, self.contract)

    @cached_property
    def traits(self) -> list[str]:
        """What it looks like: of two encodings the tokens that differ, else its outcomes."""
        places = islice(sorted(self.differences), REGIONS)
        if shown := [f"{one[:TOKENS]} {other[:TOKENS]}" for one, other in places]:
            return shown
        outcomes = ", ".join(part.outcome.status.label for part in self.violation.parts)
        return [f"input {categories(self.violation.data)}, {outcomes}"]

    @cached_property
    def explanation(self) -> Explained | None:
        """Where the outcomes part, stage by stage, if anybody can tell."""
        return explain(self.violation, self.contract)

    @cached_property
    def label(self) -> Signature:
        """What its bucket is named by: the stage of the explanation, where there is one."""
        why, sign = self.explanation, self.signature
        if why is None or (why["parted"], sign.stage) in FINER:
            return sign
        stage = why["parted"]
        if sign.stage == "unknown" and any(
            one["name"] == SHOWN_ONLY and one["left"] != one["right"] for one in why["stages"]
        ):
            stage = SHOWN_ONLY  # only where it is not cut out are its neighbours, or it, unknown
        elif stage in {SEGMENTATION, IDS}:
            return sign
        return replace(sign, stage=stage)

    @property
    def kind(self) -> str:
        """What sort of input it shows, if it is minimal."""
        if unicode_skew.FOLLOWS in self.mistake:
            return UNICODE
        return kind_of(self.violation, self.label.stage, self.contract)

    def bucket(self, kind: str | None = None) -> str:
        """Its bucket as a finding whose minimal input is of a kind, or if it is minimal itself."""
        return bucket(self.label, self.contract, self.kind if kind is None else kind)


def inputless(contract: Contract, status: Status, name: str, line: str, seed: int) -> Entry:
    """A violation of survival that no single input brings about: nothing is asked or minimised.

    A process that has left its worker's session outlives the program that uses the library, unless
    somebody finds it: the harness does, and kills it (:mod:`harness.workers.keeper`). And who
    claims a capability, and answers to all requests of a run that it is not supported, has claimed
    falsely. line: says exactly what.
    """
    parts = (Part((name,), Failed(status, line)),)
    violation = Violation("survival", 0, b"", parts, (name,), stage=status.label)
    return Entry(contract, violation, Case(b"", ORIGINS[status], seed, 0))


def finding_id(*parts: str) -> str:
    """A short stable name."""
    return "f-" + hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:8]
