"""One measurement from plan to record: events, interruption, exit status."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.texts import benchmarks as texts
from harness.core.interruption import exit_status
from harness.events import Benched, BenchFinished, BenchStarted, Event, ImplementationFailed
from harness.studies.bench.measure import LIMITS, measure
from harness.studies.bench.plan import BASE
from harness.verdict import gate
from harness.workers import confined

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.studies.bench.plan import BenchPlan


def execute(
    plan: BenchPlan,
    command: str,
    emit: Callable[[Event], None],
    watch: Callable[[float, str], None],
) -> int:
    """Measure; the exit status. Nothing measured is lost to Ctrl-C or SIGTERM."""
    began = time.monotonic()
    failed, measured = 0, 0

    def count(event: Event) -> None:
        nonlocal failed, measured
        failed += isinstance(event, ImplementationFailed)
        measured += isinstance(event, Benched) and bool(event.timings)
        emit(event)

    emit(started(plan, command))
    interrupt = measure(plan, count, watch)
    status = gate.CANNOT_START if failed or not measured else 0
    if interrupt is not None:
        status = exit_status(interrupt)
    emit(BenchFinished(interrupt is None, time.monotonic() - began, status))
    return status


def started(plan: BenchPlan, command: str) -> BenchStarted:
    """What decides the measurement."""
    everyone = [*plan.participants, *plan.judges]
    return BenchStarted(
        time=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        command=command,
        seed=plan.seed,
        rounds=plan.rounds or 0,
        cold=plan.cold,
        sizes=list(plan.sizes),
        texts={
            one.name: texts.summary(one.name) if one.name in texts.TEXTS else one.summary
            for one in plan.texts
        },
        modes=list(plan.modes),
        base={mode: list(names) for mode, names in BASE.items()},
        versions={
            "tokgate": importlib.metadata.version("tokgate"),
            "python": platform.python_version(),
            **{one.name: one.about.version for one in everyone},
        },
        homepages={one.name: one.about.homepage for one in everyone},
        cpu=cpu_model(),
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        confinement=confined.line(LIMITS.memory, everyone),
    )


def cpu_model() -> str:
    """The processor's name, as Linux has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    found = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(found, platform.processor() or "unknown")
