"""A campaign on 10 to 1,000 nodes, simulated with the measured costs of the driver.

``python -m tests.benchmarks.scale_out PLOT.svg`` prints a table, and draws what part of all nodes'
time goes into rounds. It needs ``pip install simpy matplotlib``. The costs are those that
``python -m tests.benchmarks.cluster`` measures.
"""

from __future__ import annotations

import argparse
import random
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NODES = (10, 30, 100, 200, 300, 500, 700, 1000)
HOURS = 1.0
"""Of a night: nothing changes from one hour to the next, once all targets are open."""

ROUND_MEAN, ROUND_SIGMA, ROUND_MOST = 5.0, 0.5, 10.0
"""Seconds of a round (log-normal): it is held between 2 s and 5 s, and given up after 10 s."""

CARRY = 0.0033
"""Seconds of the driver for handing a unit out and receiving it, through Ray: all of its latency,
though a part of that is not the driver's."""
READ = 0.0011
ALONE, TOGETHER = 0.0059, 0.0048
"""Seconds of a commit into SQLite: of one round, and of each of many in one transaction."""

MOST_TOGETHER = 64
OPENING = 15.0
"""Seconds for loading a large vocabulary into ten implementations, after a loss."""

REPLACED = 120.0
"""Seconds until another node is there in place of a lost one."""


@dataclass(slots=True)
class Came:
    """What a simulated campaign came to, in seconds of all nodes."""

    useful: float = 0.0
    lost: float = 0.0
    rounds: int = 0


def simulate(nodes: int, *, batched: bool, losses: float, seed: int = 0) -> Came:
    """A campaign with a slot on each node; losses: the part of all nodes lost in an hour."""
    import simpy

    rng = random.Random(seed)
    env = simpy.Environment()
    came = Came()
    results: deque[tuple[float, Any]] = deque()
    arrived = [env.event()]

    def driver() -> Generator[Any]:
        while True:
            if not results:
                arrived[0] = env.event()
                yield arrived[0]
            count = min(len(results), MOST_TOGETHER if batched else 1)
            taken = [results.popleft() for _ in range(count)]
            once = ALONE - TOGETHER if batched else 0.0
            yield env.timeout(once + count * (CARRY + READ + (TOGETHER if batched else ALONE)))
            for seconds, committed in taken:
                came.useful += seconds
                came.rounds += 1
                committed.succeed()

    def node() -> Generator[Any]:
        yield env.timeout(rng.random() * ROUND_MEAN)
        until = env.now + (rng.expovariate(losses / 3600) if losses else float("inf"))
        while True:
            seconds = min(ROUND_MOST, rng.lognormvariate(0, ROUND_SIGMA) * ROUND_MEAN / 1.133)
            if env.now + seconds > until:
                came.lost += until - env.now
                yield env.timeout(until - env.now + REPLACED + OPENING)
                until = env.now + rng.expovariate(losses / 3600)
                continue
            yield env.timeout(seconds)
            committed = env.event()
            results.append((seconds, committed))
            if not arrived[0].triggered:
                arrived[0].succeed()
            yield committed

    env.process(driver())
    for _ in range(nodes):
        env.process(node())
    env.run(until=3600 * HOURS)
    return came


WAYS = {
    "each round by itself": (False, 0.0),
    "committed together": (True, 0.0),
    "together, 5 % of nodes lost an hour": (True, 0.05),
}


def table() -> Iterator[tuple[str, int, float, float, float]]:
    """By way and number of nodes: the part of time in rounds, rounds a second, the part lost."""
    for way, (batched, losses) in WAYS.items():
        for nodes in NODES:
            came = simulate(nodes, batched=batched, losses=losses)
            whole = nodes * 3600 * HOURS
            rate = came.rounds / (3600 * HOURS)
            yield way, nodes, came.useful / whole, rate, came.lost / whole


def draw(rows: list[tuple[str, int, float, float, float]], path: Path) -> None:
    """One plot: efficiency by nodes."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "tokgate"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(7, 3.6))
    for way, marker in zip(WAYS, "osx", strict=True):
        mine = [row for row in rows if row[0] == way]
        axes.plot([r[1] for r in mine], [100 * r[2] for r in mine], marker=marker, label=way)
    axes.set_xscale("log")
    axes.set_xticks(NODES, [str(nodes) for nodes in NODES])
    axes.minorticks_off()
    axes.set_xlabel("nodes, with a slot each, rounds of 5 s")
    axes.set_ylabel("time of all nodes in rounds, %")
    axes.set_ylim(0, 101)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(loc="lower left")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Simulate all, print it, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plot", type=Path)
    rows = list(table())
    for way, nodes, useful, rate, lost in rows:
        print(f"{way:36} {nodes:5} nodes {useful:7.1%} {rate:7.1f} rounds/s  lost {lost:.3%}")
    draw(rows, parser.parse_args().plot)


if __name__ == "__main__":
    main()
