"""Studies that are a list of steps, each done whole or done again.

A study of a run does its part with every vocabulary that the engine has loaded (``study.py``). One
of these loads what it needs by itself: ``bench``, ``selftest``, ``worst`` and ``field``. What they
have in common is here: the record ``run.jsonl``, going on from it, Ctrl-C and SIGTERM, faults, and
the closing event.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from harness.core import exit_statuses, stored
from harness.core.output import Lines, OutputError, cannot_write, write_whole
from harness.engine.bus import Bus
from harness.engine.ending import to_the_end
from harness.events import Finished, Phase, StepDone, StudyStarted, read_events

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from harness.engine.ending import Ending
    from harness.events import Event


RECORD = "run.jsonl"
"""The name of the record in the output folder of a command."""


def ended(ending: Ending, cases: int = 0, fine: int = exit_statuses.HOLDS) -> Finished:
    """The closing event of a study without a gate. fine: its status where it came to its end."""
    status = ending.status or fine
    reasons = [] if ending.how is None else [ending.how]
    return Finished(ending.complete, "fail" if status else "pass", reasons, 0.0, cases, 0, status)


class SteppedStudy:
    """A study that is a list of steps, told by events. name: that of its command."""

    name: ClassVar[str]

    def identity(self) -> dict[str, Any]:
        """What must be the same for a record to go on, as plain JSON values."""
        raise NotImplementedError

    def opening(self) -> Sequence[Event]:
        """The events that a new record begins with: what decides the study."""
        return ()

    def kept(self, unfinished: Sequence[Event]) -> Sequence[Event]:
        """What still stands of the events since the last step that was done whole.

        Where no step was, the events of :meth:`opening` are among them.
        """
        return ()

    def plan(self, past: Sequence[Event]) -> Sequence[str]:
        """The names of all steps in their order, those done before included.

        past: the events of an earlier run, which this one goes on from.
        """
        raise NotImplementedError

    def step(self, name: str, tell: Callable[[Event], None]) -> None:
        """Do one step. Whatever it knows when it is interrupted, it tells before it ends."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what the steps have in common, such as a pool of workers."""

    def fold(self, events: Sequence[Event], ending: Ending) -> Finished:
        """Return the closing event, of all events and of nothing else. Its seconds are ignored."""
        raise NotImplementedError


def conduct(
    study: SteppedStudy,
    folder: Path,
    consumers: Sequence[Callable[[Event], None]],
    mendable: tuple[type[Exception], ...] = (),
) -> Finished:
    """Do the steps of a study that are not in its record yet, and return the closing event.

    consumers: are given all events, those of an earlier run first. mendable: mistakes of the
    user, which are raised. Raises OutputError where the record cannot be gone on with, or written.
    """
    began = time.monotonic()
    record = StepRecord(folder, study)
    emitted: list[Event] = []
    replay = Bus([emitted.append, *consumers])
    emit = Bus([record.consume, emitted.append, *consumers])

    def work() -> None:
        for event in record.past:
            replay(event)
        if not record.past:
            for event in study.opening():
                emit(event)
        steps = study.plan(record.past)
        if record.done:
            emit(Phase(f"{len(record.done)} of {len(steps)} steps were done before"))
        for step in steps:
            if step not in record.done:
                at = time.monotonic()
                study.step(step, emit)
                emit(StepDone(step, time.monotonic() - at))

    try:
        try:
            ending = to_the_end(work, mendable)
        finally:
            study.close()
        seconds = sum(record.done.values()) + time.monotonic() - began
        finished = replace(study.fold(emitted, ending), seconds=seconds)
        emit(finished)
    finally:
        record.close()
    return finished


class StepRecord:
    """The record of one study in a folder.

    past: what an interrupted record of the same study has that still stands; empty where the
    study begins. done: the steps that were done before, with the seconds that each took.

    A record that came to its end is replaced. One of the same study with another identity that did
    not come to its end is kept beside it as ``run.jsonl.old``. Raises OutputError for a folder
    that cannot be written, one with a record of something else, and a damaged record.
    """

    def __init__(self, folder: Path, study: SteppedStudy) -> None:
        self.path = folder / RECORD
        beginning = StudyStarted(study.name, json.loads(json.dumps(study.identity())))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.past = self._past(beginning, study) if self.path.exists() else []
            lines = "".join(f"{event.to_json()}\n" for event in (beginning, *self.past))
            write_whole(self.path, lines)
        except OSError as error:
            raise cannot_write(f"--out {folder}", error) from error
        self.done = {one.step: one.seconds for one in self.past if isinstance(one, StepDone)}
        self._file = Lines(self.path, afresh=False)

    def _past(self, beginning: StudyStarted, study: SteppedStudy) -> list[Event]:
        """The events of an interrupted record with which the study goes on."""
        try:
            first, *events = [*read_events(self.path)] or [beginning]
        except ValueError as error:
            raise stored.damaged(self.path, str(error)) from error
        if not isinstance(first, StudyStarted) or first.study != beginning.study:
            raise OutputError(
                f"--out {self.path.parent}: its {RECORD} is not of {beginning.study}; "
                "name another folder"
            )
        if events and isinstance(events[-1], Finished) and events[-1].complete:
            return []
        if first != beginning:
            self.path.replace(self.path.with_name(f"{RECORD}.old"))
            return []
        known = [event for event in events if not isinstance(event, Finished)]
        ends = [at for at, one in enumerate(known, 1) if isinstance(one, StepDone)]
        whole = max(ends, default=0)
        return [*known[:whole], *study.kept(known[whole:])]

    def consume(self, event: Event) -> None:
        """Append an event. Raises OutputError."""
        self._file.add(event.to_json())

    def close(self) -> None:
        """Close the file."""
        self._file.close()
