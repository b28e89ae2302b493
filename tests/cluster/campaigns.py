"""Campaigns that tests of executors share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.cluster.executor import Executor
from harness.events import Event
from harness.studies.campaigns.state import Round
from harness.studies.fuzz.plan import FuzzPlan
from harness.studies.fuzz.record import Record
from harness.workers import Limits
from tests.harness.fuzz_campaign import everything, run
from tests.harness.toy_plans import toy_plan

__all__ = ["everything"]

TARGETS = ("toy_bytes", "toy_acbb")
CASES = 120


def campaign(spec: str, shards: int = 2, cases: int = CASES, canary: bool = False) -> FuzzPlan:
    """A campaign on toys with a plug-in that errs."""
    plan = toy_plan(cases, ["bpe.heap", spec], TARGETS, limits=Limits(seconds=120.0))
    return FuzzPlan(plan, shards=shards, structured=False, coverage=False, canary=canary)


class Quiet:
    """Shows nothing, and remembers what it was told."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def prepared(self, seconds: float) -> None: ...

    def announce(self, event: Event) -> None:
        self.events.append(event)

    def publish(self, done: Round, cases: int) -> None: ...

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
    return run(plan, where, out, seen or Quiet(), committed=committed, executor=executor)


def verdict_of(made: Record) -> tuple[object, ...]:
    """What a session says, but for times."""
    one = made.finished
    known = {key: made.about[key] for key in ("cases", "findings", "new", "canary")}
    return one.verdict, one.reasons, one.exit_status, one.cases, one.comparisons, one.notes, known
