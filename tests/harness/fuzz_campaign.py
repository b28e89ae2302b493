"""A small campaign, and what it has come to."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from rich.console import Console

from corpora.generators.catalog import generators
from harness.checks import CHECKS
from harness.cli.progress.fuzz import FuzzProgress
from harness.engine import selection, streams
from harness.engine.planning import Plan
from harness.engine.suites import Budget, Suite
from harness.ledger.engine import open_database
from harness.studies.fuzz import arms
from harness.studies.fuzz.plan import FuzzPlan
from harness.studies.fuzz.record import Record
from harness.studies.fuzz.run import execute
from harness.studies.fuzz.state import State
from harness.studies.fuzz.store import CampaignStore, PartRow
from harness.workers import Limits

# Small batches, so that a few hundred cases are several rounds.
streams.BATCH_CASES = streams.FIRST_BATCH_CASES = arms.MUTANTS = 64

WRONG = Path(__file__).parents[1] / "mutants" / "in_process.py"


def small_plan(
    cases: int,
    impls: Sequence[str] = ("bpe.naive", f"{WRONG}:OneToken", f"{WRONG}:Exit"),
    vocabularies: Sequence[str] = ("toy_bytes",),
    seed: int = 0,
) -> FuzzPlan:
    """A campaign on a toy with an implementation that errs, and one that dies."""
    present, _ = selection.participants(impls)
    catalog = generators()
    plan = Plan(
        vocabularies=selection.vocabularies(vocabularies),
        participants=present,
        references=frozenset({"bpe.naive"}),
        generators=[catalog[name] for name in ("edge", "tokens", "repeats", "raw")],
        checks=[CHECKS["survival"], CHECKS["equivalence"]],
        expectations=(),
        suite=Suite("fuzz", "small", "endless", 512, 0.0, 0),
        budget=Budget(cases=cases),
        seed=seed,
        jobs=1,
        fail_fast=False,
        limits=Limits(seconds=120.0, deaths=3, batch_deaths=1),
    )
    return FuzzPlan(plan, structured=False, coverage=False, canary=False)


def run(plan: FuzzPlan, where: str, out: Path, anew: bool = False) -> Record:
    """A session."""

    def progress(known: set[str]) -> FuzzProgress:
        return FuzzProgress(Console(stderr=True), known, None)

    store = CampaignStore(where, "test")
    return execute(plan, store, out, "test", progress, lambda made: None, 3600, anew=anew)


def everything(where: str) -> dict[str, Any]:
    """All that a campaign has come to, but for times: what must not depend on kills."""
    engine = open_database(where)
    with contextlib.closing(sa.orm.Session(engine)) as session:
        parts: dict[str, dict[str, bytes]] = {}
        for row in session.scalars(sa.select(PartRow)):
            parts.setdefault(row.target, {})[row.name] = row.value
        states = {target: State.of(some) for target, some in parts.items()}
        targets = {
            target: (one.batches, one.cases, timeless(one), one.map)
            for target, one in states.items()
        }
    inputs = [
        (target, number, entry.data, entry.origin)
        for target, one in sorted(states.items())
        for number, entry in enumerate(one.corpus)
    ]
    findings = [
        (target, found.id, asdict(found))
        for target, one in sorted(states.items())
        for found in sorted(one.findings, key=lambda each: each.id)
    ]
    return {"strands": targets, "inputs": inputs, "findings": findings}


def timeless(state: State) -> dict[str, Any]:
    """A state without what a process told on its way out, the order of its start, and speeds."""
    return asdict(replace(state, opened=[], rates={}, map=b"", corpus=[], findings=[]))
