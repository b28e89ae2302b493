"""``run.jsonl`` of a study of steps: events as they are told, and what an earlier one left."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from harness.core import stored
from harness.core.writing import Lines, OutputError, cannot_write, write_whole
from harness.events import Finished, StepDone, StudyStarted, read_events

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from harness.events import Event

RECORD = "run.jsonl"
"""The name of the record in the output folder of a command."""


class StepRecord:
    """The record of one study in a folder.

    past: what an interrupted record of the same study has that still stands; empty where the
    study begins. kept: says what stands of the events of a step that was not done whole.

    A record that came to its end is replaced. One of the same study with another identity that did
    not come to its end is kept beside it as ``run.jsonl.old``. Raises OutputError for a folder
    that cannot be written, one with a record of something else, and a damaged record.
    """

    def __init__(
        self,
        folder: Path,
        study: str,
        identity: dict[str, Any],
        kept: Callable[[Sequence[Event]], Sequence[Event]],
    ) -> None:
        self.path = folder / RECORD
        self.past: tuple[Event, ...] = ()
        beginning = StudyStarted(study, json.loads(json.dumps(identity)))
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.exists():
                self._take(beginning, kept)
            lines = "".join(f"{event.to_json()}\n" for event in (beginning, *self.past))
            write_whole(self.path, lines)
        except OSError as error:
            raise cannot_write(f"--out {folder}", error) from error
        self._file = Lines(self.path, afresh=False)

    def _take(
        self, beginning: StudyStarted, kept: Callable[[Sequence[Event]], Sequence[Event]]
    ) -> None:
        try:
            events = list(read_events(self.path))
        except ValueError as error:
            raise stored.damaged(self.path, str(error)) from error
        if not events:
            return  # killed before its first line was whole
        first = events[0]
        if not isinstance(first, StudyStarted) or first.study != beginning.study:
            raise OutputError(
                f"--out {self.path.parent}: has a {RECORD} that is not of {beginning.study}; "
                "name another folder"
            )
        last = events[-1]
        if isinstance(last, Finished) and last.complete:
            return
        if first != beginning:
            self.path.replace(self.path.with_name(f"{RECORD}.old"))
            return
        self.past = tuple(standing(events[1:], kept))

    @property
    def done(self) -> dict[str, float]:
        """The steps that were done before, with the seconds that each took."""
        return {event.step: event.seconds for event in self.past if isinstance(event, StepDone)}

    def consume(self, event: Event) -> None:
        """Append an event. Raises OutputError."""
        self._file.add(event.to_json())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def standing(
    events: Sequence[Event], kept: Callable[[Sequence[Event]], Sequence[Event]]
) -> list[Event]:
    """The events of an interrupted record with which the study goes on."""
    known = [event for event in events if not isinstance(event, Finished)]
    whole = 1 + max((at for at, one in enumerate(known) if isinstance(one, StepDone)), default=-1)
    return [*known[:whole], *kept(known[whole:])]
