"""Which runs the benchmark of false alarms makes, and under which conditions: a seeded plan."""

from __future__ import annotations

import random
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GATES = ("run", "plugin", "stdio", "fuzz")
"""Kinds of gates in which everything is right but what the shipped expectations know of."""

SLOW = "slow-100x"
"""The planted implementation that is right, and of which nothing may be said."""

PLANTED: Mapping[str, tuple[str, str]] = {
    "hangs-busy": ("HangsBusy", "timed-out"),
    "hangs-asleep": ("HangsAsleep", "timed-out"),
    "sleeps-30s": ("Sleeps30", "timed-out"),
    "grows": ("Grows", "out-of-memory"),
    "leaks": ("Leaks", "out-of-memory"),
    SLOW: ("Slow", ""),
}
"""By the name of each planted implementation: its class in ``plugins.py``, and the stage of the
finding that names it rightly (empty for the one of which nothing may be said)."""

KINDS = (*GATES, *PLANTED)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the plan.

    kind: one of :data:`KINDS`. load: busy processes beside it. cold: it has an empty cache of
    compiled functions and tables. nth: counts the runs of one kind, load and temperature, from 0.
    seed: of the command line. budget: seconds given to it, None for the command's own default.
    """

    kind: str
    load: int
    cold: bool
    nth: int
    seed: int
    budget: float | None

    @property
    def name(self) -> str:
        """What tells a run from all others of a plan, as the name of its folder."""
        cold = "cold" if self.cold else "warm"
        budget = "" if self.budget is None else f"-{self.budget:g}s"
        return f"{self.kind}-load{self.load}-{cold}-{self.nth:03}-seed{self.seed}{budget}"

    @property
    def planted(self) -> bool:
        """Whether it has a planted mistake."""
        return self.kind in PLANTED


def plan(
    kinds: Sequence[str],
    loads: Sequence[int],
    runs: int,
    rounds: int,
    cold: float,
    seed: int,
    budgets: Mapping[str, float | None],
) -> list[Run]:
    """Return the runs in the order in which they are made.

    kinds: those wanted, of :data:`KINDS`. runs: the number of gates. rounds: how often each
    planted mistake is run under each load, and as often again with a cold cache where ``cold`` is
    not 0. cold: the share of the gates that are cold; there is one of each kind and load at the
    least, where there are runs enough for a warm one of each as well. budgets: by kind.

    What differs between two runs depends on their kind, load, temperature and number alone, so
    that what a plan has in common with an earlier one need not be run again. Planted
    runs are spread evenly among the gates, so that a benchmark cut off has some of each.
    """
    gates = [(kind, load) for kind in kinds if kind in GATES for load in loads]
    guilty = [(kind, load) for kind in kinds if kind in PLANTED for load in loads]
    rng = random.Random(seed)
    drawn = [(*cell, is_cold) for cell, is_cold in _gates(gates, runs, cold, rng)]
    temperatures = (False, True) if cold else (False,)
    planted = []
    for _ in range(rounds):
        one_round = [(*cell, is_cold) for cell in guilty for is_cold in temperatures]
        rng.shuffle(one_round)
        planted += one_round
    counted: Counter[tuple[str, int, bool]] = Counter()
    found = []
    for kind, load, is_cold in _spread(drawn, planted):
        nth = counted[kind, load, is_cold]
        counted[kind, load, is_cold] += 1
        found.append(Run(kind, load, is_cold, nth, 0, budgets.get(kind)))
    return [_seeded(run, seed) for run in found]


def _gates(
    cells: Sequence[tuple[str, int]], runs: int, cold: float, rng: random.Random
) -> list[tuple[tuple[str, int], bool]]:
    """Return ``runs`` cells in rounds, each with whether it is cold."""
    if not cells:
        return []
    order = []
    while len(order) < runs:
        one_round = list(cells)
        rng.shuffle(one_round)
        order += one_round
    del order[runs:]
    wanted = round(cold * runs)
    if cold and runs >= 2 * len(cells):
        wanted = max(wanted, len(cells))
    # Cold ones are the first of each cell in turn: a benchmark cut off has seen some of them.
    rounds = -(-runs // len(cells))
    turns = [turn for turn in range(rounds) for _ in range(len(cells))][:runs]
    by_temperature = sorted(range(runs), key=lambda place: (turns[place], rng.random()))
    chosen = set(by_temperature[:wanted])
    return [(cell, place in chosen) for place, cell in enumerate(order)]


def _spread(
    first: Sequence[tuple[str, int, bool]], second: Sequence[tuple[str, int, bool]]
) -> list[tuple[str, int, bool]]:
    """Merge two sequences evenly, keeping the order within each."""
    placed = [((place + 0.5) / len(first), 0, one) for place, one in enumerate(first)]
    placed += [((place + 0.5) / len(second), 1, one) for place, one in enumerate(second)]
    return [one for _, _, one in sorted(placed, key=lambda entry: entry[:2])]


def _seeded(run: Run, seed: int) -> Run:
    """Give a run the seed of its command line.

    The default run keeps the seed that it has for everybody: the very first command that a user
    types must not be wrong. The others draw one, so that many inputs are tried.
    """
    if run.kind == "run":
        return run
    drawn = zlib.crc32(f"{seed} {run.kind} {run.load} {run.cold} {run.nth}".encode()) % 10_000
    return Run(run.kind, run.load, run.cold, run.nth, drawn, run.budget)
