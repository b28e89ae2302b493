"""Verdicts of planted implementations while other processes hog the cores: ``python -m ... RUNS``.

``python -m tests.benchmarks.growth_under_load 100`` measures each of five implementations on two
families in each of so many runs, with two processes that do nothing but take the processor, and
prints how often each verdict was given. No linear one may be called superlinear, and no quadratic
one linear; what is left inconclusive is counted.
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
from harness.events import Measured
from harness.studies.growth.measurement import Measurement
from harness.workers import Limits
from harness.workers.pool import WorkerPool
from tests.harness import planted_growth
from tests.harness.planted_growth import Linear, LogLinear, OnRuns, Quadratic, ThreeHalves

HOGS = 2
FAMILIES = ("letter-run", "long-word")
SECONDS = 20.0
"""Of a run at the most: it is over when all is decided, after four seconds on two free cores."""

LARGEST = 64 << 10

KINDS = (Linear, LogLinear, ThreeHalves, Quadratic, OnRuns)


def hog() -> None:
    """Walk through more memory than the caches hold, for ever."""
    block = bytearray(32 << 20)
    while True:
        for place in range(0, len(block), 64):
            block[place] = (block[place] + 1) & 0xFF


def expected(name: str, family: str) -> str:
    """What is true."""
    superlinear = name in ("planted.n-1.5", "planted.quadratic") or (
        name == "planted.on-runs" and family == "letter-run"
    )
    return "superlinear" if superlinear else "linear"


def main() -> None:
    """Run, count, and exit with 1 where a verdict was wrong."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    hogs = [multiprocessing.Process(target=hog, daemon=True) for _ in range(HOGS)]
    for one in hogs:
        one.start()
    path = planted_growth.__file__
    participants, _ = selection.participants([f"{path}:{kind.__name__}" for kind in KINDS])
    vocabulary = sources.resolve("toy_bytes")
    contracts = contracts_of(vocabulary, participants, frozenset(), proper=True)[:1]
    counts: dict[str, Counter[str]] = {}
    wrong: list[Measured] = []
    pool = WorkerPool(participants, Limits())

    def count(event: Measured) -> None:
        true = expected(event.implementation, event.family)
        counts.setdefault(f"{event.implementation} on {event.family}", Counter())[
            event.verdict
        ] += 1
        if event.verdict not in (true, "inconclusive"):
            wrong.append(event)

    try:
        pool.load(vocabulary, [participant.name for participant in participants])
        for number in range(runs):
            started = time.monotonic()
            taken = [families()[name] for name in FAMILIES]
            Measurement(pool, contracts, taken, LARGEST).run(SECONDS, count)
            seconds = time.monotonic() - started
            print(f"run {number + 1}: {seconds:.1f} s, {len(wrong)} wrong so far", flush=True)
    except KeyboardInterrupt:
        print("interrupted: the runs so far")
    finally:
        pool.close()
        for one in hogs:
            one.kill()
    for cell, seen in sorted(counts.items()):
        print(f"{cell:34} {dict(seen)}")
    for event in wrong:
        print(f"wrong: {event.to_json()}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
