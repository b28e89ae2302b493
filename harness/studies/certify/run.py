"""The study that certifies files: parts are decided by processes, and the record is the journal."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from corpora.texts.documents import TextsError
from harness.core import exit_statuses
from harness.engine.ending import BrokenOff, Ending
from harness.engine.steps import SteppedStudy, ended
from harness.studies.certify.inputs import parts_of
from harness.studies.certify.jobs import Auditor
from harness.studies.certify.results import (
    CertifyStarted,
    PartCertified,
    Tally,
    certificate_of,
)
from harness.workers.process import Process, WorkerDied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from harness.events import Event, Finished
    from harness.studies.certify.inputs import FilePart
    from harness.studies.certify.jobs import Task

STATUSES = {"right": exit_statuses.HOLDS, "wrong": exit_statuses.FAILS}

SECONDS = 7 * 86_400.0
"""A part may take so long: a packed file is one, however large it is."""


@dataclass(slots=True)
class CertifyStudy(SteppedStudy):
    """The study: one step, whose parts are kept one by one. source: what names the vocabulary."""

    source: str
    task: Task
    files: Sequence[str]
    jobs: int
    memory: int
    command: str
    watch: Callable[[float, str], None]
    _parts: Sequence[FilePart] = field(init=False)
    _auditor: Auditor = field(init=False)
    _done: set[str] = field(init=False, default_factory=set)
    name: ClassVar[str] = "certify"

    def __post_init__(self) -> None:
        """Cut the files into parts. Raises TextsError."""
        self._parts = parts_of(self.files, self.task.layout)
        self._auditor = Auditor.of(self.task)

    def identity(self) -> dict[str, Any]:
        """The vocabulary, the files as they are now, and how they are read."""
        names = {part.path.partition("#")[0] for part in self._parts} | {self.task.layout.raw}
        stats = {name: Path(name).stat() for name in sorted(filter(None, names))}
        return {
            "vocabulary": self.task.vocabulary.fingerprint,
            "mode": self.task.mode.label,
            "skipped": [*self.task.skipped],
            "layout": asdict(self.task.layout),
            "files": {name: [one.st_size, one.st_mtime_ns] for name, one in stats.items()},
        }

    def opening(self) -> Sequence[Event]:
        """What is certified."""
        certifier = self._auditor.certifier
        return [
            CertifyStarted(
                self.source,
                self.task.vocabulary.fingerprint,
                self.task.mode.label,
                certifier.how,
                certifier.obstacle or "",
                self.command,
                len(self._parts),
            )
        ]

    def kept(self, unfinished: Sequence[Event]) -> Sequence[Event]:
        """The parts that were decided."""
        return [one for one in unfinished if isinstance(one, CertifyStarted | PartCertified)]

    def plan(self, past: Sequence[Event]) -> Sequence[str]:
        """One step: the parts that were not decided before."""
        self._done = {one.part for one in past if isinstance(one, PartCertified)}
        return ["certify"]

    def step(self, name: str, tell: Callable[[Event], None]) -> None:
        """Decide the parts that are left. Raises TextsError."""
        if self._auditor.certifier.obstacle:
            return
        whole = sum(part.size for part in self._parts) or 1
        gone = sum(part.size for part in self._parts if part.key in self._done)
        rows = wrong = 0
        for part, tally in self._decided([p for p in self._parts if p.key not in self._done]):
            tell(PartCertified(part.key, asdict(tally)))
            gone, rows, wrong = gone + part.size, rows + tally.rows, wrong + tally.wrong
            self.watch(gone / whole, f"{rows:,} rows, {wrong:,} wrong")

    def _decided(self, parts: Sequence[FilePart]) -> Iterator[tuple[FilePart, Tally]]:
        """The parts with what is known of each, as they are decided."""
        jobs = min(self.jobs, len(parts))
        if jobs <= 1:
            yield from ((part, self._auditor.tally(part)) for part in parts)
            return
        seats, seat = list[Process](), threading.local()

        def begin() -> None:
            seat.process = Process("harness.studies.certify.jobs", self.memory)
            seats.append(seat.process)
            seat.process.ask(self.task, SECONDS, str)

        def decide(part: FilePart) -> Tally:
            try:
                answer: Tally | str = seat.process.ask(part, SECONDS, Tally | str)
            except WorkerDied as death:
                how = death.outcome.message.strip().rpartition("\n")[2]
                raise BrokenOff(f"the process that read {part.path} ended: {how}") from death
            if isinstance(answer, str):
                raise TextsError(answer)
            return answer

        with ThreadPoolExecutor(jobs, initializer=begin) as threads:
            try:
                futures = {threads.submit(decide, part): part for part in parts}
                for future in as_completed(futures):
                    yield futures[future], future.result()
            finally:
                threads.shutdown(wait=False, cancel_futures=True)
                for process in seats:
                    process.kill()
        for process in seats:
            process.close()

    def fold(self, events: Sequence[Event], ending: Ending) -> Finished:
        """The end: the verdict decides the exit status."""
        found = certificate_of(events)
        if found is None:
            return ended(ending)
        fine = STATUSES.get(found.verdict, exit_statuses.NOT_EXAMINED)
        return ended(ending, found.tally.rows, fine)
