"""Campaigns that tests of executors share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.checks import CHECKS
from harness.cluster.executor import Executor
from harness.engine import selection
from harness.engine.planning import Plan
from harness.engine.suites import Budget, Suite
from harness.events import Event
from harness.studies.fuzz.plan import FuzzPlan
from harness.studies.fuzz.record import Record
from harness.studies.fuzz.run import execute
from harness.studies.fuzz.state import Round
from harness.studies.fuzz.store import CampaignStore
from harness.workers import Limits

TARGETS = ("toy_bytes", "toy_acbb")
CASES = 120


def campaign(spec: str, shards: int = 2, cases: int = CASES, canary: bool = False) -> FuzzPlan:
    """A campaign on toys with a plug-in that errs."""
    from corpora.generators.catalog import generators

    present, _ = selection.participants(["bpe.naive", "bpe.heap", spec])
    catalog = generators()
    plan = Plan(
        vocabularies=selection.vocabularies(TARGETS),
        participants=present,
        references=frozenset({"bpe.naive"}),
        generators=[catalog[name] for name in ("edge", "tokens", "repeats", "raw")],
        checks=[CHECKS["survival"], CHECKS["equivalence"]],
        expectations=(),
        suite=Suite("fuzz", "small", "endless", 512, 0.0, 0),
        budget=Budget(cases=cases),
        seed=0,
        jobs=1,
        fail_fast=False,
        limits=Limits(seconds=120.0),
    )
    return FuzzPlan(plan, shards=shards, structured=False, coverage=False, canary=canary)


class Quiet:
    """Shows nothing, and remembers what it was told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def begin(self, cases: Mapping[str, int]) -> None: ...

    def prepared(self, seconds: float) -> None: ...

    def announce(self, event: Event) -> None:
        self.events.append(event)

    def publish(self, done: Round) -> None: ...

    def stop(self) -> None: ...

    def of(self, kind: type[Any]) -> list[Any]:
        return [one for one in self.events if isinstance(one, kind)]


def session(
    plan: FuzzPlan,
    where: str,
    out: Path,
    executor: Executor | None = None,
    seen: Quiet | None = None,
    committed: Callable[[Round], None] = lambda done: None,
) -> Record:
    """A session on this machine, or by an executor."""
    return execute(
        plan, CampaignStore(where, "test"), out, "test", lambda known: seen or Quiet(),
        lambda made: None, 3600, committed=committed, executor=executor,
    )  # fmt: skip


def verdict_of(made: Record) -> tuple[object, ...]:
    """What a session says, but for times."""
    one = made.finished
    known = {key: made.campaign[key] for key in ("cases", "findings", "new", "canary")}
    return one.verdict, one.reasons, one.exit_status, one.cases, one.comparisons, one.notes, known


def everything(where: str) -> dict[str, Any]:
    """All that a campaign has come to."""
    # It makes all batches of its process smaller: none that is to be like those of a node has it.
    from tests.harness import fuzz_campaign

    return fuzz_campaign.everything(where)
