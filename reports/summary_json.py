"""``summary.json``: the record as a small document that scripts can rely on."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.events import kind_in
from harness.verdict import gaps
from harness.verdict.coverage import Answers
from reports.record import Verdict
from reports.words import headline, reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from harness.events import ContractOpened, Found
    from harness.verdict.coverage import Coverage
    from reports.record import Bucket, RunRecord


def summary(record: RunRecord) -> dict[str, Any]:
    """The summary of a run.

    ``verdict`` is ``pass``, ``fail`` or ``not-examined``; a run that did not end is ``fail`` with
    ``complete`` false. ``seconds`` is null where the run was cut off. ``coverage`` says what was
    examined: ``gaps`` is what was named and was not. A finding is a cause under one contract: its
    fields are those of its clearest variant, ``count`` is how often all of them were seen, and
    ``variants`` has each of them. ``expected`` is null where any variant is unexpected.
    """
    started, finished = record.started, record.finished
    return {
        "complete": record.complete,
        "verdict": "fail" if record.verdict is Verdict.INCOMPLETE else record.verdict.value,
        "reason": reason(record),
        "reasons": list(finished.reasons) if finished else [],
        "notes": list(record.notes),
        "exit_status": finished.exit_status if finished else None,
        "seed": started.seed if started else None,
        "suite": started.suite if started else None,
        "budget": started.budget if started else None,
        "command": started.command if started else None,
        "time": started.time if started else None,
        "machine": started.machine if started else None,
        "confinement": started.confinement if started else None,
        "versions": dict(started.versions) if started else {},
        "cases": record.cases,
        "comparisons": record.comparisons,
        "seconds": record.seconds,
        "vocabularies": [asdict(v) for v in record.vocabularies],
        "contracts": [asdict(c) for c in record.contracts],
        "failures": [asdict(f) for f in record.failures],
        "withdrawn": [asdict(w) for w in record.withdrawn],
        "coverage": _coverage(record),
        "implementations_judged": list(record.judged),
        "implementations_compared": list(record.compared),
        "buckets": [_bucket(bucket) for bucket in record.buckets],
        "findings": [
            _finding(alike, bucket)
            for bucket in record.buckets
            for alike in by_contract(bucket.findings)
        ],
        "texts": record.texts.summary(),
        "generators": [asdict(g) for g in record.generators],
        "expectations": [asdict(e) for e in record.expectations],
        "scaling": [asdict(m) for m in record.measured],
        "scaling_families": [asdict(f) for f in record.families],
        "scaling_judged": [asdict(g) for g in record.growth_judged],
        "canonicality": [
            {"policy": f.method, **asdict(f), "non_canonical_sequences": f.non_canonical}
            for f in record.forced
        ],
        "canonicality_corpora": [asdict(c) for c in record.forced_corpora],
        "canonicality_witnesses": [asdict(w) for w in record.forced_witnesses],
        **({"cluster": record.cluster.summary()} if record.cluster else {}),
    }


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
    answers = coverage.answers.get((name, contract.id), Answers())
    cells = {check: coverage.cell(name, contract, check) for check in contract.checks}
    return {
        "implementation": name,
        "vocabulary": contract.vocabulary,
        "mode": contract.mode,
        **asdict(answers),
        "judged": {check: cell.judged for check, cell in cells.items() if cell.judged},
        "unsettled": {check: cell.unsettled for check, cell in cells.items() if cell.unsettled},
    }


def by_contract(findings: Sequence[Found]) -> list[list[Found]]:
    """The findings of one cause by the contract that they were found under, in their order."""
    found: dict[str, list[Found]] = {}
    for one in findings:
        found.setdefault(one.contract, []).append(one)
    return list(found.values())


def _finding(alike: Sequence[Found], bucket: Bucket) -> dict[str, Any]:
    clearest = alike[0]
    counts = {one.bucket: one.count for one in bucket.variants}
    return {
        **asdict(clearest),
        "implementations": [name for group in clearest.groups for name in group.implementations],
        "count": sum(counts[name] for name in {one.bucket for one in alike}),
        "variants": [_variant(one, counts) for one in alike],
    }


def _variant(finding: Found, counts: Mapping[str, int]) -> dict[str, Any]:
    return {
        "id": finding.id,
        "bucket": finding.bucket,
        "kind": kind_in(finding.bucket),
        "count": counts[finding.bucket],
        "input_b64": finding.input_b64,
        "minimal": finding.minimal,
        "difference": finding.difference,
        "expected": finding.expected,
        "link": finding.link,
        "reproducer": finding.reproducer,
    }


def _finite(value: Any) -> Any:
    # JSON has no NaN and no infinity; what could not be measured is null.
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
