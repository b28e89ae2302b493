"""``summary.json``: the record as a small document that scripts can rely on."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.verdict import gaps
from harness.verdict.coverage import Answers
from reports.record import Verdict
from reports.words import headline, reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.events import ContractOpened, Found
    from harness.verdict.coverage import Coverage
    from reports.record import Bucket, RunRecord

STARTED = ("seed", "suite", "budget", "command", "time", "machine", "confinement")
"""What is said as the run said it when it began; null where it did not say."""

SUMS = ("cases", "bytes", "comparisons", "violations")
"""What is summed of each generator."""


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
        "reason": reason(record),
        "reasons": record.reasons,
        "notes": list(record.notes),
        "exit_status": record.finished.exit_status if record.finished else None,
        **{name: getattr(record.started, name, None) for name in STARTED},
        "versions": dict(record.versions),
        "cases": record.cases,
        "comparisons": record.comparisons,
        "seconds": record.seconds,
        "vocabularies": _plain(record.vocabularies),
        "contracts": _plain(record.contracts),
        "failures": _plain(record.failures),
        "withdrawn": _plain(record.withdrawn),
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
        "expectations": _plain(record.expectations),
        "scaling": _plain(record.measured),
        "scaling_families": _plain(record.families),
        "scaling_judged": _plain(record.growth_judged),
        "canonicality": [
            {"policy": f.method, **asdict(f), "non_canonical_sequences": f.non_canonical}
            for f in record.forced
        ],
        "canonicality_corpora": _plain(record.forced_corpora),
        "canonicality_witnesses": _plain(record.forced_witnesses),
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


def _plain(events: Iterable[Any]) -> list[dict[str, Any]]:
    return [asdict(one) for one in events]


def _bucket(bucket: Bucket) -> dict[str, Any]:
    return {
        "bucket": bucket.name,
        "title": headline(bucket),
        "check": bucket.example.check,
        "stage": bucket.example.stage,
        "count": bucket.count,
        "expected": bucket.expected,
        "expired": bucket.expired,
        "reason": bucket.reason,
        "link": bucket.link,
        "findings": [f.id for f in bucket.findings],
        "variants": [
            {
                "bucket": one.bucket,
                "kind": one.kind,
                "count": one.count,
                "expected": one.reason is not None,
                "reason": one.reason,
                "findings": [f.id for f in one.findings],
            }
            for one in bucket.variants
        ],
    }


def _coverage(record: RunRecord) -> dict[str, Any]:
    """What was examined: by comparison, each implementation's answers and what checks judged."""
    coverage = record.coverage
    return {
        "gaps": gaps.gaps(coverage) if record.complete else [],
        "omissions": gaps.omissions(coverage),
        "comparisons": [
            _examined(coverage, name, contract)
            for contract in record.contracts
            for name in contract.implementations
        ],
        "declined": [
            {"implementation": name, "vocabulary": one.vocabulary, "mode": one.mode, "reason": why}
            for one in record.contracts
            for name, why in one.excluded.items()
        ],
    }


def _examined(coverage: Coverage, name: str, contract: ContractOpened) -> dict[str, Any]:
    cells = {check: coverage.cell(name, contract, check) for check in contract.checks}
    return {
        "implementation": name,
        "vocabulary": contract.vocabulary,
        "mode": contract.mode,
        **asdict(coverage.answers.get((name, contract.id), Answers())),
        "judged": {check: cell.judged for check, cell in cells.items() if cell.judged},
        "unsettled": {check: cell.unsettled for check, cell in cells.items() if cell.unsettled},
    }


def _findings(bucket: Bucket) -> list[dict[str, Any]]:
    """The findings of one cause, those under one contract as one."""
    alike: dict[str, list[Found]] = {}
    for found in bucket.findings:
        alike.setdefault(found.contract, []).append(found)
    variants = {one.bucket: one for one in bucket.variants}
    told = ("id", "bucket", "input_b64", "minimal", "difference", "expected", "link", "reproducer")
    return [
        {
            **asdict(here[0]),
            "implementations": [n for group in here[0].partition for n in group.implementations],
            "count": sum(variants[name].count for name in {one.bucket for one in here}),
            "variants": [
                {
                    **{name: getattr(one, name) for name in told},
                    "kind": variants[one.bucket].kind,
                    "count": variants[one.bucket].count,
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
