"""Budgets are kept, by clocks of our own: no wall time is waited for."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from corpora.vocabularies import sources
from harness.core import exit_statuses
from harness.core.countdown import Countdown
from harness.core.messages import Meter
from harness.core.outcomes import Status
from harness.engine.steps import conduct
from harness.engine.suites import Budget
from harness.studies.campaigns.state import Kept
from harness.studies.forced import hunt as hunting
from harness.studies.forced.adversary import Caught
from harness.studies.forced.hunt import Hunt
from harness.studies.forced.jobs import Task
from harness.studies.selftest import hunts
from harness.studies.selftest.groups import Hunted, Shown
from harness.studies.selftest.run import Selftest, make_plan
from harness.studies.worst.finals import finish
from harness.studies.worst.gauge import Gauge
from harness.studies.worst.patterns import Breeder
from harness.studies.worst.plan import make_plan as make_worst_plan
from harness.studies.worst.results import Report
from harness.studies.worst.search import Search
from harness.studies.worst.state import State
from harness.workers.pool import OutOfTime
from reports.worst import verdict
from tests.doubles.fuzz_campaign import everything, small_plan
from tests.doubles.fuzz_campaign import run as run_campaign
from tests.doubles.planted_costs import A_BYTE, Planted, on, runs
from tests.doubles.pools import Clock

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
    plan = make_worst_plan(["bpe.naive"], ["toy_bytes"], budget, "16KB", ["all"], False, 3, 0, 1)
    assert plan.withheld >= set(plan.families)
    return plan


def new_search(clock, gauge, seconds):
    phase = Countdown(seconds, clock).start()
    gauge.end = clock.at + seconds
    breeder = Breeder(sources.resolve("toy_bytes"))
    state = State(control=A_BYTE)
    return Search(breeder, Gauge(on(gauge), phase), worst_plan(60.0).sizes, 0, state)


@pytest.mark.parametrize("a_request", [0.1, 7.0])
def test_a_search_ends_with_its_budget_however_slow_the_requests(a_request):
    clock = Clock()
    gauge = slow(clock, a_request)
    search, plan = new_search(clock, gauge, 42.0), worst_plan(60.0)
    with pytest.raises(OutOfTime):
        while True:
            search.step()
    assert clock.at <= 42.0
    report, rest = Report.of(plan, "tokgate worst"), Countdown(60.0 - clock.at, clock).start()
    gauge.end = 60.0
    finish(report, Gauge(on(gauge), rest), plan, [search.state], rest, lambda event: None)
    assert clock.at <= 60.0
    report.complete = True
    if report.compared:
        assert verdict(report).startswith("the worst input found costs")
    else:
        assert "no time" in verdict(report)
    assert a_request > 1 or report.compared >= 4
    assert a_request > 1 or report.found


def test_a_generation_that_is_cut_short_is_done_again():
    clock = Clock()
    cut = new_search(clock, slow(clock, 1.3), 28.0)
    kept, parts, whole = Kept(State, {}), {}, new_search(Clock(), slow(Clock(), 0.0), 1e9)
    kept.state = cut.state
    with pytest.raises(OutOfTime):
        while True:
            parts |= kept.round("x").parts
            cut.step()
    state = State.of(parts)
    assert state.schedule.number > 0
    # Until it has committed as many generations, a search that is not cut short is the same.
    while whole.state.schedule.number < state.schedule.number:
        whole.step()
    assert whole.state == state


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
    assert f"of {len(plan.mistakes)}, because time was short" in finished.reasons[-1]


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
