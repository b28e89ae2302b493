"""What a person sees while a run is on: how far it is, what it counted, and how texts are read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.text import Text

from harness.cli.progress.moving import Progress, barred, nodes
from harness.events import (
    BatchDone,
    Found,
    Phase,
    Preparing,
    TextsGiven,
    TextsRead,
    UnitStarted,
    by_cause,
)
from reports.texts import reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

    from harness.events import Event


CHECKING = "checking "
"""How the phase begins in which a vocabulary, loaded by all, has its cases."""


class RunProgress(Progress):
    """Cases, comparisons and findings so far. seconds: the budget, None where it is no time."""

    def __init__(self, console: Console, seconds: float | None) -> None:
        self._seconds = seconds
        self._underway: dict[type[Event], str] = {}
        self._cases = self._comparisons = 0
        self._findings: dict[str, Found] = {}
        self._given: TextsGiven | None = None
        super().__init__(console)

    def consume(self, event: Event) -> None:
        """Take note of an event; print what is worth a line."""
        super().consume(event)
        match event:
            case UnitStarted():
                self._first_case = self._first_case or time.monotonic()
            case Phase() if event.text.startswith(CHECKING):
                self._first_case = self._first_case or time.monotonic()
                if self._underway.get(Preparing, "").startswith(event.text.removeprefix(CHECKING)):
                    self._show(Preparing, "")
            case Preparing():
                self._share = event.share
                ready = not event.waiting if event.share is None else event.share >= 1
                self._show(Preparing, "" if ready else prepared(event))
            case BatchDone():
                self._cases += event.cases
                self._comparisons += event.comparisons
            case TextsGiven():
                self._given = event
            case TextsRead():
                self._show(TextsRead, "" if event.whole else reading(event, self._given))
            case Found():
                self._findings.pop(event.replaces or "", None)
                self._findings[event.id] = event

    def _show(self, kind: type[Event], line: str) -> None:
        """Show a line in place of the last one of this kind; none where there is no more to it."""
        self._underway[kind] = line
        if line:
            self.log(line)

    def rows(self) -> Iterator[RenderableType]:
        """What moves: the time, what was counted, and what is still being prepared or read."""
        spent = time.monotonic() - (self._first_case or self._began)
        share, so_far = None, f"{spent:.0f} s"
        if self._first_case is None:
            share, so_far = self._share, f"{so_far} of preparation"
        elif self._seconds is not None:
            share, so_far = spent / self._seconds, f"{spent:.0f} of {self._seconds:.0f} s"
        yield barred(share, so_far, self._what)
        unexpected = len(by_cause(f for f in self._findings.values() if f.expected is None))
        expected = len(by_cause(self._findings.values())) - unexpected
        rate = self._comparisons / spent if self._first_case and spent > 1 else 0.0
        yield Text.assemble(
            (f"{self._cases:,}", "bold"),
            " cases   ",
            (f"{self._comparisons:,}", "bold"),
            f" comparisons ({rate:,.0f}/s)   ",
            (f"{unexpected}", "bold red" if unexpected else "bold green"),
            " findings   ",
            (f"{expected}", "bold cyan"),
            " expected",
        )
        yield from nodes(self._usage)
        for line in filter(None, self._underway.values()):
            yield Text(line, "dim")


def prepared(event: Preparing) -> str:
    """One line on what is compiled and built, and on who has not loaded a vocabulary yet."""
    parts = []
    if event.share is not None:
        parts.append(f"compiling and building what this run needs: {event.share:.0%} done")
    if event.waiting:
        count = len(event.ready) + len(event.waiting)
        parts.append(f"{event.vocabulary}: {len(event.ready)} of {count} implementations are ready")
        compiling = [f"{name}: {what}" for name, what in event.waiting.items() if what]
        parts.append(compiling[0] if compiling else f"loading {', '.join(event.waiting)}")
    return "; ".join(parts)
