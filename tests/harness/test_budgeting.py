"""Time is shared so that the verdict comes when it was promised."""

from harness.core.countdown import Countdown
from harness.engine.examiner import LEAST_SECONDS, share
from harness.engine.state import last_seconds, left_for_cases


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_no_new_case_is_asked_in_the_last_part_of_a_budget():
    clock = Clock()
    countdown = Countdown(10.0, clock)
    clock.now += 50  # loading
    assert abs(left_for_cases(countdown) - (10.0 - last_seconds(10.0))) < 1e-9
    countdown.start()
    clock.now += 10.0 - last_seconds(10.0) + 0.01
    assert left_for_cases(countdown) < 0
    assert not countdown.over


def test_without_a_budget_time_is_no_limit():
    assert left_for_cases(Countdown(None, Clock()).start()) == float("inf")


def test_shares_of_one_lane_use_up_what_is_left():
    left, weights = 40.0, [1.0, 1.0, 1.0, 0.25, 0.25]
    spent = 0.0
    for place, weight in enumerate(weights):
        spent += share(left - spent, weight, sum(weights[place:]), 1, 0.0)
    assert abs(spent - left) < 1e-9


def test_two_lanes_have_twice_as_much_each():
    assert share(40.0, 1.0, 4.0, 2, 0.0) == 20.0
    assert share(40.0, 1.0, 1.0, 2, 0.0) == 40.0  # the last one cannot have more than there is


def test_what_is_reserved_is_not_shared():
    assert share(40.0, 1.0, 2.0, 1, 20.0) == 10.0


def test_everybody_gets_something_while_there_is_time():
    assert share(5.0, 0.25, 10.0, 1, 10.0) == LEAST_SECONDS
    assert share(0.1, 0.25, 10.0, 1, 0.0) == 0.1


def test_the_last_part_is_enough_to_minimise_and_no_large_part_of_a_short_budget():
    assert last_seconds(2.0) == 0.2
    assert last_seconds(10.0) == last_seconds(20.0) == 1.0
    assert last_seconds(100.0) == 4.0
