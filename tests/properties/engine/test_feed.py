"""Nobody waits for a slow implementation, it is not left out, and nothing is judged in its name."""

import itertools
import time
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.core.outcomes import Inputs
from harness.engine import feed
from harness.engine.feed import (
    PATIENCE,
    TELLING,
    Flight,
    Part,
    first_bytes,
    slow_ones,
    telling_inputs,
)
from harness.engine.streams import Batch
from tests.doubles.pools import ByHand, Fed, Workers


def batch(number, size=100, count=100):
    return Batch("one", 0, number, number * count, [b"x" * size] * count)


def endless(size=100):
    """Batches of three generators in turn, of ten inputs each."""
    for number in itertools.count():
        for generator in ("one", "two", "three"):
            yield replace(batch(number, size, 10), generator=generator)


def soon(name, waited):
    """Everybody is waited for, but not for ever."""
    return waited < 5


# Workers that take time.


def test_a_slow_one_does_not_starve_the_others_and_equals_are_asked_alike():
    workers = Workers({"a": 0.001, "b": 0.001, "slow": 2.0})
    fed = Fed(workers, *workers.pace)
    fed.run(endless(), 3.0)
    fed.end(soon)
    judged = fed.cases()
    assert judged["a"] == judged["b"] == workers.asked["a"] > 5 * judged["slow"] > 0


def test_one_that_never_answers_costs_the_others_its_patience_only():
    workers = Workers({"a": 0.001, "b": 0.001, "hangs": 1000.0})
    fed = Fed(workers, *workers.pace)
    fed.run(endless(), 1.0 + PATIENCE)
    assert fed.feed.behind() == {"hangs"}
    assert fed.end(lambda name, waited: name != "hangs" and waited < 60) == ["hangs"]
    assert fed.cases()["a"] == fed.cases()["b"] > 10
    assert fed.cases()["hangs"] == 0


@pytest.mark.thorough  # it takes seconds
def test_of_two_the_fast_one_waits():
    # Alone it would compare with nobody.
    fed = Fed(Workers({"a": 0.001, "slow": 0.5}), "a", "slow")
    fed.run(endless(), 2.0)
    fed.end(soon)
    assert fed.cases()["a"] <= 2 * fed.cases()["slow"] + 60


def test_who_was_behind_is_asked_later_about_what_everybody_is_asked():
    workers = Workers({"a": 0.001, "b": 0.001, "late": 0.001})
    fed = Fed(workers, *workers.pace)

    def certain():
        return [names for generator, names, _ in fed.judged if generator == "certain"]

    def stream():
        yield from itertools.islice(endless(200), 20)
        with workers.turns["late"]:
            yield from itertools.islice(endless(200), 3)
            time.sleep(2 * PATIENCE)
            yield Batch("certain", 0, 0, 0, [b"x" * 1_000], certain=True)
            yield from itertools.islice(endless(200), 20)
        while not any("late" in names for names in certain()):
            yield from itertools.islice(endless(200), 3)

    fed.run(stream())
    fed.end(lambda name, waited: True)
    assert certain() == [["a", "b"], ["a", "b", "late"]]


def test_a_judge_that_fails_is_heard():
    def judging(seen):
        raise ValueError("no")

    fed = Fed(Workers({"a": 0.0, "b": 0.0}), "a", "b", judging=judging)
    with pytest.raises(ValueError, match="no"):
        fed.run(endless())


# Workers that answer when the test says so.


@pytest.fixture
def pool():
    return ByHand()


def known(fed, *names):
    """These have shown that they are fast."""
    fed.feed.rates |= dict.fromkeys(names, 1e9)
    return fed


NAMES = ["a", "b", "c"]
SOME = st.frozensets(st.sampled_from(NAMES))


