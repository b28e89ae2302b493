"""Measurement of planted growth, with a simulated pool."""

from collections import Counter
from dataclasses import replace

import pytest

from corpora.families.base import Family
from corpora.families.catalog import FAMILIES, TELLING, families
from corpora.families.pattern import repeated
from corpora.vocabularies import embedded
from harness.checks import CHECKS, MEASURES
from harness.core.messages import Meter
from harness.core.outcomes import Failed, Rejected, Status
from harness.engine import selection
from harness.engine.suites import SUITES, Budget, parse_budget
from harness.studies.growth import measurement as measuring
from harness.studies.growth import schedule as scheduling
from harness.studies.growth.cell import FIRST_LOOK, LAST_LOOK, PROOFS, SMALLEST, Call, Cell
from harness.studies.growth.measurement import chosen, taking_part
from harness.studies.growth.prober import DEATHS
from harness.verdict.exponents import LEAST_POINTS
from harness.workers.pool import OutOfTime
from impls.interface import Mode
from tests.doubles.growth_pools import (
    LARGEST,
    Simulated,
    clock,
    contract,
    linear,
    measure,
    measurement_of,
    participant,
    quadratic,
)
from tests.doubles.toy_plans import any_plan

__all__ = ["clock"]  # a fixture
DEAD = Failed(Status.CRASHED, "killed by SIGABRT")


@pytest.fixture(autouse=True)
def a_quiet_machine(monkeypatch):
    for module in (measuring, scheduling):
        monkeypatch.setattr(module, "crowding", lambda: 0.0)


def test_who_is_named_gets_a_first_look_though_no_time_is_left():
    pool = Simulated({"named": linear, "other": linear, "quick": linear})
    names = [family.name for family in FAMILIES[:2]]
    measurement, said = measurement_of(pool, FAMILIES[:2])
    measurement.run(0.0, said.append, owed={"named", "quick"})
    found = {(one.implementation, one.family, one.verdict, one.rounds) for one in said}
    assert found == {(name, names[0], "linear", FIRST_LOOK) for name in ("named", "quick")}
    assert pool.left() > 1e9  # no question of the first look is cut off
    measurement, said = measurement_of(pool, FAMILIES[:2])
    measurement.run(0.0, said.append)
    assert (said, measurement.left_out) == ([], names)


def test_no_input_is_timed_twice():
    said, pool = measure({"quadratic": quadratic}, [families()["letter-run"]])
    timed = Counter(data for _, data in pool.asked if len(data) >= SMALLEST)
    again = [data for data, times in timed.items() if times > 1]
    # But for the cached figure.
    assert len(again) == 1 and len(timed) > 20
    assert [len(again[0])] == [size - 2 for size, _ in said[0].cached]


def test_implementations_get_the_same_inputs():
    _, pool = measure({"a": linear, "b": linear})
    asked = {name: [data for who, data in pool.asked if who == name] for name in "ab"}
    assert asked["a"] == asked["b"]


def test_a_call_took_what_the_kernel_counts_whatever_the_program_says():
    taking = contract([participant("lying")])
    cell = Cell(taking.participants[0], taking, FAMILIES[0])
    cell.add(256, Call(1000, counted=5_000_000, waited=6_000_000))
    assert cell.took == {256: 0.005}


def test_too_slow_for_enough_sizes_is_told_by_smaller_ones(clock):
    (said,), _ = measure({"slow": lambda data: 10**8 * len(data)})
    assert said.verdict == "linear"
    assert max(size for size, _ in said.points) < SMALLEST
    assert "stopped at" in said.note


def test_a_quadratic_may_take_longer_until_it_can_be_judged(clock):
    # A share of a millisecond a call, which it takes at 512 bytes. The clock stands still, so
    # that the 10 ms are not over before a busy machine has asked once.
    (said,), _ = measure({"slow": lambda d: len(d) ** 2 * 3}, [families()["letter-run"]], 0.01)
    assert len(said.points) >= LEAST_POINTS
    assert said.points[0][0] == SMALLEST, "smaller sizes were not needed"
    assert said.points[-1][0] < LARGEST


