"""Plans of a few seconds on toys, whose budget is a number of cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from corpora.generators.catalog import generators
from harness.checks import CHECKS
from harness.engine import selection
from harness.engine.planning import Plan
from harness.engine.suites import Budget, Suite
from harness.workers import Limits


def toy_plan(
    cases: int,
    impls: Sequence[str],
    vocabularies: Sequence[str] = ("toy_bytes",),
    checks: Sequence[str] = ("survival", "equivalence"),
    drawn: Sequence[str] = ("edge", "tokens", "repeats", "raw"),
    longest: int = 512,
    **changes: Any,
) -> Plan:
    """These implementations beside the definition, which is trusted. drawn: the generators."""
    present, _ = selection.participants(["bpe.naive", *impls])
    catalog = generators()
    plan = Plan(
        vocabularies=selection.vocabularies(vocabularies),
        participants=present,
        references=frozenset({"bpe.naive"}),
        generators=[catalog[name] for name in drawn],
        checks=[CHECKS[name] for name in checks],
        expectations=(),
        suite=Suite("fuzz", "small", "endless", longest, 0.0, 0),
        budget=Budget(cases=cases),
        seed=0,
        jobs=1,
        fail_fast=False,
        limits=Limits(seconds=120.0, deaths=3, batch_deaths=1),
    )
    return replace(plan, **changes)
