"""What a person sees of a campaign: how it goes, and what is new."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from rich.text import Text

from harness.cli.progress.moving import Progress
from harness.cli.progress.news import found
from harness.events import Event, ImplementationFailed, Phase, Withdrawn
from harness.studies.fuzz.plan import spent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import Console, RenderableType

    from harness.studies.fuzz.state import Round


class FuzzProgress(Progress):
    """Rates, discoveries and new findings.

    known: ids of findings from before: what is found again is not told. seconds: of the session,
    None where it is endless or ends by its cases.
    """

    every = 60.0

    def __init__(self, console: Console, known: Mapping[str, str], seconds: float | None) -> None:
        self._known = set(known)
        self._new: set[object] = set()
        self._targets: dict[str, Round] = {}
        self._before: Mapping[str, int] = {}
        self._phases: dict[int, str] = {}
        super().__init__(console, seconds, each_unit=False)

    def begin(self, cases: Mapping[str, int]) -> None:
        """Take note of how many cases each target had when the session began."""
        self._before = cases

    def announce(self, event: Event) -> None:
        """What a thread is busy with, or what happens on a cluster."""
        with self._lock:
            if isinstance(event, Phase):  # too many for lines
                self._phases[threading.get_ident()] = event.text
            else:
                self.consume(event)

    def publish(self, done: Round) -> None:
        """A round is committed: tell what is new in it."""
        with self._lock:
            self._targets[done.target] = done
            for event in map(Event.from_json, done.events):
                if isinstance(event, (ImplementationFailed, Withdrawn)):
                    self.consume(event)
            for one in done.findings:
                if one.id not in self._known:
                    for line in found(one, "new"):
                        self.say(line.text, line.style, line.once)
                        self._new.add(line.once)
            self.log(self.facts())

    def facts(self) -> str:
        """One line on how it goes."""
        elapsed = time.monotonic() - self._began
        rounds = self._targets.values()
        cases = sum(one.cases - self._before.get(one.target, 0) for one in rounds)
        corpus = sum(one.first + len(one.joined) for one in rounds)
        shapes = sum(one.shapes for one in rounds)
        rate = cases / elapsed if elapsed else 0.0
        return (
            f"{spent(elapsed)}   {cases:,} cases ({rate:,.0f}/s)   corpus {corpus:,}   "
            f"{shapes:,} disagreements   {len(self._new):,} new findings"
        )

    def rows(self) -> Iterator[RenderableType]:
        """What moves: how it goes, and what each thread does."""
        self._what = ""
        yield from super().rows()
        for phase in self._phases.values():
            yield Text(phase, style="dim")
