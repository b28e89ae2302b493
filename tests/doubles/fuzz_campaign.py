"""A small campaign, and what it has come to."""

import contextlib
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from harness.cli.progress import CampaignProgress
from harness.engine import streams
from harness.ledger.engine import open_database
from harness.studies.campaigns.store import CampaignStore, PartRow
from harness.studies.fuzz import arms
from harness.studies.fuzz import run as session
from harness.studies.fuzz.plan import FuzzPlan
from harness.studies.fuzz.state import State
from harness.workers import worker
from tests.doubles.toy_plans import toy_plan
from tests.faults.durability import inside

WRONG = Path(__file__).parents[1] / "mutants" / "in_process.py"


@pytest.fixture
def no_processes(monkeypatch):
    """Workers and preparation without processes: a session takes a fraction of a second."""
    monkeypatch.setattr(worker, "Process", inside.InsideProcess)
    monkeypatch.setattr(session, "prepare", lambda *given: 0)


def shrink_batches():
    """Make all batches of this process small, so that a few hundred cases are several rounds."""
    streams.BATCH_CASES = streams.FIRST_BATCH_CASES = arms.MUTANTS = 64


def small_plan(
    cases,
    impls=(f"{WRONG}:OneToken", f"{WRONG}:Exit"),
    vocabularies=("toy_bytes",),
    **changes,
):
    """A campaign on a toy with an implementation that errs, and one that dies."""
    shrink_batches()
    plan = toy_plan(cases, impls, vocabularies, **changes)
    return FuzzPlan(plan, structured=False, coverage=False, canary=False)


def run(plan, where, out, shows=None, **options):
    """A session. options: of :func:`harness.studies.fuzz.run.execute`."""
    store = CampaignStore(where, "test")

    def progress(known, states):
        return shows or CampaignProgress("", None, known)

    return session.execute(plan, store, out, "test", progress, lambda made: None, 3600, **options)


def everything(where):
    """All that a campaign has come to, but for times: what must not depend on kills."""
    engine = open_database(where)
    with contextlib.closing(sa.orm.Session(engine)) as session:
        parts = {}
        for row in session.scalars(sa.select(PartRow)):
            parts.setdefault(row.target, {})[row.name] = row.value
        states = {target: State.of(some) for target, some in parts.items()}
        targets = {
            target: (one.schedule.number, one.cases, timeless(one), one.map)
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


def timeless(state):
    """A state without what a process told on its way out, the order of its start, and speeds."""
    return asdict(replace(state, opened=[], rates={}, map=b"", corpus=[], findings=[]))