def test_max_input_is_kept():
    (said,), pool = measure({"limited": quadratic}, max_input=4096)
    assert max(len(data) for _, data in pool.asked) == 4096
    assert said.verdict == "superlinear"


@pytest.mark.parametrize(("strides", "proof"), [(10, PROOFS[0]), (500, PROOFS[-1])])
def test_superlinear_needs_more_rounds_the_less_it_shows(strides, proof):
    law = lambda data: 2_000 + 10 * len(data) + len(data) ** 2 // strides  # noqa: E731
    (said,), pool = measure({"square": law})
    assert said.verdict == "superlinear", said
    # One a second time, for the cached figure.
    assert sum(len(data) > LARGEST - 32 for _, data in pool.asked) == proof[1] + 1


def test_an_early_disturbance_is_measured_away():
    calls = iter(range(10_000))
    # The first rounds look quadratic: another process grows with them.
    law = lambda data: quadratic(data) if next(calls) < 40 else linear(data)  # noqa: E731
    assert measure({"disturbed": law})[0][0].verdict == "linear"


def test_steps_soon_after_one_another_are_inconclusive_after_the_last_look():
    def steps(data):
        return linear(data) * (1 + 2 * (len(data) > 5000) + 2 * (len(data) > 20_000))

    (said,), pool = measure({"steps": steps})
    assert said.verdict == "inconclusive"
    assert f"after {LAST_LOOK} rounds" in said.note
    assert sum(len(data) > LARGEST - 4 for _, data in pool.asked) == LAST_LOOK + 1


def test_a_death_is_failed_and_not_asked_again():
    said, pool = measure({"dies": lambda d: DEAD if len(d) > 2000 else linear(d), "fine": linear})
    by_name = {event.implementation: event for event in said}
    assert {name: one.verdict for name, one in by_name.items()} == {
        "dies": "failed", "fine": "linear",
    }  # fmt: skip
    assert "crashed at 2 KiB: killed by SIGABRT" in by_name["dies"].note
    assert [size for size, _ in by_name["dies"].points] == [32, 64, 128, 256, 512, 1024]
    # Warm-up, a few bytes, small sizes, up to 1 KiB, and once beyond.
    assert pool.requests["dies", Meter.TIME] == 5


def test_an_implementation_that_dies_does_not_starve_the_others():
    said, pool = measure({"dies": lambda _: DEAD, "linear": linear}, FAMILIES[:8])
    verdicts = Counter((event.implementation, event.verdict) for event in said)
    assert 1 <= verdicts["dies", "failed"] <= DEATHS
    assert {*verdicts} == {("dies", "failed"), ("dies", "inconclusive"), ("linear", "linear")}
    assert pool.requests["dies", Meter.TIME] <= 1 + 2 * DEATHS  # the warm-up first
    notes = {event.note for event in said if event.verdict == "inconclusive"}
    assert notes == {f"not measured further, as dies died on {DEATHS} families"}


def test_nothing_is_said_of_who_rejects_and_who_is_withdrawn_is_not_asked():
    said, pool = measure({"picky": lambda _: Rejected("no")})
    assert (said, pool.requests) == ([], {("picky", Meter.TIME): 2})  # the warm-up, and once
    pool = Simulated({"gone": linear})
    pool.gone = {"gone": "withdrawn after 12 deaths"}
    measurement, said = measurement_of(pool, FAMILIES)
    measurement.run(5.0, said.append)
    assert (said, pool.asked) == ([], [])


def test_out_of_time_says_so_and_warming_up_is_a_part_of_the_time(clock):
    (said,), _ = measure({"slow": clock.slow(0.2)}, FAMILIES[:3], seconds=1.0)
    assert said.verdict == "inconclusive"
    assert "out of time after 1 round; stopped at" in said.note
    names, before = [f"slow-{number}" for number in range(20)], clock.at
    said, pool = measure({name: clock.slow(1.0) for name in names}, seconds=5.5)
    assert said == [] and pool.asked
    assert clock.at - before <= 6.5  # who is warming up then has begun within the time


