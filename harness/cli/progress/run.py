"""What a person sees while a run is on: how far it is, what it counted, and how texts are read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.text import Text

from harness.cli.progress.moving import Progress, barred, nodes
from harness.cli.progress.news import counted
from harness.events import (
    BatchDone,
    Found,
    Measured,
    Phase,
    Preparing,
    TextsGiven,
    TextsRead,
    UnitStarted,
    by_cause,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

    from harness.events import Event


class RunProgress(Progress):
    """Cases, comparisons and findings so far. seconds: the budget, None where it is no time."""

    def __init__(self, console: Console, seconds: float | None) -> None:
        self._seconds = seconds
        self._first_case: float | None = None
        self._preparing: Preparing | None = None
        self._cases = self._comparisons = 0
        self._findings: dict[str, Found] = {}
        self._given: TextsGiven | None = None
        self._read: TextsRead | None = None
        super().__init__(console)

    def consume(self, event: Event) -> None:
        """Take note of an event; print what is worth a line."""
        super().consume(event)
        match event:
            case Phase() if event.text.startswith("checking"):
                self._first_case = self._first_case or time.monotonic()
            case UnitStarted() if self._first_case is None:
                self._what, self._first_case = "on a cluster", time.monotonic()
            case Preparing():
                under_way = bool(event.waiting) if event.share is None else event.share < 1
                self._preparing = event if under_way else None
                if under_way:
                    self.log(prepared(event))
            case BatchDone():
                if event.comparisons and not self._comparisons:
                    seconds = time.monotonic() - self._began
                    self.say(f"first comparison after {seconds:.1f} s, on {event.contract}")
                self._cases += event.cases
                self._comparisons += event.comparisons
            case TextsGiven():
                self._given = event
            case TextsRead():
                self._read = None if event.whole else event
                if self._read:
                    self.log(far(event, self._given))
            case Measured():
                self._what = f"measuring growth on {event.vocabulary}: {event.family}"
            case Found():
                self._findings.pop(event.replaces or "", None)
                self._findings[event.id] = event

    def rows(self) -> Iterator[RenderableType]:
        """What moves: the time, what was counted, and what is still being prepared or read."""
        now = time.monotonic()
        spent = 0.0 if self._first_case is None else now - self._first_case
        if self._first_case is None:
            share = None if self._preparing is None else self._preparing.share
            yield barred(share, f"{now - self._began:.0f} s of preparation", self._what)
        elif self._seconds is not None:
            so_far = f"{spent:.0f} of {self._seconds:.0f} s"
            yield barred(spent / self._seconds, so_far, self._what)
        else:
            yield barred(None, f"{spent:.0f} s", self._what)
        unexpected = len(by_cause(f for f in self._findings.values() if f.expected is None))
        expected = len(by_cause(self._findings.values())) - unexpected
        rate = self._comparisons / spent if spent > 1 else 0.0
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
        if self._read is not None:
            yield Text(far(self._read, self._given))
        if self._preparing is not None:
            yield Text(prepared(self._preparing), "dim", no_wrap=True, overflow="ellipsis")


def far(event: TextsRead, given: TextsGiven | None) -> str:
    """How far the user's texts are read for a vocabulary, in documents and bytes."""
    mib = event.bytes / 2**20
    whole = f" of {given.bytes / 2**20:,.1f} on disk" if given is not None and given.bytes else ""
    rate = f", {mib / event.seconds:,.1f} MiB/s" if event.seconds > 1 else ""
    documents = counted(event.documents, "document")
    return f"{event.vocabulary}: {documents}, {mib:,.1f} MiB{whole}{rate}"


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
