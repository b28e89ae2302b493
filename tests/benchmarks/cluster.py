"""What a unit costs on a cluster: ``python -m tests.benchmarks.cluster`` prints it as JSON.

The overhead of a unit is the time from handing it out to its result, beyond what its work takes, on
Ray and on the executor of this machine, one unit of each in turn, so that both see the same load.
The costs of the driver are those of a round of a real campaign: reading its result, and its commit.
"""

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
from tests.doubles.postgres import BINARIES, server
from tests.properties.cluster.campaigns import campaign, session
from tests.properties.cluster.plans import plug_in

WORK_SECONDS = 0.2
PAIRS = 40
COMMITS, TARGETS = 640, 64
JOINED = 16
"""New inputs of a round: as many as a target's rounds have in its first hour."""


def working(keep, seconds, size):
    """A unit that takes so long, and whose result has so many bytes."""
    time.sleep(seconds)
    return bytes(size)


def perform(executor, size):
    """Have a unit performed."""
    executor.submit(Unit("unit", working, arguments=(WORK_SECONDS, size)))
    while executor.next(10.0) is None:
        pass


def milliseconds(count, *acts):
    """The median of what each of these takes, of so many calls in turn."""
    spent = [[] for _ in acts]
    for number in range(count):
        for act, seconds in zip(acts, spent, strict=True):
            began = time.perf_counter()
            act(number)
            seconds.append(time.perf_counter() - began)
    return [round(1000 * statistics.median(seconds), 2) for seconds in spent]


def round_of(parts, number):
    """A round of a target like that which was committed last."""
    kept = Kept(State, parts)
    kept.state.schedule.number = number // TARGETS
    kept.state.corpus += [Entry(b"%d/%d" % (number, n), "corpus") for n in range(JOINED)]
    return kept.round(f"toy_bytes#{number % TARGETS}", seconds=5.0)


def committing(where, identity, parts):
    """The milliseconds of a commit into a database."""
    store = CampaignStore(where, "benchmark")
    store.begin(identity, anew=False)
    return milliseconds(COMMITS, lambda number: store.commit([round_of(parts, number)]))[0]


def main():
    """Measure all, and print it."""
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        where, plan = str(folder / "campaign.db"), campaign(plug_in(folder), 1, 1500)
        made = session(plan, where, folder / "out", LocalExecutor(2))
        (used,) = [one for one in made.events if isinstance(one, ClusterUsed)]
        store, identity = CampaignStore(where, "test"), plan.identity()
        store.begin(identity, anew=False)
        parts = store.parts("toy_bytes#0")
        packed = Came("mark", done=round_of(parts, 0)).packed()
        size = used.bytes // used.units
        ray, here = opened("local:1", 1), LocalExecutor(1)
        for executor in (ray, here):
            held.callback(executor.close)
            perform(executor, size)  # the actor starts
        both = milliseconds(PAIRS, lambda _: perform(ray, size), lambda _: perform(here, size))
        told = {
            "bytes a unit": size,
            "overhead of a unit on Ray, ms": both[0] - 1000 * WORK_SECONDS,
            "the same here, ms": both[1] - 1000 * WORK_SECONDS,
            "reading a result, ms": milliseconds(50, lambda _: Came.unpacked(packed))[0],
            "commit, SQLite, ms": committing(str(folder / "other.db"), identity, parts),
        }
        if BINARIES:
            new = held.enter_context(server())
            told["commit, PostgreSQL, ms"] = committing(new(), identity, parts)
        print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
