"""``summary.json``: the record as a small document that scripts can rely on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from harness.events import FAIL, FamiliesMeasured, ForcedCorpus, ForcedWitness, kind_in
from harness.verdict import gaps
from reports import cluster
from reports.record import Bucket, RunRecord
from reports.studies import grouped

STARTED = ("seed", "suite", "budget", "command", "time", "machine", "confinement")
"""What is said as the run said it when it began; null where it did not say."""

SUMS = ("cases", "bytes", "comparisons", "violations")
"""What is summed of each generator."""

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
    coverage = record.coverage
    return {
        "complete": record.complete,
        "verdict": record.verdict if record.complete else FAIL,
        "reason": record.reason,
        "reasons": record.reasons,
        "notes": record.notes,
        "exit_status": record.finished.exit_status if record.finished else None,
        **{name: getattr(record.started, name, None) for name in STARTED},
        "versions": record.versions,
        "cases": record.cases,
        "comparisons": record.comparisons,
        "seconds": record.seconds,
        "vocabularies": record.vocabularies,
        "contracts": record.contracts,
        "failures": record.failures,
        "withdrawn": record.withdrawn,
        "expectations": record.expectations,
        "scaling": record.measured,
        "scaling_families": record.of(FamiliesMeasured),
        "scaling_judged": record.growth_judged,
        "canonicality_corpora": record.of(ForcedCorpus),
        "canonicality_witnesses": record.of(ForcedWitness),
        "coverage": {
            "gaps": gaps.gaps(coverage) if record.complete else [],
            "omissions": gaps.omissions(coverage),
            "comparisons": list(_comparisons(record)),
            "declined": [
                {"implementation": name, "vocabulary": c.vocabulary, "mode": c.mode, "reason": why}
                for c in record.contracts
                for name, why in c.excluded.items()
            ],
        },
        "implementations_judged": record.judged,
        "implementations_compared": record.compared,
        "buckets": [
            {
                **_variant(one),
                "title": one.headline,
                "check": one.example.check,
                "stage": one.example.stage,
                "expired": one.expired,
                "link": one.link,
                "expected": one.expected,
                "variants": [{"kind": kind_in(v.name), **_variant(v)} for v in one.variants],
            }
            for one in record.buckets
        ],
        "findings": [one for bucket in record.buckets for one in _findings(bucket)],
        "texts": record.texts,
        "generators": [
            {"name": name, **{key: sums[key] for key in SUMS}}
            for name, sums in coverage.generators.items()
        ],
        "canonicality": [
            {"policy": f.method, **asdict(f), "non_canonical_sequences": f.non_canonical}
            for f in record.forced
        ],
        **cluster.summary(record.kept.values()),
    }


def render(record: RunRecord) -> str:
    """The summary as JSON text, a key a line and an entry of a list a line.

    ASCII only, so that lone surrogates in messages survive. Not indented further: partitions
    hold thousands of ids, which would get a line each.
    """
    # JSON has no NaN and no infinity; what could not be measured is null.
    text = json.dumps(summary(record), default=asdict)
    finite = json.loads(text, parse_constant=lambda _: None)
    lines = (f"{json.dumps(key)}: {_lines(value)}" for key, value in finite.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n]"
    return json.dumps(value)


def _variant(one: Bucket) -> dict[str, Any]:
    return {
        "bucket": one.name,
        "count": one.count,
        "expected": one.reason is not None,
        "reason": one.reason,
        "findings": [f.id for f in one.findings],
    }


def _comparisons(record: RunRecord) -> Iterator[dict[str, Any]]:
    """By comparison, each implementation's answers and what checks judged."""
    coverage = record.coverage
    for contract in record.contracts:
        for name in contract.implementations:
            cells = {check: coverage.cell(name, contract, check) for check in contract.checks}
            yield {
                "implementation": name,
                "vocabulary": contract.vocabulary,
                "mode": contract.mode,
                **asdict(coverage.answered(name, contract.id)),
                "judged": {check: cell.judged for check, cell in cells.items() if cell.judged},
                "unsettled": {c: cell.unsettled for c, cell in cells.items() if cell.unsettled},
            }


def _findings(bucket: Bucket) -> Iterator[dict[str, Any]]:
    """The findings of one cause, those under one contract as one."""
    counts = {one.name: one.count for one in bucket.variants}
    for here in grouped(bucket.findings, lambda found: found.contract).values():
        variants = [
            {
                **{name: getattr(one, name) for name in OF_VARIANT},
                "kind": kind_in(one.bucket),
                "count": counts[one.bucket],
            }
            for one in here
        ]
        yield {
            **asdict(here[0]),
            "implementations": [n for group in here[0].partition for n in group.implementations],
            "count": sum(counts[name] for name in {one.bucket for one in here}),
            "variants": variants,
        }
