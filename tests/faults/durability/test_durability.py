"""Kills at points of death: some in ``make test-all``, a thousand each night."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.doubles.postgres import server
from tests.faults.durability.driver import planned
from tests.faults.durability.postgres import VARIABLE

ROOT = Path(__file__).parents[3]

SECONDS = 900
"""For a hang."""

LOSES = """
import os, sys
from collections import Counter
from tests.faults.durability.driver import Killing, folder

class Careless:
    \"\"\"Adds a line for each step, after it has noted that the step is done, or before.\"\"\"

    name = "careless"

    def session(self, home, where):
        out = home / "out"
        out.mkdir(exist_ok=True)
        done = len(list(out.glob("done-*")))
        for step in range(done, 3):
            marks = [lambda: (out / f"done-{step}").mkdir(), lambda: self.line(out, step)]
            for mark in marks if sys.argv[1] == "lost" else reversed(marks):
                mark()

    def line(self, out, step):
        descriptor = os.open(out / "lines", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, f"{step}\\n".encode())
        os.close(descriptor)

    def outcome(self, home, where):
        lines = Counter((home / "out" / "lines").read_text().split())
        return {"lines": {f"{line} {n}": True for line in lines for n in range(lines[line])}}

    def faults(self, home, where):
        return []

with folder() as scratch:
    killing = Killing(Careless(), lambda home: "", scratch)
    points = killing.begin()
    killing.run([(kind, 2) for kind in sorted(points) if points[kind] > 1])
    rows = killing.account.rows.values()
    print(killing.account.kills, sum(r["lost"] for r in rows), sum(r["twice"] for r in rows))
"""


def durability(*options):
    """The command, in a process of its own: it forks, which a process with threads should not."""
    return subprocess.run(
        [sys.executable, "-m", "tests.faults.durability", *options],
        cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip


def survived(ended, least):
    """Nothing was lost or twice, in at least so many kills."""
    assert ended.returncode == 0, ended.stdout + ended.stderr
    totals = [line.split()[1:] for line in ended.stdout.splitlines() if line.startswith("all ")]
    kills, alive, lost, twice = (sum(map(int, column)) for column in zip(*totals, strict=True))
    assert kills >= least
    assert (alive, lost, twice) == (kills, 0, 0)


@pytest.mark.first
@pytest.mark.thorough
def test_whatever_writes_survives_kills():
    survived(durability("--kills", "12"), 8)


@pytest.mark.first
@pytest.mark.thorough
def test_a_campaign_on_postgresql_survives():
    named = os.environ.get(VARIABLE)
    options = ("--kills", "4", "--subject", "fuzz", "--subject", "run", "--database")
    if named:
        survived(durability(*options, named), 2)
        return
    with server() as new:
        survived(durability(*options, new()), 2)


@pytest.mark.parametrize("how", ["lost", "twice"])
@pytest.mark.thorough  # campaigns that are killed
def test_what_is_careless_shows(how):
    """The comparison can fail, either way."""
    ended = subprocess.run(
        [sys.executable, "-c", LOSES, how],
        cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    kills, lost, twice = map(int, ended.stdout.split())
    assert kills >= 4
    assert lost if how == "lost" else twice


def test_kills_are_spread_over_all_kinds():
    points = Counter({f"kind {n}": n for n in range(1, 11)})
    many = planned(points, 200, 3)
    assert len({kind for kind, _ in many[:10]}) == 10
    assert set(Counter(kind for kind, _ in many).values()) == {20}
    assert all(1 <= number <= points[kind] for kind, number in many)
    assert len({number for kind, number in many if kind == "kind 10"}) == 10
    assert planned(points, 200, 3) == many != planned(points, 200, 4)