@pytest.mark.parametrize("slower", [2.5, 5.0, 12.0])
def test_what_looks_superlinear_is_decided_on_a_machine_that_becomes_busy(clock, slower):
    """Its largest sizes are given up for the rounds that it takes."""
    calls = iter(range(10_000))

    def busy(data):
        clock.at += (slower if next(calls) >= 20 else 1.0) * quadratic(data) / 1e9
        return quadratic(data)

    [said], _ = measure({"busy": busy}, seconds=10.0)
    assert said.verdict == "superlinear", said


def test_a_call_is_cut_off_at_the_end_of_the_run(clock):
    """The cell is inconclusive, and nothing of it is a failure or a death."""
    measurement, said = measurement_of(Simulated({"hangs": clock.slow(0.5)}), FAMILIES[:3])

    def cut():
        if clock.at >= 2.0:
            raise OutOfTime

    clock.each = cut
    measurement.run(60.0, said.append)
    assert [event.verdict for event in said] == ["inconclusive"]
    assert said[0].note.startswith("out of time in its first round")
    assert measurement.left_out == [family.name for family in FAMILIES[1:3]]


def test_stopping_says_no_more():
    pool = Simulated({"linear": linear})
    measurement, said = measurement_of(pool, FAMILIES)
    measurement.run(60.0, said.append, lambda: len(pool.asked) > 20)
    assert said == []


def test_the_telling_families_and_the_users_own_are_chosen_and_others_by_seed_and_time(monkeypatch):
    taken = [chosen(families(), 20, 4.0, seed) for seed in range(40)]
    assert all(one[: len(TELLING)] == list(TELLING) for one in taken)
    assert all(len(one) == len(TELLING) + 2 == len(set(one)) for one in taken)
    assert chosen(families(), 20, 4.0, 7) == taken[7]
    # One seed after another comes by all.
    assert {family.name for one in taken for family in one} == set(families())
    mine = Family("mine", "seen at work", lambda vocabulary: repeated(b"xy"))
    assert mine in chosen(families([mine]), 20, 4.0, 3)
    whole = chosen(families(), 1, 300.0, 0)
    monkeypatch.setattr(measuring, "crowding", lambda: 20.0)  # many wait for a core
    assert len(chosen(families(), 5, 3.0, 0)) < len(whole) == len(FAMILIES)


def test_each_implementation_is_measured_in_its_first_mode():
    a, b = participant("a"), participant("b")
    second = replace(contract([a, b]), mode=Mode(pretokenize=False))
    found = [(one.name, other.mode.label) for one, other in taking_part([contract([a]), second])]
    assert found == [("a", "text"), ("b", "raw")]


def test_named_vocabularies_are_measured_and_else_a_few():
    everything = [*CHECKS, *MEASURES]
    assert selection.scaled(["toy_runs", "toy_ties"], everything) == ("toy_runs", "toy_ties")
    assert set(selection.scaled([], everything)) <= set(embedded.embedded())
    assert selection.scaled(["toy_runs"], ["equivalence"]) == ()


def test_share_of_the_time():
    smoke = SUITES["smoke"]
    whole = any_plan(
        vocabularies=["toy_runs", "toy_ties", "toy_bytes"], checks=list(CHECKS.values()),
        budget=Budget(seconds=100.0), scaled=("toy_runs", "toy_ties"),
    )  # fmt: skip
    share, usual = smoke.scaling, parse_budget(smoke.budget).seconds
    for changes, given, seconds in (
        ({}, 100.0, share * 50),
        ({"checks": []}, 100.0, 50),
        ({"scaled": ()}, 100.0, 0.0),
        ({"scaled": ("toy_runs",)}, None, share * usual),
    ):
        plan = replace(whole, **changes)
        assert plan.scaling_seconds(given) == pytest.approx(seconds)
    assert replace(whole, checks=[], scaled=("toy_ties",)).visited == ["toy_ties"]
    assert replace(whole, scaled=("toy_ties",)).visited == [*whole.vocabularies]
