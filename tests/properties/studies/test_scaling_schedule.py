"""The order in which cells of growth are measured, with planted times and a clock of its own."""

from dataclasses import replace
from zlib import crc32

import pytest

from corpora.families.catalog import FAMILIES
from harness.studies.growth.cell import FIRST_LOOK, Call, Cell
from harness.studies.growth.claims import Found
from harness.studies.growth.schedule import CONTROLS, LEAST_CALL, Schedule
from harness.verdict.exponents import LEAST_POINTS, UNKNOWN, Verdict
from tests.doubles.growth_pools import contract, participant

SECONDS = 4.5
CALLS = {256 << doubling: [Call(1)] for doubling in range(LEAST_POINTS)}
LINEAR = Found(replace(UNKNOWN, verdict=Verdict.LINEAR), {})


class World:
    """A clock that only planted rounds move on."""

    now = 0.0

    def monotonic(self):
        return self.now

    def cells(self, names, families):
        taking = contract([participant(name) for name in names])
        return [
            Cell(one, taking, family, calls=dict(CALLS))
            for family in FAMILIES[:families]
            for one in taking.participants
        ]

    def run(self, round_seconds, needed=lambda cell: FIRST_LOOK, slower=1.0):
        """slower: by how much more all of it takes."""
        every = self.cells(round_seconds, 13)
        schedule = Schedule(every, SECONDS, 2.0)
        while (cell := schedule.next()) is not None:
            seconds = slower * round_seconds[cell.name]
            self.now += seconds
            cell.rounds += 1
            if cell.rounds >= needed(cell):
                cell.found = LINEAR
            schedule.take_back(cell, seconds)
        return every


@pytest.fixture
def world(monkeypatch):
    made = World()
    monkeypatch.setattr("harness.studies.growth.schedule.time", made)
    monkeypatch.setattr("harness.studies.growth.schedule.crowding", lambda: 0.0)
    return made


def begun(cells, name=""):
    return [cell for cell in cells if cell.rounds and name in ("", cell.name)]


def open_of(cells):
    return [cell for cell in begun(cells) if cell.verdict is Verdict.INCONCLUSIVE]


QUICK = {f"quick-{number}": 0.003 + 0.0005 * number for number in range(13)}


def test_a_slow_implementation_starves_nobody(world):
    cells = world.run({**QUICK, "slow": 0.3})
    assert all(len(begun(cells, name)) == 13 for name in QUICK)
    assert 1 <= len(begun(cells, "slow")) < 8
    assert open_of(cells) == []
    assert world.now <= 1.1 * SECONDS


@pytest.mark.parametrize("salt", range(5))
@pytest.mark.parametrize("slower", [1.0, 2.0, 3.0])
def test_what_is_begun_is_decided_however_slow_the_machine_is(world, slower, salt):
    def hard(cell):
        """One cell in eight needs three times as many rounds, one in forty is never decided."""
        number = crc32(f"{salt} {cell.name} {cell.family.name}".encode())
        return 99 if number % 40 == 0 else 9 if number % 8 == 0 else FIRST_LOOK

    cells = world.run({**QUICK, "slow": 0.05}, hard, slower=slower)
    assert begun(cells)
    assert len(open_of(cells)) <= 0.05 * len(begun(cells))
    assert world.now <= 1.1 * SECONDS


def test_the_telling_families_come_first_for_all(world):
    cells = world.run(QUICK, slower=20.0)
    assert len(begun(cells)) < len(cells)
    for name in QUICK:
        families = [FAMILIES.index(cell.family) for cell in begun(cells, name)]
        assert families == sorted(families) == list(range(len(families)))


def test_the_control_goes_further(world):
    schedule = Schedule(world.cells(["a"], None), SECONDS, 2.0)
    control = schedule.next()
    assert control.family is FAMILIES[0]
    share = schedule.limit(control)
    control.found, control.rounds = LINEAR, FIRST_LOOK
    schedule.take_back(control, 0.0)
    other = schedule.next()
    assert other.family is FAMILIES[1]
    assert share == pytest.approx(CONTROLS * schedule.limit(other), rel=0.05)
    world.now += 2 * SECONDS
    assert schedule.limit(other) == LEAST_CALL
    assert schedule.next() is None
