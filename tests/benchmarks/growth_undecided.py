"""Cells of a default run that are left undecided: ``python -m tests.benchmarks.growth_undecided``.

``python -m tests.benchmarks.growth_undecided 3 2 4.5`` measures growth three times as the default
run does (both of its vocabularies, every installed implementation, 4.5 seconds for each
vocabulary), with two busy processes beside it, and prints how many cells had which verdict. It
exits with 1 where more than :data:`MOST` of the cells are inconclusive.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections import Counter

from corpora.families.catalog import families
from corpora.vocabularies import sources
from harness.core.comparisons import contracts_of
from harness.engine import selection
from harness.engine.suites import SUITES
from harness.events import Measured
from harness.studies.growth.measurement import Measurement, chosen
from harness.workers import Limits
from harness.workers.pool import WorkerPool
from tests.benchmarks.growth_under_load import hog

SECONDS = 4.5
"""For one vocabulary: a fifth of the 45 seconds of a default run, for two."""

MOST = 0.05
"""The share of cells that a default run may leave inconclusive."""


def measured(pool: WorkerPool, name: str, seconds: float, seed: int) -> list[Measured]:
    """One vocabulary, as a run measures it."""
    vocabulary = sources.resolve(name)
    present, _ = selection.participants([])
    contracts = contracts_of(vocabulary, present, frozenset(), proper=True)
    names = list(dict.fromkeys(name for contract in contracts for name in contract.names))
    missing = pool.load(vocabulary, names)
    if missing:
        print(f"{name}: not loaded: {sorted(missing)}")
    taken = chosen(families(), len(names), seconds, seed)
    said: list[Measured] = []
    started = time.monotonic()
    measurement = Measurement(pool, contracts, taken, SUITES["smoke"].scaling_bytes)
    measurement.run(seconds, said.append)
    passed = time.monotonic() - started
    timed = [one for one in said if one.measure == "time"]
    counts = Counter(one.verdict for one in timed)
    print(
        f"{name}: {passed:.1f} s, {len(names)} implementations, {len(taken)} families, "
        f"{len(timed)} cells {dict(counts)}; left out {measurement.left_out}",
        flush=True,
    )
    for one in timed:
        if one.verdict not in ("linear", "superlinear"):
            print(f"    {one.implementation:28} {one.family:18} {one.verdict} {one.note}")
    fast = sorted((o.implementation, o.family) for o in timed if o.verdict == "superlinear")
    print(f"    superlinear: {fast}")
    return timed


def main() -> None:
    """Measure, print, and exit with 1 where too much is left undecided."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    hogs = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else SECONDS
    busy = [multiprocessing.Process(target=hog, daemon=True) for _ in range(hogs)]
    for one in busy:
        one.start()
    present, _ = selection.participants([])
    said: list[Measured] = []
    pool = WorkerPool(present, Limits())
    try:
        for number in range(runs):
            for name in selection.SCALED:
                said += measured(pool, name, seconds, number)
    finally:
        pool.close()
        for one in busy:
            one.kill()
    undecided = sum(one.verdict == "inconclusive" for one in said)
    print(f"{undecided} of {len(said)} cells are inconclusive")
    sys.exit(undecided > MOST * len(said))


if __name__ == "__main__":
    main()
