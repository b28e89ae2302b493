"""What a run needs is compiled and built before its time begins, so that a first run says what
later runs say.

Compiled functions and tables are kept on disk. A marker beside them says of an implementation of
ours and a vocabulary that all is there, so that later runs lose no time.
"""

from __future__ import annotations

import compileall
import hashlib
import os
import sys
import threading
from collections import Counter
from dataclasses import replace
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import corpora
import impls
from corpora.vocabularies import embedded
from corpora.vocabularies.caches import compiled_folder
from corpora.vocabularies.embedded import RANDOM
from harness.core.outcomes import Inputs
from harness.engine.examiner import Study
from harness.engine.sessions import Sessions
from harness.engine.state import RunState
from harness.engine.suites import Budget
from harness.events import Preparing
from harness.findings.diagnosis import compile_models
from harness.findings.tracker import FindingTracker
from harness.studies.forced.study import ForcedSample
from harness.studies.growth.study import Growth
from impls import registry

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Mapping, Sequence

    from corpora.vocabularies.model import Vocabulary
    from harness.engine.examiner import Ended
    from harness.engine.plan import Plan
    from harness.engine.session import Session
    from harness.events import Event

JUDGES = "the harness"
"""In place of an implementation: what generators, families and explanations need."""


def prepare(plan: Plan, emit: Callable[[Event], None], stop: threading.Event) -> int:
    """Make all that a run needs and that is not there yet; for how many vocabularies that was.

    emit: told how much is done. stop: ends it. It has all the time that it takes. Raises
    KeyboardInterrupt.
    """
    missing = unprepared(plan)
    if not missing or not _writable():
        return 0
    compile_modules()
    part = replace(
        plan,
        vocabularies={source: plan.vocabularies[source] for source in missing},
        participants=[one for one in plan.participants if registry.our_own(one.spec)],
        references=frozenset(),
        expectations=(),
        budget=Budget(),
        texts=None,
        fail_fast=False,
        named=(),
        asked={},
    )
    progress = Progress(emit, len(missing))
    nothing = FindingTracker(progress.consume, lambda *_: None, (), plan.versions)
    run = RunState(part, progress.consume, nothing)
    run.stop = stop
    Preparations(run, progress, missing).run(None, mixed(part))
    return len(missing)


def mixed(plan: Plan) -> list[str]:
    """The vocabularies, one of each algorithm before a second of any.

    What two vocabularies need at the same time is compiled once, while one of them waits.
    """
    before = Counter[str]()
    turns: dict[str, int] = {}
    for source in plan.visited:
        algorithm = embedded.algorithm(source) or plan.vocabularies[source]().algorithm
        turns[source] = before[algorithm]
        before[algorithm] += 1
    return sorted(turns, key=turns.__getitem__)


def unprepared(plan: Plan) -> dict[str, list[Path]]:
    """The vocabularies for which something is to be made, with the markers that say so later."""
    ours = [one.spec for one in plan.participants if registry.our_own(one.spec)]
    missing: dict[str, list[Path]] = {}
    keys: set[str] = set()
    for source in plan.visited:
        key = _key(source, plan.vocabularies[source])
        if key not in keys:
            keys.add(key)
            markers = [_marker(name, key) for name in (JUDGES, *ours)]
            if absent := [one for one in markers if not one.exists()]:
                missing[source] = absent
    return missing


def _key(source: str, load: Callable[[], Vocabulary]) -> str:
    """What decides what is made for a vocabulary: its content, or the kind of a random one."""
    if embedded.algorithm(source) is not None:
        return source
    if source.startswith(RANDOM):
        return source.rpartition(":")[0]
    return load().fingerprint


def _marker(name: str, key: str) -> Path:
    digest = hashlib.sha256(f"{name}\0{key}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return marker(f"prepared-{digest}")


def marker(name: str) -> Path:
    """The file that says that something was made, by these versions of the compiler and of ours."""
    return compiled_folder() / f"{name}-{_versions()}"


@cache
def _versions() -> str:
    folders = [Path(package.__file__ or "").parent for package in (impls, corpora)]
    newest = max(path.stat().st_mtime_ns for one in folders for path in one.rglob("*.py"))
    text = f"{sys.version} {metadata.version('numba')} {folders} {newest}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _writable() -> bool:
    """Whether markers can be kept; else all would be made again before each run."""
    folder = compiled_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def compile_modules() -> None:
    """Write the byte code of all modules that the workers import, who may write none themselves.

    Nothing is said where it cannot be written: an installed package has it already.
    """
    for package in ("corpora", "harness", "impls"):
        found = find_spec(package)
        for folder in (found and found.submodule_search_locations) or ():
            compileall.compile_dir(folder, quiet=2)


class Progress:
    """Tells how much of the preparation is done. count: of vocabularies. Thread-safe."""

    def __init__(self, emit: Callable[[Event], None], count: int) -> None:
        self._emit, self._count = emit, count
        self._parts: dict[str, float] = {}
        """How much of each vocabulary that was begun is done, from 0 to 1."""
        self._lock = threading.Lock()
        self._emit(Preparing("", [], {}, 0.0))

    def consume(self, event: Event) -> None:
        """Tell who is loading; nothing else of what happens meanwhile belongs into the record."""
        if isinstance(event, Preparing):
            ready = len(event.ready) / (1 + len(event.ready) + len(event.waiting))
            self._emit(replace(event, share=self._noted(event.vocabulary, ready)))

    def done(self, vocabulary: str) -> None:
        """Take note of a vocabulary for which all is made."""
        self._emit(Preparing(vocabulary, [], {}, self._noted(vocabulary, 1.0)))

    def _noted(self, vocabulary: str, part: float) -> float:
        with self._lock:
            self._parts[vocabulary] = part
            return min(1.0, sum(self._parts.values()) / self._count)


class Preparations(Sessions):
    """The sessions of a preparation. missing: the markers of each vocabulary, which are made when
    all else is. progress: told what is done."""

    def __init__(
        self, run: RunState, progress: Progress, missing: Mapping[str, Sequence[Path]]
    ) -> None:
        super().__init__(run, lambda part: [Preparation(part)])
        self._progress, self._missing = progress, missing

    def end(self, source: str, ended: Ended) -> None:
        """Note in the cache that all is made for a vocabulary."""
        if ended.whole:
            self._progress.done(self._run.plan.vocabularies[source]().id)
            for marker in self._missing[source]:
                marker.touch()


class Preparation(Study):
    """Has everybody load each vocabulary, and makes what generators, families and judges make."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        self._growth = Growth(run)
        self._forced = ForcedSample(run)

    def step(self, session: Session) -> None:
        """Make what is made on first use."""
        run = self._run
        for contract in session.contracts():
            if not run.stop.is_set():
                session.pool.ask(contract, Inputs.of([b""])).wait()
        compile_models(session.vocabulary, run.stop.is_set)
        for generator in run.plan.generators:
            if not run.stop.is_set():
                next(generator.cases(session.vocabulary, run.plan.seed), None)
        if self._growth.concerns(session.source):
            for _ in self._growth.prepare(session.source, session.vocabulary):
                if run.stop.is_set():
                    return
        if self._forced.concerns(session.source):
            self._forced.step(session)
