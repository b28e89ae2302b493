"""What a unit costs on a cluster: ``python -m tests.benchmarks.cluster`` prints it as JSON.

The overhead of a unit is the time from handing it out to its result, beyond what its work takes, on
Ray and on the executor of this machine, one unit of each in turn, so that both see the same load.
The costs of the driver are those of a round of a real campaign: reading its result, and its commit.
"""

import argparse
import json
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from harness.cluster.addresses import opened
from harness.cluster.executor import Unit
from harness.cluster.local import LocalExecutor
from harness.events import ClusterUsed
from harness.studies.campaigns.state import Kept
from harness.studies.campaigns.store import CampaignStore
from harness.studies.campaigns.units import Came
from harness.studies.fuzz.corpus import Entry
from harness.studies.fuzz.state import State
from tests.cluster.campaigns import campaign, session
from tests.cluster.plans import plug_in
from tests.harness.postgres import BINARIES, server

WORK_SECONDS = 0.2
ROUND_SECONDS = 5.0
"""Of the rounds that the overhead is told against."""

PAIRS = 40
COMMITS, TARGETS = 640, 64
JOINED = 16
"""New inputs of a round: as many as a target's rounds have in its first hour."""


def working(keep, seconds, size):
    """A unit that takes so long, and whose result has so many bytes."""
    time.sleep(seconds)
    return bytes(size)


def taken(executor, number, size):
    """The seconds of one unit beyond its work."""
    began = time.perf_counter()
    executor.submit(Unit(str(number), working, arguments=(WORK_SECONDS, size)))
    while executor.next(10.0) is None:
        pass
    return time.perf_counter() - began - WORK_SECONDS


def overheads(size):
    """Those of Ray, and of this machine's executor, in turn."""
    ray, here = opened("local:1", 1), LocalExecutor(1)
    try:
        taken(ray, -1, size)  # the actor starts
        pairs = [(taken(ray, n, size), taken(here, n, size)) for n in range(PAIRS)]
    finally:
        here.close()
        ray.close()
    return [one for one, _ in pairs], [other for _, other in pairs]


def each(count, act):
    """The median of the seconds that something takes."""
    spent = []
    for number in range(count):
        began = time.perf_counter()
        act(number)
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)


def round_of(parts, target, number):
    """A round of a target like that which was committed last."""
    kept = Kept(State, parts)
    kept.state.schedule.number = number
    kept.state.corpus += [Entry(b"%d/%d" % (number, n), "corpus") for n in range(JOINED)]
    return kept.round(f"toy_bytes#{target}", seconds=ROUND_SECONDS)


def committing(where, identity, parts):
    """The milliseconds of a commit into a database."""
    store = CampaignStore(where, "benchmark")
    store.begin(identity, anew=False)
    spent = each(COMMITS, lambda n: store.commit([round_of(parts, n % TARGETS, n // TARGETS)]))
    return round(1000 * spent, 2)


def main():
    """Measure all, and print it."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        where, plan = str(folder / "campaign.db"), campaign(plug_in(folder), 1, 1500)
        made = session(plan, where, folder / "out", LocalExecutor(2))
        (used,) = [one for one in made.events if isinstance(one, ClusterUsed)]
        store = CampaignStore(where, "test")
        identity = plan.identity()
        store.begin(identity, anew=False)
        parts = store.parts("toy_bytes#0")
        packed = Came("mark", done=round_of(parts, 0, 0)).packed()
        size = used.bytes // used.units
        ray, here = overheads(size)
        told = {
            "bytes a unit": size,
            "overhead of a unit on Ray, ms": round(1000 * statistics.median(ray), 2),
            "the same here, ms": round(1000 * statistics.median(here), 2),
            "share of a round of 5 s, %": round(
                100 * (statistics.median(ray) - statistics.median(here)) / ROUND_SECONDS, 3
            ),
            "reading a result, ms": round(1000 * each(50, lambda _: Came.unpacked(packed)), 2),
            "commit, SQLite, ms": committing(str(folder / "other.db"), identity, parts),
        }
        if BINARIES:
            new = held.enter_context(server())
            told["commit, PostgreSQL, ms"] = committing(new(), identity, parts)
        print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
