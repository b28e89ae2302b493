"""The search finds what is planted, within a number of measurements, and goes on where it was."""

import random
import re

import pytest

from corpora.families.pattern import Pattern, Pump
from corpora.vocabularies import sources
from harness.core.messages import Meter
from harness.core.outcomes import Status
from harness.studies.campaigns.state import Kept
from harness.studies.worst.gauge import portions
from harness.studies.worst.patterns import Breeder, niche
from harness.studies.worst.search import ENOUGH_DEATHS, Search
from harness.studies.worst.state import Aim, Candidate, Sizes, State
from tests.breadth import thorough_from
from tests.harness.planted_costs import A_BYTE, Planted, gauge_of, many, runs

SIZES = Sizes(512, 2048, 8192, 1 << 17)
"""Small, so that making inputs takes no time."""

MOST = 40_000
"""Measurements within which everything is to be found; most of it takes a tenth."""


@pytest.fixture(scope="module")
def breeder():
    return Breeder(sources.resolve("toy_bytes"))


def searched(breeder, gauge, found, seed=0):
    """A search that has found it; fails where it takes too many measurements."""
    search = Search(breeder, gauge_of(gauge), SIZES, seed, State(control=A_BYTE))
    while not found(search):
        assert search.state.cases < MOST, search.leaders()[0].pattern.expression()
        search.step()
    return search


def dear(times):
    """Whether something costs so many times as much as prose."""
    return lambda search: any(
        one.cost(SIZES.large) > times * A_BYTE for one in search.leaders(Aim.COST)
    )


@pytest.mark.parametrize("seed", thorough_from(1, range(3)))
def test_it_finds_runs_of_one_byte(breeder, seed):
    search = searched(breeder, Planted(runs(b"#")), dear(15), seed)
    assert b"#" * 100 in search.leaders()[0].pattern.make(SIZES.large)


@pytest.mark.parametrize("seed", range(3))
def test_it_finds_many_newlines_wherever_they_stand(breeder, seed):
    search = searched(breeder, Planted(many(b"\n")), dear(10), seed)
    assert search.leaders()[0].pattern.make(SIZES.large).count(b"\n") > SIZES.large / 2


@pytest.mark.thorough  # a whole search
def test_it_finds_a_pair_of_tokens(breeder):
    # Two of 260 tokens, side by side: by chance one pattern of some thousands has them.
    search = searched(breeder, Planted(many(b"\x01\x02")), dear(2.5))
    assert search.leaders()[0].pattern.make(SIZES.large).count(b"\x01\x02") > 300


def test_growth_is_an_aim_of_its_own(breeder):
    # What grows costs less than all else at the sizes of the search, and more beyond.
    gauge = Planted(lambda d: A_BYTE * (len(d) - d.count(b"\n")) + d.count(b"\n") ** 2 / 50)
    search = searched(
        breeder,
        gauge,
        lambda s: any(SIZES.score(one, Aim.GROWTH, A_BYTE) > 1.8 for one in s.leaders(Aim.GROWTH)),
    )
    assert b"\n" in search.leaders(Aim.GROWTH)[0].pattern.make(SIZES.large)


def test_it_finds_an_overflow_of_the_stack_at_a_depth(breeder):
    deep = re.compile(rb"([(\[{<])\1{5000}")
    overflows = Planted(dies=lambda data: Status.CRASHED if deep.search(data) else None)
    search = searched(breeder, overflows, lambda s: s.state.died > 0)
    death = next(iter(search.state.deaths.values()))
    assert death.status is Status.CRASHED
    assert death.length >= 5000
    assert death.pattern not in [one.pattern for one in search.leaders() if one.looks(death.size)]


def test_it_finds_a_hog_of_memory(breeder):
    hog = Planted(memory=lambda data: 1000 * data.count(b"\n") * 4 + 4096)
    found = searched(breeder, hog, lambda s: bool(s.leaders(Aim.MEMORY))).leaders(Aim.MEMORY)
    assert (found[0].memory(SIZES.large) or 0) > 500


@pytest.mark.thorough  # a whole search
def test_no_noise_wins(breeder):
    # Times up to many times too long, and one kind of input that costs three times as much.
    gauge = Planted(lambda d: A_BYTE * (len(d) + 2 * d.count(b"\n")), noise=0.2)
    search = Search(breeder, gauge_of(gauge), SIZES, 0, State(control=A_BYTE))
    while search.state.schedule.number < 200:
        search.step()
    data = search.leaders()[0].pattern.make(SIZES.large)
    assert data.count(b"\n") > 0.8 * len(data), search.leaders()[0].pattern.expression()


def test_an_implementation_that_always_dies_ends_the_search(breeder):
    gauge = Planted(dies=lambda data: Status.OUT_OF_MEMORY)
    search = Search(breeder, gauge_of(gauge), SIZES, 0, State())
    while not search.over:
        search.step()
    assert search.state.died >= ENOUGH_DEATHS
    assert "deaths" in search.over


def test_one_that_is_only_late_in_a_batch_has_not_died(breeder):
    search = Search(breeder, gauge_of(Planted(late=True)), SIZES, 0, State())
    search.step()
    assert search.state.died == 0
    assert search.state.places


def counted(data):
    """A source of three places: the first for every byte, the next for what is hidden."""
    return len(data), data.count(b"("), data.count(b"()")


def test_it_goes_on_where_it_was_left(breeder):
    def run(search, steps):
        for _ in range(steps):
            search.step()
        return search

    def fresh(seed, state=None):
        gauge = gauge_of(Planted(runs(b"#"), lines=counted))
        return Search(breeder, gauge, SIZES, seed, state or State(), guided=True)

    whole, kept = run(fresh(1), 16), Kept(State, {})
    parts = {}
    first = fresh(1, kept.state)
    for _ in range(9):
        parts |= kept.round("x").parts  # as a database has them
        run(first, 1)
    changed = kept.round("x").parts
    assert 0 < len(changed) < len(parts), "what has not changed is not written again"
    second = run(fresh(1, State.of(parts | changed)), 7)
    assert second.state.lines
    assert second.state == whole.state
    assert second.leaders() == whole.leaders() != run(fresh(2), 16).leaders()


def test_what_raises_a_count_of_lines_is_measured(breeder):
    gauge = gauge_of(Planted(lines=counted))
    search = Search(breeder, gauge, SIZES, 0, State(), guided=True)
    rng, raised = random.Random(0), 0
    while len(search.state.lines) < 3:
        raised += len(search._followed(rng))
        assert gauge.readings < MOST
    assert raised >= 2
    share, pattern = search.state.lines["2"]
    data = pattern.make(256)
    assert share == counted(data)[2] / len(data)
    # The same once more raises nothing.
    [reading] = gauge.read([data], Meter.LINES)
    assert not search._raises(pattern, data, reading)


def test_a_niche_keeps_its_best_alone(breeder):
    search = Search(breeder, gauge_of(Planted()), SIZES, 0, State())
    cheap = Candidate(Pattern((Pump((b"ab",)),)), "test")
    costly = Candidate(Pattern((Pump((b"cd",)),)), "test")
    assert niche(cheap.pattern) == niche(costly.pattern)
    cheap.take(SIZES.large, 2048, 1000)
    costly.take(SIZES.large, 2048, 2000)
    assert search._placed(cheap) == 1
    assert search._placed(costly) == 0, "no place was empty"
    assert not search.state.wins(cheap, SIZES)
    assert search.leaders() == [costly]


def test_requests_end_in_time():
    parts = list(portions([1, 2, 9, 1, 1], lambda item: item * 1e9))
    assert parts == [[1, 2], [9], [1, 1]]
