"""Campaigns that tests of executors share."""

from harness.studies.fuzz.plan import FuzzPlan
from harness.workers import Limits
from tests.doubles.fuzz_campaign import everything, run
from tests.doubles.toy_plans import toy_plan

__all__ = ["everything"]

TARGETS = ("toy_bytes", "toy_acbb")
CASES = 120


def campaign(spec, shards=2, cases=CASES, canary=False, **changes):
    """A campaign on toys with a plug-in that errs. changes: of ``toy_plan``."""
    plan = toy_plan(cases, ["bpe.heap", spec], TARGETS, limits=Limits(seconds=120.0), **changes)
    return FuzzPlan(plan, shards=shards, structured=False, coverage=False, canary=canary)


class Quiet:
    """Shows nothing, and remembers what it was told."""

    def __init__(self):
        self.events = []

    def prepared(self, seconds): ...

    def announce(self, event):
        self.events.append(event)

    def publish(self, done, cases): ...

    def stop(self): ...

    def of(self, kind):
        return [one for one in self.events if isinstance(one, kind)]


def session(
    plan,
    where,
    out,
    executor=None,
    seen=None,
    committed=lambda done: None,
):
    """A session on this machine, or by an executor."""
    return run(plan, where, out, seen or Quiet(), committed=committed, executor=executor)


def verdict_of(made):
    """What a session says, but for times."""
    one = made.finished
    known = {key: made.about[key] for key in ("cases", "findings", "new", "canary")}
    return one.verdict, one.reasons, one.exit_status, one.cases, one.comparisons, one.notes, known
