"""The study of speed: a step for each kind of text, in one mode, on one vocabulary."""

from __future__ import annotations

import importlib.metadata
import platform
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.texts import benchmarks as texts
from harness.confinement import probe
from harness.core import exit_statuses
from harness.core.provenance import machine, now
from harness.engine.steps import SteppedStudy, ended
from harness.events import (
    Benched,
    BenchStarted,
    Finished,
    ImplementationFailed,
    Phase,
    StepDone,
    VocabularyLoaded,
    VocabularyOpened,
)
from harness.studies.bench.measure import LIMITS, Bench, Block
from harness.studies.bench.openings import Openings
from harness.studies.bench.plan import BASE, OPENING, WAYS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from corpora.texts.benchmarks import Text
    from corpora.vocabularies.model import Vocabulary
    from harness.engine.ending import Ending
    from harness.events import Event
    from harness.studies.bench.plan import BenchPlan

UNTOLD = ("time", "command", "machine", "confinement")
"""Fields of ``BenchStarted`` that do not decide what is measured."""


class BenchStudy(SteppedStudy):
    """Measures how fast implementations encode. watch: told the share that is done, and what is."""

    name = "bench"

    def __init__(self, plan: BenchPlan, command: str, watch: Callable[[float, str], None]) -> None:
        self._plan = plan
        self._watch = watch
        self._started = started(plan, command)
        self._steps: dict[str, tuple[str, str, Text]] = {
            f"{source}, {mode}, {text.name}": (source, mode, text)
            for source in plan.vocabularies
            for mode in plan.modes
            for text in (plan.texts[:1] if mode == OPENING else plan.texts)
        }
        self._bench: tuple[tuple[str, int], Bench] | None = None
        self._recorded: set[str] = set()
        self._left = plan.seconds
        self._ahead = list(self._steps)

    def identity(self) -> dict[str, Any]:
        """What is measured, of which versions, on which processor."""
        decides = {k: v for k, v in asdict(self._started).items() if k not in UNTOLD}
        return {
            **decides,
            "vocabularies": list(self._plan.vocabularies),
            "files": {one.name: one.digest for one in self._plan.texts if one.digest},
            "implementations": [one.name for one in self._plan.participants],
            "cold_sizes": self._plan.cold_sizes,
        }

    def opening(self) -> Sequence[Event]:
        """What decides the measurement."""
        return [self._started]

    def plan(self, past: Sequence[Event]) -> Sequence[str]:
        """The kinds of text, mode by mode, vocabulary by vocabulary."""
        done = {event.step: event.seconds for event in past if isinstance(event, StepDone)}
        self._left -= sum(done.values())
        self._ahead = [name for name in self._steps if name not in done]
        once = (VocabularyLoaded, ImplementationFailed)
        self._recorded = {event.to_json() for event in past if isinstance(event, once)}
        return list(self._steps)

    def step(self, name: str, tell: Callable[[Event], None]) -> None:
        """Measure one kind of text; its cells are told even where it is interrupted."""
        began = time.monotonic()
        source, mode, text = self._steps[name]
        if mode == OPENING:
            self.close()
            openings = Openings(self._plan, source, self._loaded(source, tell), self._watched)
            try:
                openings.measure()
            finally:
                self._tell(openings.found.values(), tell)
        else:
            bench, block = self._opened(source, mode, tell), Block(mode, text)
            try:
                bench.measure(block, max(0.0, self._left) / max(1, len(self._ahead)))
            except BaseException:
                bench.kill()
                raise
            finally:
                self._tell(bench.events(block), tell)
            self._left -= time.monotonic() - began
        self._ahead.remove(name)

    def _opened(self, source: str, mode: str, tell: Callable[[Event], None]) -> Bench:
        """The measurement of a vocabulary, loaded when its first kind of text comes.

        It is loaded anew for a mode with several threads, as libraries read their number once.
        """
        threaded = WAYS[mode].threaded
        key = source, self._plan.threads if threaded else 1
        if self._bench is not None and self._bench[0] == key:
            return self._bench[1]
        self.close()
        vocabulary = self._loaded(source, tell)
        alike = [one for one in self._plan.modes if one in WAYS and WAYS[one].threaded == threaded]
        bench = Bench(self._plan, vocabulary, self._watched, alike, key[1])
        self._bench = key, bench
        bench.load()
        failed = bench.failed.items()
        self._tell((ImplementationFailed(n, vocabulary.id, line) for n, line in failed), tell)
        return bench

    def _loaded(self, source: str, tell: Callable[[Event], None]) -> Vocabulary:
        tell(Phase(f"loading {source}"))
        vocabulary = self._plan.vocabularies[source]()
        # Its problems are `tokgate preflight`'s to tell.
        self._tell([VocabularyLoaded.of(vocabulary, source)], tell)
        return vocabulary

    def _tell(self, events: Iterable[Event], tell: Callable[[Event], None]) -> None:
        """Tell events, and what failed, unless it was told before, in an earlier run, too."""
        for event in events:
            if event.to_json() not in self._recorded:
                self._recorded.add(event.to_json())
                tell(event)
            if isinstance(event, VocabularyOpened) and event.status == "failed":
                line = event.note
                failed = ImplementationFailed(event.implementation, event.vocabulary, line)
                self._tell([failed], tell)

    def _watched(self, done: float, what: str) -> None:
        before = len(self._steps) - len(self._ahead)
        self._watch((before + done) / len(self._steps), what)

    def close(self) -> None:
        """End the workers of the vocabulary that is loaded."""
        if self._bench is not None:
            self._bench[1].close()
            self._bench = None

    def fold(self, events: Sequence[Event], ending: Ending) -> Finished:
        """The end: no gate, but who could not be started is said by the exit status."""
        failed = any(isinstance(event, ImplementationFailed) for event in events)
        measured = any(
            (isinstance(event, Benched) and event.timings)
            or (isinstance(event, VocabularyOpened) and event.openings)
            for event in events
        )
        fine = exit_statuses.HOLDS if measured and not failed else exit_statuses.CANNOT_START
        return ended(ending, fine=fine)


def started(plan: BenchPlan, command: str) -> BenchStarted:
    """What decides the measurement."""
    everyone = [*plan.participants, *plan.judges]
    ways = [WAYS[mode] for mode in plan.modes if mode in WAYS]
    return BenchStarted(
        time=now(),
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
        document=plan.document if any(way.batched for way in ways) else 0,
        threads=plan.threads if any(way.threaded for way in ways) else 1,
        base={mode: list(names) for mode, names in BASE.items()},
        versions={
            "tokgate": importlib.metadata.version("tokgate"),
            "python": platform.python_version(),
            **{one.name: one.about.version for one in everyone},
        },
        homepages={one.name: one.about.homepage for one in everyone},
        cpu=cpu_model(),
        machine=machine(),
        confinement=probe.line(LIMITS.memory, everyone),
    )


def cpu_model() -> str:
    """The processor's name, as Linux has it."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(found, platform.processor() or "unknown")
