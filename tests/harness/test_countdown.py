"""The time that a budget gives, by a clock of our own."""

import math

import pytest

from harness.core.countdown import Countdown, seconds_text


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self):
        self.at = 100.0

    def __call__(self):
        return self.at


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


@pytest.mark.parametrize(
    ("seconds", "said"), [(None, "until Ctrl-C"), (45.0, "for 45 s"), (3600.0, "for 60 min")]
)
def test_in_words(seconds, said):
    assert seconds_text(seconds) == said
