"""What the tracker of findings writes down:

violations by their signature, and all that it knows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from harness.findings.diagnosis import signature
from harness.findings.explanation import explain
from impls.explaining import IDS, NORMALIZATION, SEGMENTATION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from corpora.generators.base import Case
    from harness.checks.base import Violation
    from harness.core.comparisons import Contract
    from harness.events import Found
    from harness.findings.diagnosis import Signature
    from harness.findings.explanation import Explanation

FINER = {(NORMALIZATION, "white-space")}
"""Stages of an explanation that the diagnosis names better; as it does merges, ties and scores."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A violation with its contract and the case that showed it first."""

    contract: Contract
    violation: Violation
    case: Case
    explanation: Explanation | None = None

    @property
    def signature(self) -> Signature:
        """What it is grouped by before it is minimised."""
        return signature(self.violation, self.contract)

    @property
    def label(self) -> Signature:
        """What its bucket is named by: the stage of the explanation, where there is one."""
        told, sign = self.explanation, self.signature
        if told is not None and sign.stage == "unknown" and "user-defined" in told.differing:
            # Only where the symbol is not cut out are its neighbours, or it, unknown.
            return replace(sign, stage="user-defined")
        if told is None or (told.parted, sign.stage) in FINER or told.parted in {SEGMENTATION, IDS}:
            return sign
        return replace(sign, stage=told.parted)

    def explained(self) -> Entry:
        """Itself with an explanation."""
        return replace(self, explanation=explain(self.violation, self.contract))


@dataclass(slots=True)
class Page:
    """What the tracker knows of one signature under one contract.

    claims: minimal inputs with their buckets; what contains one is counted there.
    """

    claims: list[tuple[bytes, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that a tracker knows, for one that goes on elsewhere.

    pages: by contract and signature.
    """

    findings: Sequence[Found] = ()
    pages: Sequence[tuple[str, Signature, Sequence[tuple[bytes, str]]]] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    provisionals: Sequence[str] = ()
    unstable: Sequence[tuple[str, str, str]] = ()
