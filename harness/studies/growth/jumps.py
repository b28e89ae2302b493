"""Families made of single inputs that cost an implementation far more than their length predicts.

What the listed families don't bring out, a generator or a check may come by: one input of an
ordinary batch that takes a hundred times as long as others of its length. Such an input is
repeated, nested, and its longest run is made longer, and the growth of that is measured as of any
other family.
"""

from __future__ import annotations

import re
import statistics
import time
from typing import TYPE_CHECKING

from corpora.families.pattern import Pattern, Pump, repeated
from corpora.families.user import family_of
from corpora.generators.material import is_text
from harness.core.messages import Meter
from harness.core.outcomes import Status
from harness.workers.costly import CALL
from harness.workers.pool import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.families.base import Family
    from harness.core.comparisons import Contract
    from harness.workers.pool import WorkerPool

JUMP = 100
"""An input is a jump from so many times the cost that is usual for its length."""

LEAST = 200_000
"""Nanoseconds of a jump, at the least: below, a pause of the machine looks like one."""

LOOK_SECONDS = 6.0
"""Seconds of CPU time for looking into the costly batches of an implementation, whatever time the
run has left: a busy machine does not decide what is examined."""

HANG_SECONDS = 60.0
"""Seconds after which an implementation that takes no CPU time for it is taken to hang."""

MOST = 2
"""Inputs of an implementation that families are made of."""

LOST = (Status.TIMED_OUT, Status.OUT_OF_MEMORY)
"""What becomes of an input that costs too much to be answered."""

RUN = re.compile(rb"(.{1,16}?)\1{3,}", re.DOTALL)
"""A run: a unit of up to 16 bytes, at least four times."""


def jumps(pool: WorkerPool, name: str, contracts: Sequence[Contract]) -> list[bytes]:
    """The inputs of this vocabulary that cost an implementation far too much, the worst first.

    CPU time decides, the lesser of two calls of each alone: a busy machine makes all that was
    timed by the clock on the wall longer, so that nothing would be a jump. An input that it failed
    to answer in time, or died of, is one without being asked again. Raises Stopped.
    """
    usual, batches = pool.costly[name].taken()
    lost: list[bytes] = []
    asked: dict[bytes, Contract] = {}
    for request, results in batches:
        statuses = zip(request.inputs, results.status.tolist(), strict=True)
        lost += (dead := [one for one, status in statuses if status in LOST])
        under = [one for one in contracts if one.mode == request.mode and name in one.names]
        if under and not dead:
            asked |= dict.fromkeys(request.inputs, under[0])

    def cost(data: bytes) -> float:
        costs = pool.gauge(name, asked[data], [data], Meter.TIME).costs
        return 0.0 if costs is None else float(costs[0, 0])

    def pace(data: bytes) -> float:
        return spent[data] / (len(data) + CALL)

    spent: dict[bytes, float] = {}
    found: list[bytes] = []
    end = time.monotonic() + HANG_SECONDS
    try:
        with pool.lasting(lambda _: end - time.monotonic()):
            for data in asked:
                if sum(spent.values()) < LOOK_SECONDS * 1e9:
                    spent[data] = cost(data)
            usual = min(usual, statistics.median(map(pace, spent))) if spent else usual
            for data in sorted(spent, key=pace, reverse=True):
                least = max(LEAST, JUMP * usual * (len(data) + CALL))
                if len(found) < MOST and spent[data] > least and cost(data) > least:
                    found.append(data)
    except OutOfTime:  # the process that was at it was ended
        pool.resume()
    return [*sorted(lost, key=len), *found][:MOST]


def families_of(name: str, number: int, data: bytes) -> Iterator[Family]:
    """An input that was found to be costly as families: its longest run, nested, and repeated.

    name: of the implementation that it is costly for. number: tells it from others.
    """
    patterns = {"repeated": repeated(data)}
    half = len(data) // 2
    while is_text(data) and not is_text(data[:half]):
        half -= 1
    if half:
        patterns["nested"] = Pattern((Pump((data[:half],)), Pump((data[half:],))))
    run = max(RUN.finditer(data), key=lambda one: one.end() - one.start(), default=None)
    if run is not None:
        patterns["run"] = repeated(run[1], prefix=data[: run.start()], suffix=data[run.end() :])
    reason = f"made of an input that took {name} far longer than its length predicts"
    for how, pattern in patterns.items():
        if pattern.text == is_text(data):  # a run of a part of a character is not what was found
            yield family_of(f"costly-input-{number}-{how}", reason, pattern)


def costly_families(pool: WorkerPool, name: str, contracts: Sequence[Contract]) -> list[Family]:
    """The families of all inputs that were found to cost an implementation too much."""
    return [
        family
        for number, data in enumerate(jumps(pool, name, contracts), 1)
        for family in families_of(name, number, data)
    ]
