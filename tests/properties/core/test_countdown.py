"""The time that a budget gives, and how it is shared, by a clock of our own."""

import math

import pytest

from harness.core.countdown import Countdown
from harness.engine.examiner import LEAST_SECONDS, share
from harness.engine.state import last_seconds, left_for_cases
from tests.doubles.pools import Clock


@pytest.fixture
def clock():
    return Clock()


def test_what_comes_before_the_first_case_is_counted_apart(clock):
    countdown = Countdown(60.0, clock)
    clock.at += 500
    assert not countdown.over
    assert (countdown.prepared, countdown.spent, countdown.left) == (500, 0, 60)
    countdown.start()
    clock.at += 59
    assert (countdown.prepared, countdown.spent, countdown.left) == (500, 59, 1)
    assert not countdown.over
    clock.at += 2
    assert countdown.over
    assert (countdown.start().spent, countdown.left, countdown.late) == (61, 0, 1)
    endless = Countdown(None, clock).start()
    clock.at += 1e9
    assert (endless.over, endless.left) == (False, math.inf)


def test_a_part_ends_no_later_than_the_whole(clock):
    countdown = Countdown(60.0, clock).start()
    clock.at += 50
    part, short = countdown.part(30.0), countdown.part(2.0)
    clock.at += 2
    assert short.over
    assert not part.over
    clock.at += 8
    assert part.over


def test_no_new_case_is_asked_in_the_last_part_of_a_budget(clock):
    assert left_for_cases(Countdown(None, clock).start()) == math.inf
    countdown = Countdown(10.0, clock)
    clock.at += 50  # loading
    assert left_for_cases(countdown) == pytest.approx(10.0 - last_seconds(10.0))
    countdown.start()
    clock.at += 10.0 - last_seconds(10.0) + 0.01
    assert left_for_cases(countdown) < 0
    assert not countdown.over


def test_shares_of_one_lane_use_up_what_is_left():
    left, weights = 40.0, [1.0, 1.0, 1.0, 0.25, 0.25]
    spent = 0.0
    for place, weight in enumerate(weights):
        spent += share(left - spent, weight, sum(weights[place:]), 1, 0.0)
    assert spent == pytest.approx(left)


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        # Two lanes have twice as much each, but no more than there is.
        ((40.0, 1.0, 4.0, 2, 0.0), 20.0),
        ((40.0, 1.0, 1.0, 2, 0.0), 40.0),
        # What is reserved is not shared.
        ((40.0, 1.0, 2.0, 1, 20.0), 10.0),
        # Everybody gets something while there is time.
        ((5.0, 0.25, 10.0, 1, 10.0), LEAST_SECONDS),
        ((0.1, 0.25, 10.0, 1, 0.0), 0.1),
    ],
)
def test_a_share(given, seconds):
    assert share(*given) == seconds
