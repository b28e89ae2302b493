"""One row an implementation: how far it agrees, and the worst that is known of it in a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.severity import SEVERITIES, severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.events import Measured
    from reports.record import Bucket, RunRecord

Z = 1.959964
"""The quantile of the normal distribution for intervals of 95 %."""

GROWTH_ORDER = ("failed", "superlinear", "inconclusive", "linear")


@dataclass(frozen=True, slots=True)
class Standing:
    """An implementation in a run.

    cases: outcomes of it that were judged. compared: comparisons with others; agreement: the share
    of them without a violation, with its interval of 95 % (Wilson's), None where nothing was
    compared. severity, anchor, number: of its worst finding, if it has any. unexpected: how many of
    its findings no expectation covers. growth: its worst verdict, with the exponent and the family.
    deaths: how often it gave no answer at all. failed: why it was not loaded, or withdrawn.
    """

    name: str
    version: str
    reference: bool
    cases: int
    compared: int
    agreement: float | None
    low: float
    high: float
    findings: int
    unexpected: int
    severity: str
    anchor: str
    number: str
    growth: str
    exponent: float | None
    family: str
    deaths: int
    failed: str

    @property
    def agrees(self) -> str:
        """The agreement as a percentage, never rounded up to 100."""
        return "" if self.agreement is None else percentage(self.agreement)

    @property
    def interval(self) -> str:
        """The interval of the agreement, in per cent."""
        return f"{percentage(self.low)} to {percentage(self.high)}"


def standings(record: RunRecord, anchors: Mapping[str, tuple[str, str]]) -> list[Standing]:
    """A row for each implementation that was judged, or failed: the references first, then by name.

    anchors: from a bucket's name to the id and the number of its card.
    """
    versions = record.started.versions if record.started else {}
    trouble = {f.implementation: f.message.split("\n", 1)[0] for f in record.failures}
    trouble |= {w.implementation: w.line for w in record.withdrawn}
    shown = [name for name in record.implementations if name in record.judged or name in trouble]
    return [
        _standing(record, name, versions.get(name, ""), trouble.get(name, ""), anchors)
        for name in shown
    ]


def _standing(
    record: RunRecord,
    name: str,
    version: str,
    trouble: str,
    anchors: Mapping[str, tuple[str, str]],
) -> Standing:
    coverage = record.coverage
    compared = _of(coverage.judged, "equivalence", name)
    wrong = _of(coverage.at_fault, "equivalence", name)
    by_contract: dict[str, int] = {}
    for (contract, _, who), judged in coverage.judged.items():
        if who == name:
            by_contract[contract] = max(by_contract.get(contract, 0), judged)
    low, high = wilson(compared - min(wrong, compared), compared)
    blamed = [b for b in record.buckets if name in b.example.culprits and not b.example.undecided]
    worst = _worst(blamed)
    anchor, number = anchors.get(worst.name, ("", "")) if worst else ("", "")
    growth = _worst_growth(record, name)
    return Standing(
        name=name,
        version=version,
        reference=name in record.references,
        cases=sum(by_contract.values()),
        compared=compared,
        agreement=None if not compared else 1 - min(wrong, compared) / compared,
        low=low,
        high=high,
        findings=len(blamed),
        unexpected=sum(not b.expected for b in blamed),
        severity=severity(worst.example) if worst else "",
        anchor=anchor,
        number=number,
        growth=growth.verdict if growth else "",
        exponent=growth.exponent if growth else None,
        family=growth.family if growth else "",
        deaths=_of(coverage.at_fault, "survival", name),
        failed=trouble,
    )


def _of(counts: Mapping[tuple[str, str, str], int], check: str, name: str) -> int:
    """The sum of a check's counts of one implementation over all comparisons."""
    return sum(n for (_, one, who), n in counts.items() if (one, who) == (check, name))


def _worst(buckets: list[Bucket]) -> Bucket | None:
    """The finding to read first: an unexpected one, and of these the severest."""
    return min(
        buckets,
        key=lambda b: (b.expected, SEVERITIES.index(severity(b.example)), -b.count),
        default=None,
    )


def _worst_growth(record: RunRecord, name: str) -> Measured | None:
    mine = [m for m in record.measured if m.implementation == name]
    known = {verdict: place for place, verdict in enumerate(GROWTH_ORDER)}
    return min(
        mine,
        key=lambda m: (known.get(m.verdict, len(known)), -(m.exponent or 0.0)),
        default=None,
    )


def wilson(hits: int, number: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a share of ``hits`` among ``number`` (JASA 22, 1927).

    It is (0, 1) where there is none.
    """
    if not number:
        return 0.0, 1.0
    p, z2 = hits / number, Z * Z
    middle = (p + z2 / (2 * number)) / (1 + z2 / number)
    reach = Z * math.sqrt(p * (1 - p) / number + z2 / (4 * number * number)) / (1 + z2 / number)
    low = middle - reach if hits else 0.0  # exactly so, whatever is rounded on the way
    return low, middle + reach if hits < number else 1.0


def percentage(value: float) -> str:
    """A share in per cent: as many digits as tell it from 100, and never 100 for less."""
    if value in {0.0, 1.0}:
        return f"{100 * value:.0f} %"
    for digits in (1, 2, 3, 4):
        text = f"{100 * value:.{digits}f}"
        if float(text) < 100:
            return f"{text} %"
    return "99.9999 %"
