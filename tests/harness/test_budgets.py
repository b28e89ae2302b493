"""Budgets are kept, by clocks of our own: no wall time is waited for."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest

from corpora.families.catalog import families
from corpora.vocabularies import sources
from harness.core import exit_statuses
from harness.core.countdown import Countdown
from harness.core.messages import Meter
from harness.core.outcomes import Status
from harness.engine import selection
from harness.engine.steps import conduct
from harness.engine.suites import Budget
from harness.studies.forced import hunt as hunting
from harness.studies.forced.adversary import Caught
from harness.studies.forced.hunt import Hunt
from harness.studies.forced.jobs import Task
from harness.studies.selftest import hunts
from harness.studies.selftest.groups import Hunted, Shown
from harness.studies.selftest.run import Selftest, make_plan
from harness.studies.worst.gauge import Gauge
from harness.studies.worst.plan import WorstPlan, chosen_families
from harness.studies.worst.results import Report
from harness.studies.worst.session import Session, Watcher
from harness.studies.worst.state import Store
from harness.workers.pool import OutOfTime
from reports.worst import verdict
from tests.harness.fuzz_campaign import everything, small_plan
from tests.harness.fuzz_campaign import run as run_campaign
from tests.harness.planted_costs import Planted, on, runs


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.at = 0.0

    def __call__(self):
        return self.at


# The search for the worst input.


class Slow(Planted):
    """A gauge each request of which takes a while, and is cut off at the end of the time."""

    clock: Clock
    a_request: float
    end: float = float("inf")

    def gauge(self, name, contract, inputs, meter):
        if self.clock.at + self.a_request > self.end:
            self.clock.at = self.end
            raise OutOfTime
        self.clock.at += self.a_request
        return super().gauge(name, contract, inputs, meter)


def slow(clock, a_request):
    gauge = Slow(runs(b"#"))
    gauge.clock, gauge.a_request = clock, a_request
    return gauge


def worst_plan(budget):
    [participant], _ = selection.participants(["bpe.naive"])
    vocabulary = sources.resolve("toy_bytes")
    suiting, hidden = chosen_families(families().values(), vocabulary, ["all"])
    return WorstPlan(participant, vocabulary, suiting, hidden, 16 << 10, budget, 0, False, 1, 3)


def sit(folder, clock, gauge, budget=60.0):
    plan = worst_plan(budget)
    report = Report("tokgate worst", "bpe.naive", "1", "toy_bytes", 0, 16 << 10, [])
    store = Store(folder, plan.identity())
    countdown = Countdown(budget, clock)
    sitting = Session(plan, store, report, on(gauge), Watcher(), countdown)
    sitting.prepare()
    countdown.start()
    gauge.end = clock.at + budget
    return sitting, report


@pytest.mark.parametrize("a_request", [0.1, 7.0])
def test_a_search_ends_with_its_budget_however_slow_the_requests(tmp_path, a_request):
    clock = Clock()
    gauge = slow(clock, a_request)
    sitting, report = sit(tmp_path, clock, gauge)
    began = clock.at
    sitting.run()
    assert clock.at - began <= 60.0
    assert report.complete
    assert report.prepared == pytest.approx(a_request)
    if report.compared:
        assert verdict(report).startswith("the worst input found costs")
    else:
        assert "no time" in verdict(report)
    assert a_request > 1 or report.compared >= 4
    assert a_request > 1 or report.found


def test_a_generation_that_is_cut_short_is_done_again(tmp_path):
    clock = Clock()
    first, _ = sit(tmp_path / "cut", clock, slow(clock, 1.3), budget=40.0)
    first.run()
    # Until it has saved as many generations, a search that is not cut short is the same.
    kept = json.loads((tmp_path / "cut" / "search.json").read_text())
    other, clock = tmp_path / "whole", Clock()

    class Enough(Watcher):
        def searching(self, search, seconds):
            if search.state.generation == kept["state"]["generation"]:
                raise KeyboardInterrupt

    whole, _ = sit(other, clock, slow(clock, 0.001))
    whole.watcher = Enough()
    with pytest.raises(KeyboardInterrupt):
        whole.run()
    same = json.loads((other / "search.json").read_text())
    assert kept["state"]["generation"] > 0
    assert {**kept["state"], "seconds": 0} == {**same["state"], "seconds": 0}


@pytest.mark.thorough  # a whole search
def test_what_is_found_is_reported_when_it_is_broken_off(tmp_path):
    class Interrupting(Watcher):
        def doing(self, what):
            raise KeyboardInterrupt

    clock = Clock()
    sitting, report = sit(tmp_path, clock, slow(clock, 0.05))
    sitting.watcher = Interrupting()
    with pytest.raises(KeyboardInterrupt):
        sitting.run()
    assert report.found and not report.complete
    assert verdict(report).startswith("broken off before")


def test_what_is_not_asked_is_no_failure_of_the_implementation():
    clock = Clock()
    countdown = Countdown(1.0, clock).start()
    gauge = Gauge(on(Planted(dies=lambda data: Status.CRASHED)), countdown)
    assert gauge.read([b"a"], Meter.TIME)[0].died
    clock.at = 2.0
    with pytest.raises(OutOfTime):
        gauge.read([b"a", b"b"], Meter.TIME)
    assert not gauge.able
    assert not gauge.over


# A session of a campaign.


def session(folder, budget, clock, committed):
    plan = small_plan(600, impls=("bpe.heap",))
    plan = replace(plan, plan=replace(plan.plan, budget=budget))
    where = str(folder / "x.db")
    return run_campaign(plan, where, folder / "out", committed=committed, clock=clock)


@pytest.mark.thorough  # three whole campaigns
def test_rounds_past_the_end_are_lost_and_the_next_session_does_them_alike(tmp_path):
    clock = Clock()
    commits = 0

    def a_second_each(done):
        nonlocal commits
        commits += 1
        clock.at += 1.0

    made = session(tmp_path / "parts", Budget(seconds=3.0), clock, a_second_each)
    assert commits == 3
    assert made.finished.complete
    assert made.session_cases > 0
    session(tmp_path / "parts", Budget(cases=600), Clock(), lambda done: None)
    session(tmp_path / "whole", Budget(cases=600), Clock(), lambda done: None)
    assert everything(str(tmp_path / "parts" / "x.db")) == everything(
        str(tmp_path / "whole" / "x.db")
    )


def test_a_session_without_a_round_says_so(tmp_path):
    class Late(Clock):
        """Each look at it takes longer than the budget."""

        def __call__(self):
            self.at += 10.0
            return self.at

    made = session(tmp_path, Budget(seconds=1.0), Late(), lambda done: None)
    assert made.finished.cases == 0
    assert made.finished.exit_status == exit_statuses.NOT_EXAMINED
    [line] = made.finished.reasons
    assert "no round was finished in the time" in line
    assert any("not tested: toy_bytes (no round was" in note for note in made.finished.notes)


# The selftest.


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_selftest_names_how_many_it_had_no_time_for(jobs, tmp_path, monkeypatch):
    clock = Clock()

    def perform(
        keep, names, suite, seed, share,
        began,
    ) :  # fmt: skip
        began()
        clock.at += 20.0
        hunted = Hunted(dict.fromkeys(names, Shown()), {}, [], 20.0)
        return bytes(msgspec.msgpack.encode(hunted))

    monkeypatch.setattr(hunts, "perform", perform)
    plan = make_plan(["merging", "growth"], "30s", seed=0, jobs=jobs, command="")
    finished = conduct(Selftest(plan, clock), tmp_path, [])
    assert clock.at <= 30.0 + jobs * 20.0
    assert finished.complete
    assert finished.exit_status == exit_statuses.FAILS
    assert f"of {len(plan.mistakes)}, for want of time" in finished.reasons[-1]


# The search for grammars.


def test_the_hunt_for_grammars_ends_with_its_budget(tmp_path, monkeypatch):
    clock = Clock()
    task = Task(sources.resolve("toy_merges"), ["exact"], "flexible", 0, 60.0, 1 << 30)

    def results(
        task, jobs, processes, stopped,
        ready, left,
    ) :  # fmt: skip
        clock.at += 100.0  # loading
        ready()
        for job in jobs:
            clock.at += 4.0
            if stopped():
                return
            yield job, Caught(10)

    monkeypatch.setattr(hunting, "results", results)
    hunt = Hunt(task, Budget(seconds=30.0), tmp_path)
    told = []
    ended = hunt.search(lambda *_: None, Countdown(30.0, clock), told.append)
    assert ended is None
    assert told == [100.0]
    assert clock.at <= 100.0 + 32.0
    assert len(hunt.journal.done) == 7
