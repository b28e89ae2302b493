"""Measurement of planted growth: with a simulated pool, and from the command line."""

import time
from collections import Counter
from dataclasses import replace

import pytest

import harness.studies.growth.measurement
import harness.studies.growth.prober
import harness.studies.growth.schedule
from corpora.families.base import Family
from corpora.families.catalog import FAMILIES, TELLING, families
from corpora.families.pattern import repeated
from corpora.vocabularies import embedded
from harness.checks import CHECKS, MEASURES
from harness.core.messages import Meter
from harness.core.outcomes import Failed, Rejected, Spent, Status
from harness.engine import selection
from harness.engine.suites import SUITES, Budget, parse_budget
from harness.studies.growth.cell import FIRST_LOOK, LAST_LOOK, PROOFS, SMALLEST
from harness.studies.growth.measurement import chosen, taking_part
from harness.studies.growth.prober import DEATHS
from harness.verdict.exponents import LEAST_POINTS
from harness.workers.pool import OutOfTime
from impls.interface import Mode
from tests.harness.growth_pools import (
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
from tests.harness.toy_plans import any_plan

__all__ = ["clock"]  # a fixture


def test_who_is_named_gets_a_first_look_though_no_time_is_left():
    pool = Simulated({"named": linear, "other": linear, "quick": linear})
    measurement, said = measurement_of(pool, FAMILIES[:2])
    measurement.run(0.0, said.append, owed={"named", "quick"})
    assert {(one.implementation, one.family) for one in said} == {
        ("named", FAMILIES[0].name),
        ("quick", FAMILIES[0].name),
    }
    assert {one.verdict for one in said} == {"linear"}
    assert {one.rounds for one in said} == {FIRST_LOOK}
    assert pool.left() > 1e9  # no question of the first look is cut off
    measurement, said = measurement_of(pool, FAMILIES[:2])
    measurement.run(0.0, said.append)
    assert said == []
    assert measurement.left_out == [family.name for family in FAMILIES[:2]]


class TestSimulated:
    def test_no_input_is_timed_twice(self):
        said, pool = measure({"quadratic": quadratic}, [families()["letter-run"]])
        timed = Counter(data for _, data in pool.asked if len(data) >= SMALLEST)
        again = [data for data, times in timed.items() if times > 1]
        # But for the cached figure.
        assert len(again) == 1 and len(timed) > 20
        assert [len(again[0])] == [size - 2 for size, _ in said[0].cached]

    def test_implementations_get_the_same_inputs_in_turn(self):
        def waiting(data):
            time.sleep(0.001)  # else the making of the inputs is all that takes time
            return linear(data)

        _, pool = measure({"a": waiting, "b": waiting})
        order = "".join(name for name, _ in pool.asked)
        inputs = {name: [d for n, d in pool.asked if n == name] for name in "ab"}
        assert inputs["a"] == inputs["b"]
        assert order.count("ab") + order.count("ba") >= 3

    def test_too_slow_for_enough_sizes_is_told_by_smaller_ones(self, clock, monkeypatch):
        monkeypatch.setattr(harness.studies.growth.schedule, "crowding", lambda: 0.0)
        said, _ = measure({"slow": lambda data: 10**8 * len(data)})
        assert said[0].verdict == "linear"
        assert max(size for size, _ in said[0].points) < SMALLEST
        assert "stopped at" in said[0].note

    def test_a_quadratic_may_take_longer_until_it_can_be_judged(self, clock):
        # A share of a millisecond a call, which it takes at 512 bytes. The clock stands still, so
        # that the 10 ms are not over before a busy machine has asked once.
        kinds = [families()["letter-run"]]
        said, _ = measure({"slow": lambda data: len(data) ** 2 * 3}, kinds, 0.01)
        assert len(said[0].points) >= LEAST_POINTS
        assert said[0].points[0][0] == SMALLEST, "smaller sizes were not needed"
        assert said[0].points[-1][0] < LARGEST

    def test_max_input_is_kept(self):
        said, pool = measure({"limited": quadratic}, max_input=4096)
        assert max(len(data) for _, data in pool.asked) == 4096
        assert said[0].verdict == "superlinear"

    @pytest.mark.parametrize(("strides", "proof"), [(10, PROOFS[0]), (500, PROOFS[-1])])
    def test_superlinear_needs_more_rounds_the_less_it_shows(self, strides, proof):
        def square(data):
            return 2_000 + 10 * len(data) + len(data) ** 2 // strides

        (said,), pool = measure({"square": square})
        largest = [data for _, data in pool.asked if len(data) > LARGEST - 32]
        assert said.verdict == "superlinear", said
        assert len(largest) == proof[1] + 1  # one a second time, for the cached figure

    def test_an_early_disturbance_is_measured_away(self):
        calls = 0

        def disturbed(data):
            nonlocal calls
            calls += 1
            # The first rounds look quadratic: another process grows with them.
            return quadratic(data) if calls < 40 else linear(data)

        said, _ = measure({"disturbed": disturbed})
        assert said[0].verdict == "linear"

    def test_steps_soon_after_one_another_are_inconclusive_after_the_last_look(self):
        def steps(data):
            return linear(data) * (1 + 2 * (len(data) > 5000) + 2 * (len(data) > 20_000))

        said, pool = measure({"steps": steps})
        assert said[0].verdict == "inconclusive"
        assert f"after {LAST_LOOK} rounds" in said[0].note
        assert sum(len(data) > LARGEST - 4 for _, data in pool.asked) == LAST_LOOK + 1

    def test_a_death_is_failed_and_not_asked_again(self):
        def dies(data):
            return Failed(Status.CRASHED, "killed by SIGABRT") if len(data) > 2000 else linear(data)

        said, pool = measure({"dies": dies, "linear": linear})
        by_name = {event.implementation: event for event in said}
        assert by_name["dies"].verdict == "failed"
        assert "crashed at 2 KiB: killed by SIGABRT" in by_name["dies"].note
        assert [size for size, _ in by_name["dies"].points] == [32, 64, 128, 256, 512, 1024]
        # Warm-up, a few bytes, small sizes, up to 1 KiB, and once beyond.
        assert pool.requests["dies", Meter.TIME] == 5
        assert by_name["linear"].verdict == "linear"

    def test_an_implementation_that_dies_does_not_starve_the_others(self):
        dead = Failed(Status.CRASHED, "killed by SIGABRT")
        said, pool = measure({"dies": lambda _: dead, "linear": linear}, FAMILIES)
        verdicts = [event.verdict for event in said if event.implementation == "dies"]
        assert 1 <= verdicts.count("failed") <= DEATHS
        assert set(verdicts) == {"failed", "inconclusive"}
        assert pool.requests["dies", Meter.TIME] <= 1 + 2 * DEATHS  # the warm-up first
        assert all(e.verdict == "linear" for e in said if e.implementation == "linear")
        notes = {event.note for event in said if event.verdict == "inconclusive"}
        assert notes == {f"not measured further, as dies died on {DEATHS} families"}

    def test_a_withdrawn_implementation_is_not_asked(self):
        pool = Simulated({"gone": linear})
        pool.gone = {"gone": "withdrawn after 12 deaths"}
        measurement, said = measurement_of(pool, FAMILIES)
        measurement.run(5.0, said.append)
        assert (said, pool.asked) == ([], [])

    def test_rejection_says_nothing(self):
        said, pool = measure({"picky": lambda _: Rejected("no")})
        assert said == []
        assert pool.requests == {("picky", Meter.TIME): 2}  # the warm-up, and once

    def test_out_of_time_says_so(self, clock):
        said, _ = measure({"slow": clock.slow(0.2)}, FAMILIES[:3], seconds=1.0)
        assert [event.verdict for event in said] == ["inconclusive"]
        assert "out of time after 1 round; stopped at" in said[0].note

    def test_warming_up_is_a_part_of_the_time(self, clock):
        names = [f"slow-{number}" for number in range(20)]
        said, pool = measure({name: clock.slow(1.0) for name in names}, seconds=5.5)
        assert said == []
        assert clock.at <= 6.5  # who is warming up then has begun within the time
        assert pool.asked

    @pytest.mark.parametrize("slower", [2.5, 5.0, 12.0])
    def test_what_looks_superlinear_is_decided_on_a_machine_that_becomes_busy(
        self, clock, monkeypatch, slower
    ):
        """Its largest sizes are given up for the rounds that it takes."""
        monkeypatch.setattr(harness.studies.growth.schedule, "crowding", lambda: 0.0)
        calls = 0

        def busy(data):
            nonlocal calls
            calls += 1
            clock.at += (slower if calls > 20 else 1.0) * quadratic(data) / 1e9
            return quadratic(data)

        [said], _ = measure({"busy": busy}, seconds=10.0)
        assert said.verdict == "superlinear", said

    def test_a_call_is_cut_off_at_the_end_of_the_run(self, clock):
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

    def test_stopping_says_no_more(self):
        pool = Simulated({"linear": linear})
        measurement, said = measurement_of(pool, FAMILIES)
        measurement.run(60.0, said.append, lambda: len(pool.asked) > 20)
        assert said == []


class Remote(Simulated):
    """Stands in for programs behind a pipe, by names with what they say of a call of so long.

    shown: the share of a call that the kernel counts as theirs.
    """

    def __init__(self, answers, says, shown):
        super().__init__(answers)
        self._says, self._shown = says, shown

    def clocks(self, name, spent):
        wall = spent + 200_000
        return Spent(self._says(spent), wall, 1, int(self._shown * wall))


class TestClaims:
    """What a program says of its own cost is not believed without a look at the clock."""

    def said(self, answer, says=lambda spent: spent, shown=1.0):
        measurement, said = measurement_of(Remote({"program": answer}, says, shown))
        measurement.run(20.0, said.append)
        return said[0]

    def test_the_truth_is_as_good_as_the_clock(self):
        assert self.said(linear).verdict == "linear"
        square = self.said(quadratic)
        assert square.verdict == "superlinear" and "it says" not in square.note

    @pytest.mark.parametrize(
        "says",
        [lambda spent: 1000, lambda spent: 0, lambda spent: int(spent**0.5)],
        ids=["constant", "nothing", "root"],
    )
    def test_a_lie_is_found_out_in_words(self, says):
        lying = self.said(quadratic, says)
        assert lying.verdict == "superlinear", lying
        assert lying.exponent == pytest.approx(2.0, abs=0.2)
        assert "it says of itself that" in lying.note and "ms of CPU time" in lying.note
        # Its sizes end where its calls take long, and not where it says so.
        assert max(seconds for _, seconds in lying.points) < 5.0


class TestChoice:
    """Which families a run measures."""

    @pytest.fixture(autouse=True)
    def a_quiet_machine(self, monkeypatch):
        monkeypatch.setattr("harness.studies.growth.measurement.crowding", lambda: 0.0)

    def test_fewer_where_many_wait_for_a_core(self, monkeypatch):
        monkeypatch.setattr("harness.studies.growth.measurement.crowding", lambda: 20.0)
        taken = chosen(families(), 5, 3.0, 0)
        assert len(taken) < len(chosen(families(), 1, 300.0, 0)) == len(FAMILIES)
        assert taken[: len(TELLING)] == list(TELLING)

    def test_the_telling_ones_first_and_others_by_seed(self):
        taken = [chosen(families(), 20, 4.0, seed) for seed in range(40)]
        assert all(one[: len(TELLING)] == list(TELLING) for one in taken)
        assert all(len(one) == len(TELLING) + 2 == len(set(one)) for one in taken)
        assert chosen(families(), 20, 4.0, 7) == taken[7]
        # One seed after another comes by all.
        assert {family.name for one in taken for family in one} == set(families())

    def test_the_users_own_are_always_taken(self):
        mine = Family("mine", "seen at work", lambda vocabulary: repeated(b"xy"))
        assert mine in chosen(families([mine]), 20, 4.0, 3)


def test_each_implementation_is_measured_in_its_first_mode():
    a, b = participant("a"), participant("b")
    first, second = contract([a]), replace_mode(contract([a, b]))
    found = [(one.name, other.mode.label) for one, other in taking_part([first, second])]
    assert found == [("a", "text"), ("b", "raw")]


def replace_mode(made):
    return replace(made, mode=Mode(pretokenize=False))


class TestSeams:
    def test_named_vocabularies_are_measured_and_else_a_few(self):
        everything = [*CHECKS, *MEASURES]
        assert selection.scaled(["toy_runs", "toy_ties"], everything) == ("toy_runs", "toy_ties")
        assert set(selection.scaled([], everything)) <= set(embedded.embedded())
        assert selection.scaled(["toy_runs"], ["equivalence"]) == ()

    def test_share_of_the_time(self):
        smoke, every = SUITES["smoke"], list(CHECKS.values())
        whole = any_plan(
            vocabularies=["toy_runs", "toy_ties", "toy_bytes"], checks=every,
            budget=Budget(seconds=100.0), scaled=("toy_runs", "toy_ties"),
        )  # fmt: skip
        share, usual = smoke.scaling, parse_budget(smoke.budget).seconds
        for plan, given, seconds in (
            (whole, 100.0, share * 50),
            (replace(whole, checks=[]), 100.0, 50),
            (replace(whole, scaled=()), 100.0, 0.0),
            (replace(whole, scaled=("toy_runs",)), None, share * usual),
        ):
            assert plan.scaling_seconds(given) == pytest.approx(seconds)
        assert replace(whole, checks=[], scaled=("toy_ties",)).visited == ["toy_ties"]
        assert replace(whole, scaled=("toy_ties",)).visited == [*whole.vocabularies]
