"""The search finds what is planted, within a number of measurements, and goes on where it was."""

import re

import pytest

from corpora.families.pattern import Pattern, Pump
from corpora.vocabularies import sources
from harness.core.outcomes import Status
from harness.studies.campaigns.state import Kept
from harness.studies.worst.gauge import portions
from harness.studies.worst.patterns import Breeder, niche
from harness.studies.worst.search import ENOUGH_DEATHS, FOLLOWED_BYTES, FOLLOWING, Search
from harness.studies.worst.state import Aim, Candidate, Sizes, State, place_of
from tests.breadth import thorough_from
from tests.doubles.planted_costs import A_BYTE, Planted, gauge_of, many, runs

SIZES = Sizes(512, 2048, 8192, 1 << 17)
"""Small, so that making inputs takes no time."""

MOST = 40_000
"""Measurements within which everything is to be found; most of it takes a tenth."""


@pytest.fixture(scope="module")
def breeder():
    return Breeder(sources.resolve("toy_bytes"))


def costly(search, times):
    """What costs so many times as much as prose, as an input; nothing where nothing does."""
    for one in search.leaders(Aim.COST):
        if one.cost(SIZES.large) > times * A_BYTE:
            return search.leaders()[0].pattern.make(SIZES.large)
    return b""


def grows(search):
    """Whether something with a newline grows, whatever it costs."""
    first = search.leaders(Aim.GROWTH)[:1]
    scores = [SIZES.score(one, Aim.GROWTH, A_BYTE) for one in first]
    return scores > [1.8] and b"\n" in first[0].pattern.make(SIZES.large)


def overflows(search):
    """Whether a death by depth is known; and if so, that nobody who died leads."""
    for death in search.state.deaths.values():
        assert (death.status, death.length >= 5000) == (Status.CRASHED, True)
        leaders = [one.pattern for one in search.leaders() if one.looks(death.size)]
        assert death.pattern not in leaders
    return bool(search.state.deaths)


DEEP = re.compile(rb"([(\[{<])\1{5000}")

PLANTED = {
    "runs of one byte": ({"time": runs(b"#")}, lambda s: b"#" * 100 in costly(s, 15)),
    "many newlines wherever they stand": (
        {"time": many(b"\n")},
        lambda s: costly(s, 10).count(b"\n") > SIZES.large / 2,
    ),
    # What grows costs less than all else at the sizes of the search, and more beyond.
    "growth": (
        {"time": lambda d: A_BYTE * (len(d) - d.count(b"\n")) + d.count(b"\n") ** 2 / 50},
        grows,
    ),
    "an overflow of the stack at a depth": (
        {"dies": lambda data: Status.CRASHED if DEEP.search(data) else None},
        overflows,
    ),
    "a hog of memory": (
        {"memory": lambda data: 4000 * data.count(b"\n") + 4096},
        lambda s: any((one.memory(SIZES.large) or 0) > 500 for one in s.leaders(Aim.MEMORY)[:1]),
    ),
    # Two of 260 tokens, side by side: by chance one pattern of some thousands has them.
    "a pair of tokens": (
        {"time": many(b"\x01\x02")},
        lambda s: costly(s, 2.5).count(b"\x01\x02") > 300,
    ),
}
"""What is planted, and whether a search has found it."""


EVERY = [(name, 0) for name in PLANTED]
MORE = [(name, seed) for name in [*PLANTED][:2] for seed in (1, 2)]


@pytest.mark.parametrize(("name", "seed"), thorough_from(len(EVERY) - 1, EVERY + MORE))
def test_it_finds(breeder, name, seed):
    planted, found = PLANTED[name]
    search = Search(breeder, gauge_of(Planted(**planted)), SIZES, seed, State(control=A_BYTE))
    while not found(search):
        assert search.state.cases < MOST, search.leaders()[0].pattern.expression()
        search.step()


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
    gauge.withdrawn = lambda: {"bpe.heap": "it timed out 30 times"}
    gone = Search(breeder, gauge_of(gauge), SIZES, 0, State())
    assert gone.over == "it timed out 30 times"


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


def test_what_raises_a_count_of_lines_is_measured_and_kept(breeder):
    planted = Planted(lines=counted)
    search = Search(breeder, gauge_of(planted), SIZES, 0, State(), guided=True)
    while len(search.state.lines) < 2:
        assert search.state.cases < MOST
        search.step()
    for place, (share, pattern) in search.state.lines.items():
        data = pattern.make(FOLLOWED_BYTES)
        assert share == counted(data)[int(place)] / len(data)
    origins = {one.origin for one in search.state.places.values()}
    assert FOLLOWING in origins


def test_a_niche_keeps_its_best_alone():
    state, made = State(), {}
    for unit, cost in ((b"ab", 1000), (b"cd", 2000)):
        made[unit] = Candidate(Pattern((Pump((unit,)),)), "test")
        made[unit].take(SIZES.large, 2048, cost)
    cheap, costly = made.values()
    assert niche(cheap.pattern) == niche(costly.pattern)
    assert state.wins(cheap, SIZES) == [place_of(Aim.COST, cheap.pattern)]
    state.places |= dict.fromkeys(state.wins(cheap, SIZES), cheap)
    state.places |= dict.fromkeys(state.wins(costly, SIZES), costly)
    assert state.ranked(Aim.COST, SIZES) == [costly]
    assert state.wins(cheap, SIZES) == state.wins(costly, SIZES) == []


def test_requests_end_in_time():
    parts = list(portions([1, 2, 9, 1, 1], lambda item: item * 1e9))
    assert parts == [[1, 2], [9], [1, 1]]
