"""``summary.json``: the record as a small document that scripts can rely on."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.events import kind_in
from harness.verdict import gaps
from reports.record import Verdict

if TYPE_CHECKING:
    from harness.events import Found
    from reports.record import Bucket, RunRecord

STARTED = ("seed", "suite", "budget", "command", "time", "machine", "confinement")
"""What is said as the run said it when it began; null where it did not say."""

SUMS = ("cases", "bytes", "comparisons", "violations")
"""What is summed of each generator."""

EVENTS = {
    "vocabularies": "vocabularies",
    "contracts": "contracts",
    "failures": "failures",
    "withdrawn": "withdrawn",
    "expectations": "expectations",
    "scaling": "measured",
    "scaling_families": "families",
    "scaling_judged": "growth_judged",
    "canonicality_corpora": "forced_corpora",
    "canonicality_witnesses": "forced_witnesses",
}
"""Keys whose entries are events as they were recorded, and where the record has them."""

OF_VARIANT = (
    "id", "bucket", "input_b64", "minimal", "difference", "expected", "link", "reproducer"
)  # fmt: skip
"""What is said of a finding where another one stands for both."""


def summary(record: RunRecord) -> dict[str, Any]:
    """The summary of a run.

    ``verdict`` is ``pass``, ``fail`` or ``not-examined``; a run that did not end is ``fail`` with
    ``complete`` false. ``seconds`` is null where the run was cut off. ``coverage`` says what was
    examined: ``gaps`` is what was named and was not. A finding is a cause under one contract: its
    fields are those of its clearest variant, ``count`` is how often all of them were seen, and
    ``variants`` has each of them. ``expected`` is null where any variant is unexpected.
    """
    return {
        "complete": record.complete,
        "verdict": "fail" if record.verdict is Verdict.INCOMPLETE else record.verdict.value,
        "reason": record.reason,
        "reasons": record.reasons,
        "notes": list(record.notes),
        "exit_status": record.finished.exit_status if record.finished else None,
        **{name: getattr(record.started, name, None) for name in STARTED},
        "versions": dict(record.versions),
        "cases": record.cases,
        "comparisons": record.comparisons,
        "seconds": record.seconds,
        **{name: [asdict(one) for one in getattr(record, at)] for name, at in EVENTS.items()},
        "coverage": _coverage(record),
        "implementations_judged": list(record.judged),
        "implementations_compared": list(record.compared),
        "buckets": [_bucket(bucket) for bucket in record.buckets],
        "findings": [one for bucket in record.buckets for one in _findings(bucket)],
        "texts": record.texts.summary(),
        "generators": [
            {"name": name, **{key: sums[key] for key in SUMS}}
            for name, sums in record.coverage.generators.items()
        ],
        "canonicality": [
            {"policy": f.method, **asdict(f), "non_canonical_sequences": f.non_canonical}
            for f in record.forced
        ],
        **({"cluster": record.cluster.summary()} if record.cluster else {}),
    }  # fmt: skip


def render(record: RunRecord) -> str:
    """The summary as JSON text, a key a line and an entry of a list a line.

    ASCII only, so that lone surrogates in messages survive. Not indented further: partitions
    hold thousands of ids, which would get a line each.
    """
    lines = (f"{_text(key)}: {_lines(value)}" for key, value in _finite(summary(record)).items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n  " + ",\n  ".join(map(_text, value)) + "\n]"
    return _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, allow_nan=False)


def _bucket(bucket: Bucket) -> dict[str, Any]:
    return {
        **_variant(bucket),
        "title": bucket.headline,
        "check": bucket.example.check,
        "stage": bucket.example.stage,
        "expired": bucket.expired,
        "link": bucket.link,
        "expected": bucket.expected,
        "variants": [{"kind": kind_in(one.name), **_variant(one)} for one in bucket.variants],
    }


def _variant(one: Bucket) -> dict[str, Any]:
    return {
        "bucket": one.name,
        "count": one.count,
        "expected": one.reason is not None,
        "reason": one.reason,
        "findings": [f.id for f in one.findings],
    }


def _coverage(record: RunRecord) -> dict[str, Any]:
    """What was examined: by comparison, each implementation's answers and what checks judged."""
    coverage = record.coverage
    comparisons = []
    for contract in record.contracts:
        for name in contract.implementations:
            cells = {check: coverage.cell(name, contract, check) for check in contract.checks}
            row = {
                "implementation": name,
                "vocabulary": contract.vocabulary,
                "mode": contract.mode,
                **asdict(coverage.answered(name, contract.id)),
            }
            for key in ("judged", "unsettled"):
                counts = {check: getattr(cell, key) for check, cell in cells.items()}
                row[key] = {check: number for check, number in counts.items() if number}
            comparisons.append(row)
    return {
        "gaps": gaps.gaps(coverage) if record.complete else [],
        "omissions": gaps.omissions(coverage),
        "comparisons": comparisons,
        "declined": [
            {"implementation": name, "vocabulary": one.vocabulary, "mode": one.mode, "reason": why}
            for one in record.contracts
            for name, why in one.excluded.items()
        ],
    }


def _findings(bucket: Bucket) -> list[dict[str, Any]]:
    """The findings of one cause, those under one contract as one."""
    alike: dict[str, list[Found]] = {}
    for found in bucket.findings:
        alike.setdefault(found.contract, []).append(found)
    counts = {one.name: one.count for one in bucket.variants}
    return [
        {
            **asdict(here[0]),
            "implementations": [n for group in here[0].partition for n in group.implementations],
            "count": sum(counts[name] for name in {one.bucket for one in here}),
            "variants": [
                {
                    **{name: getattr(one, name) for name in OF_VARIANT},
                    "kind": kind_in(one.bucket),
                    "count": counts[one.bucket],
                }
                for one in here
            ],
        }
        for here in alike.values()
    ]


def _finite(value: Any) -> Any:
    # JSON has no NaN and no infinity; what could not be measured is null.
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