@settings(max_examples=80, deadline=None)
@given(
    references=SOME,
    gone=SOME,
    rates=st.dictionaries(st.sampled_from(NAMES), st.sampled_from([1e2, 1e4, 1e9])),
    steps=st.lists(st.tuples(SOME, st.sampled_from([0.0, 0.3, 1.0])), max_size=25),
    all_answer=st.booleans(),
)
def test_what_is_answered_is_judged_once_and_never_without_the_reference(
    references, gone, rates, steps, all_answer
):
    """steps: who answers then, and how much time has passed. gone: who is given up."""
    pool, seen, passed, taken = ByHand(), [], [0.0], []
    pool.withdrawn = lambda: dict.fromkeys(gone, "it hung")
    fed = Fed(pool, *NAMES, references=references, judging=seen.append)
    fed.feed.rates |= rates
    fed.feed.clock = lambda: time.monotonic() + passed[0]
    coming = iter(steps)

    def over():
        names, seconds = next(coming, ((), None))
        pool.answer(*names)
        passed[0] += seconds or 0.0
        return seconds is None

    def stream():
        for number in itertools.count():
            inputs = [b"%04d" % (number * 20 + row) * 25 for row in range(20)]
            taken.append(replace(batch(number), inputs=inputs))
            yield taken[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feed, "BLINK", 0.0)
        fed.feed.run(stream(), over)
        if all_answer:
            pool.answer(*NAMES)
        owing = fed.end()
    asked, answered = Counter(), Counter()
    for name, count, future in pool.asked:
        asked[name] += count
        answered[name] += count * future.done()
    trusted = references - gone
    for one in seen:
        assert not trusted or not trusted.isdisjoint(one.results)
    judged = Counter((name, data) for one in seen for name in one.results for data in one.inputs)
    assert set(judged.values()) <= {1}
    assert fed.cases() <= answered
    if all_answer:
        assert owing == []
        assert fed.cases() == answered == asked
    assert taken == [] or steps


def test_who_has_not_shown_its_pace_is_asked_few_bytes(pool):
    fed = Fed(pool, "a", "b", "slow")
    few = telling_inputs(batch(0).inputs)
    assert few * 100 >= TELLING > (few - 1) * 100
    fed.feed.offer(batch(0))
    assert [one[:2] for one in pool.asked] == [("a", few), ("b", few), ("slow", few)]
    pool.answer("a", "b")
    known(fed, "a", "b")
    before = len(pool.asked)
    fed.feed.offer(batch(1))
    # The rest of the first batch is asked now, of the slow one again no more than a little.
    assert max(count for name, count, _ in pool.asked[before:] if name == "a") > few
    assert all(count == few for name, count, _ in pool.asked if name == "slow")
    pool.answer("a", "b", "slow")
    fed.end()
    assert fed.cases()["a"] == 200


def test_what_was_held_back_is_asked_when_there_are_no_more_batches(pool):
    fed = Fed(pool, "a", "b")

    def over():
        pool.answer("a", "b")
        return False

    fed.feed.run(iter([batch(0)]), over)
    over()
    fed.end()
    assert fed.cases() == {"a": 100, "b": 100}


def test_nothing_is_judged_once_it_is_closed(pool):
    fed = known(Fed(pool, "a", "b", judging=lambda seen: time.sleep(0.05)), "a", "b")
    for number in range(12):
        fed.feed.offer(batch(number))
    pool.answer("a", "b")
    fed.feed._judge_answered()
    fed.feed.close()
    ended = len(fed.judged)
    assert 0 < ended < 12
    time.sleep(0.2)
    assert len(fed.judged) == ended


def test_who_owes_is_abandoned_before_its_judges_are_waited_for(pool):
    told = []
    fed = Fed(pool, "a", "b", judging=lambda seen: told.append(pool.abandoned.wait(30)))
    known(fed, "a", "b").feed.offer(batch(0))
    pool.answer("a", "b")
    fed.feed.offer(batch(1))
    assert fed.end() == pool.names == ["a", "b"]
    assert told == [True]


def test_who_answers_while_the_end_is_settled_is_late_or_judged_but_not_both(pool):
    class Soon:
        """Answered from so many looks on."""

        looks = 0

        @property
        def done(self):
            self.looks += 1
            return self.looks > 3

    fed = Fed(pool, "a", "b")
    pending = pool.ask(fed.contract, Inputs.of(batch(0).inputs))
    pool.answer("a", "b")
    futures = {"a": pending.futures["a"], "b": Soon()}
    both = dict.fromkeys("ab", replace(pending, futures=futures))
    fed.feed._flights.append(Flight(fed.contract, batch(0), 0.0, both, [Part(0, 100, ["a", "b"])]))
    assert fed.end() == ["b"]
    assert [names for _, names, _ in fed.judged] == [["a"]]


# How much is asked.


def test_everybody_is_held_to_the_fastest_reference_however_slow():
    rates = {"a": 1e6, "b": 1e6, "c": 1e6, "trusted": 100.0, "slower": 10.0}
    assert set(slow_ones(rates, list(rates), 1000, set())) == {"trusted", "slower"}
    assert set(slow_ones(rates, list(rates), 1000, {"trusted", "slower"})) == {"slower"}
    assert set(slow_ones(rates, list(rates), 1000, {"a", "slower"})) == {"trusted", "slower"}


def test_the_first_bytes():
    inputs = [b"aa", b"bb", b"cc"]
    # One at the least.
    assert [first_bytes(inputs, most) for most in (1, 4, 100)] == [1, 2, 3]
