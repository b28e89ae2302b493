"""What a person sees while a run is on: one consumer of the event stream among others."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from harness.events import (
    BatchDone,
    Counted,
    ExpectationJudged,
    Finished,
    Found,
    ImplementationFailed,
    Measured,
    Phase,
    Withdrawn,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from harness.events import Event

LINES_SHOWN = 12
"""Buckets named at the end on the terminal; the report has all."""


class Progress:
    """Rate and findings so far on a terminal; plain lines where there is none (CI logs)."""

    def __init__(self, console: Console, seconds: float | None) -> None:
        self._console = console
        self._seconds = seconds
        self._start = time.monotonic()
        self._cases = 0
        self._comparisons = 0
        self._phase = "starting"
        self._loading = 0.0
        self._loading_since: float | None = self._start
        self._findings: dict[str, Found] = {}
        self._counts: Counter[str] = Counter()
        self._grown: set[tuple[str, str, str]] = set()
        self._live: Live | None = None
        if console.is_terminal:
            self._live = Live(
                get_renderable=self._render, console=console, refresh_per_second=8, transient=True
            )
            self._live.start()

    def consume(self, event: Event) -> None:
        """Take note of an event; print what is worth a line."""
        match event:
            case Phase():
                self._phase = event.text
                self._clock(loading=event.text.startswith("loading"))
                if self._live is None:
                    self._console.print(escape(event.text), style="dim")
            case BatchDone():
                self._cases += event.cases
                self._comparisons += event.comparisons
            case Measured():
                self._phase = f"measuring growth on {event.vocabulary}: {event.family}"
                self._measured(event)
            case Found():
                self._found(event)
            case Counted():
                self._counts[event.bucket] = event.count
            case ImplementationFailed():
                line = event.message.split("\n", 1)[0]
                self._say(f"{event.implementation} cannot run {event.vocabulary}: {line}", "red")
            case Withdrawn():
                line = event.message.split("\n", 1)[0]
                self._say(f"{event.implementation} on {event.vocabulary}: {line}", "yellow")
            case Finished():
                self.stop()

    def _measured(self, event: Measured) -> None:
        """One line for each implementation and vocabulary; the report has all families."""
        if event.verdict not in {"superlinear", "failed"}:
            return
        cell = (event.implementation, event.vocabulary, event.verdict)
        if cell in self._grown:
            return
        self._grown.add(cell)
        what = f"exponent {event.exponent:.2f}" if event.exponent is not None else event.note
        place = f"{event.implementation} on {event.family} of {event.vocabulary}"
        self._say(f"growth {event.verdict}: {place}, {what}", "yellow")

    def _clock(self, *, loading: bool) -> None:
        """Loading is not part of the budget, so the bar stands still meanwhile."""
        if self._loading_since is not None:
            self._loading += time.monotonic() - self._loading_since
        self._loading_since = time.monotonic() if loading else None

    def _found(self, event: Found) -> None:
        known = event.id in self._findings
        if event.replaces is not None:
            self._findings.pop(event.replaces, None)
        self._findings[event.id] = event
        if event.minimal and not known:
            mark = "expected" if event.expected else "finding"
            style = "cyan" if event.expected else "bold red"
            self._say(f"{mark} {event.bucket}: {event.difference}", style)

    def _say(self, line: str, style: str) -> None:
        text = Text(line, style=style)
        if self._live is not None:
            self._console.print(text, overflow="ellipsis", no_wrap=True)
        else:
            self._console.print(text, soft_wrap=True)

    def _render(self) -> RenderableType:
        now = time.monotonic()
        loading = self._loading + (now - self._loading_since if self._loading_since else 0.0)
        spent = now - self._start - loading
        grid = Table.grid(padding=(0, 2))
        if self._seconds is not None:
            bar = ProgressBar(total=self._seconds, completed=min(spent, self._seconds), width=30)
            grid.add_row(bar, f"{spent:.0f} of {self._seconds:.0f} s", self._phase)
        else:
            grid.add_row(f"{spent:.0f} s", self._phase)
        expected = sum(1 for f in self._findings.values() if f.expected)
        rate = self._comparisons / spent if spent > 1 else 0.0
        facts = Text.assemble(
            (f"{self._cases:,}", "bold"),
            " cases   ",
            (f"{self._comparisons:,}", "bold"),
            f" comparisons ({rate:,.0f}/s)   ",
            (f"{len(self._findings) - expected}", "bold red" if self._findings else "bold green"),
            " findings   ",
            (f"{expected}", "bold cyan"),
            " expected",
        )
        return Group(grid, facts)

    def stop(self) -> None:
        """Take the moving part off the terminal."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def closing(
    console: Console,
    finished: Finished,
    findings: list[Found],
    expectations: list[ExpectationJudged],
    report: str,
) -> None:
    """The last words of a run: the verdict, the buckets, where the report is."""
    unexpected = [f for f in findings if f.expected is None]
    tell(console, unexpected)
    known = Counter(one.status for one in expectations)
    if known:
        words = ", ".join(f"{count} {status}" for status, count in sorted(known.items()))
        console.print(f"expectations: {words}", style="cyan")
    verdict = finished.verdict if finished.complete else "incomplete"
    style = {"pass": "bold green", "fail": "bold red"}.get(verdict, "bold yellow")
    console.print(
        Text.assemble(
            (verdict.upper(), style),
            f"  {finished.cases:,} cases, {finished.comparisons:,} comparisons, "
            f"{finished.seconds:.0f} s, {len(unexpected)} unexpected findings",
        )
    )
    for reason in finished.reasons:
        console.print(Text(f"  {reason}"), soft_wrap=True)
    for note in finished.notes:
        console.print(Text(f"  {note}", style="yellow"), soft_wrap=True)
    console.print(Text(f"  {report}", style="dim"), soft_wrap=True)


def tell(console: Console, findings: Sequence[Found]) -> None:
    """The first of some findings, each with its input and what differs."""
    for found in findings[:LINES_SHOWN]:
        line = Text.assemble((found.bucket, "bold red"), f"  on {found.vocabulary}: {shown(found)}")
        console.print(line, soft_wrap=True)
        console.print(Text(f"    {found.difference}", style="dim"), soft_wrap=True)
    if len(findings) > LINES_SHOWN:
        console.print(f"and {len(findings) - LINES_SHOWN} more", style="dim")


def shown(found: Found) -> str:
    """An input as a Python literal, cut to a line."""
    import base64  # noqa: PLC0415

    data = base64.b64decode(found.input_b64)
    try:
        literal = ascii(data.decode())
    except UnicodeDecodeError:
        literal = repr(data)
    return literal if len(literal) <= 60 else f"{literal[:57]}..."
