"""How bad a finding is, in a word, and on how many inputs it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.record import DEATHS

if TYPE_CHECKING:
    from reports.record import Bucket, RunRecord

CRASH, IDS, TEXT, OFFSETS, SERVICE = (
    "crash",
    "wrong ids",
    "wrong text",
    "wrong offsets",
    "wrong service",
)
"""The severities, the worst first: a crash loses the request, wrong ids break the model, wrong text
breaks what a user reads, wrong offsets break what points into a text, and a wrong service (a count,
a split, padding) is a helper's mistake."""

SEVERITIES = (CRASH, IDS, TEXT, OFFSETS, SERVICE)

_BY_CHECK = {
    "equivalence": IDS,
    "determinism": IDS,
    "validity": IDS,
    "batch": IDS,
    "reload": IDS,
    "specials": IDS,
    "chunks": IDS,
    "unstable": IDS,
    "heal": IDS,
    "round-trip": TEXT,
    "single-ids": TEXT,
    "stream-decoder": TEXT,
    "streaming": TEXT,
    "skip-specials": TEXT,
    "clean-up": TEXT,
    "release-decode": TEXT,
    "offsets": OFFSETS,
    "release-offsets": OFFSETS,
}


def severity(bucket: Bucket) -> str:
    """One of :data:`SEVERITIES`."""
    finding = bucket.example
    blamed = set(finding.culprits)
    if any(g.kind in DEATHS and blamed & set(g.implementations) for g in finding.groups):
        return CRASH
    return _BY_CHECK.get(finding.check.replace("_", "-").replace(" ", "-"), SERVICE)


def rate(record: RunRecord, bucket: Bucket) -> float | None:
    """The share of the inputs judged on which a cause was seen, by its check, where it was found.

    Of several culprits the one with the most inputs counts. None where nothing says how many there
    were, and where violations were told without a batch, as those of examples are.
    """
    places = {(one.contract, one.check) for one in bucket.findings}
    judged = [
        sum(record.coverage.judged[contract, check, name] for contract, check in places)
        for name in bucket.example.culprits
    ]
    most = max(judged, default=0)
    return bucket.count / most if 0 < bucket.count <= most else None


def share(value: float) -> str:
    """A share as a percentage with two figures that tell: ``7.1 %``, ``0.032 %``, ``< 0.001 %``."""
    percent = 100 * value
    if percent and percent < 0.001:
        return "< 0.001 %"
    digits = 0 if percent >= 10 else 1 if percent >= 1 else 2 if percent >= 0.1 else 3
    return f"{percent:.{digits}f} %"
