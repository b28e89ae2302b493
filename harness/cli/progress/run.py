"""What a person sees while a run is on: one consumer of the event stream among others."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from harness.cli.progress.cluster import ClusterView
from harness.cli.progress.moving import MovingPart, barred
from harness.cli.progress.numbers import counted
from harness.events import (
    PASS,
    UNEXAMINED,
    BatchDone,
    Counted,
    ExpectationJudged,
    Finished,
    Found,
    ImplementationFailed,
    Measured,
    Phase,
    Preparing,
    SlowOnce,
    TextsGiven,
    TextsRead,
    UnitStarted,
    Withdrawn,
    by_cause,
    cause_of,
    named,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from harness.events import Event

LOG_SECONDS = 5.0
"""Seconds between two lines of a log about who is still loading."""

TEXTS_SECONDS = 30.0
"""Seconds between two lines of a log about how far the user's texts are read."""

WORDS = {
    "shown": "seen",
    "stale": "gone (delete their entries)",
    "expired": "expired",
    "not-exercised": "not tested",
}
"""What became of the entries of the expectations files, in words."""

LINES_SHOWN = 12
"""Buckets named at the end on the terminal; the report has all."""


class Progress:
    """Rate and findings so far on a terminal; plain lines where there is none (CI logs)."""

    def __init__(self, console: Console, seconds: float | None) -> None:
        self._console = console
        self._seconds = seconds
        self._start = time.monotonic()
        self._first_case: float | None = None
        self._preparing: Preparing | None = None
        self._shown: set[tuple[str, str, bool]] = set()
        self._logged = 0.0
        self._cases = 0
        self._comparisons = 0
        self._phase = "starting"
        self._findings: dict[str, Found] = {}
        self._counts: Counter[str] = Counter()
        self._given: TextsGiven | None = None
        self._read: TextsRead | None = None
        self._grown: set[tuple[str, str, str]] = set()
        self._cluster = ClusterView(each=True)
        self._moving = MovingPart(console, self._render, a_second=8)

    def consume(self, event: Event) -> None:
        """Take note of an event; print what is worth a line."""
        line = self._cluster.consume(event)
        if line is not None:
            self._say(line, "dim")
        match event:
            case Phase():
                self._phase = event.text
                if event.text.startswith("checking") and self._first_case is None:
                    self._first_case = time.monotonic()
                if not self._moving.shown:
                    self._console.print(Text(event.text, style="dim"), soft_wrap=True)
            case UnitStarted() if self._first_case is None:
                self._phase, self._first_case = "on a cluster", time.monotonic()
            case Preparing():
                self._prepare(event)
            case SlowOnce():
                self._say(
                    f"{event.implementation} on {event.vocabulary} was slow once, and answered "
                    f"when asked again alone ({event.message})",
                    "dim",
                )
            case BatchDone():
                if event.comparisons and not self._comparisons:
                    seconds = time.monotonic() - self._start
                    self._say(f"first comparison after {seconds:.1f} s, on {event.contract}", "dim")
                self._cases += event.cases
                self._comparisons += event.comparisons
            case TextsGiven():
                self._given = event
            case TextsRead():
                self._texts(event)
            case Measured():
                self._phase = f"measuring growth on {event.vocabulary}: {event.family}"
                self._measured(event)
            case Found():
                self._found(event)
            case Counted():
                self._counts[event.bucket] = event.count
            case ImplementationFailed():
                line, _, trace = event.message.partition("\n")
                self._say(f"{event.implementation} cannot run {event.vocabulary}: {line}", "red")
                for one in trace.splitlines():
                    self._console.print(Text(one, style="dim"), soft_wrap=True)
            case Withdrawn():
                line = event.message.split("\n", 1)[0]
                self._say(f"{event.implementation} on {event.vocabulary}: {line}", "yellow")
            case Finished():
                self.stop()

    def _texts(self, event: TextsRead) -> None:
        """Show how far the texts are read; in a log, a line now and then."""
        self._read = None if event.whole else event
        now = time.monotonic()
        if not self._moving.shown and self._read and now - self._logged > TEXTS_SECONDS:
            self._logged = now
            self._console.print(Text(far(event, self._given), style="dim"), soft_wrap=True)

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

    def _prepare(self, event: Preparing) -> None:
        """Show what is being prepared, and who is still loading; in a log, a line now and then."""
        under_way = bool(event.waiting) if event.share is None else event.share < 1
        self._preparing = event if under_way else None
        now = time.monotonic()
        if not self._moving.shown and under_way and now - self._logged > LOG_SECONDS:
            self._logged = now
            self._console.print(Text(prepared(event), style="dim"), soft_wrap=True)

    def _found(self, event: Found) -> None:
        if event.replaces is not None:
            self._findings.pop(event.replaces, None)
        self._findings[event.id] = event
        line = news(event)
        if event.minimal and line not in self._shown:
            self._shown.add(line)
            mark = "expected" if event.expected else "finding"
            style = "cyan" if event.expected else "bold red"
            self._say(f"{mark} {event.bucket}: {event.difference}", style)

    def _say(self, line: str, style: str) -> None:
        text = Text(line, style=style)
        if self._moving.shown:
            self._console.print(text, overflow="ellipsis", no_wrap=True)
        else:
            self._console.print(text, soft_wrap=True)

    def _render(self) -> RenderableType:
        now = time.monotonic()
        spent = now - self._first_case if self._first_case is not None else 0.0
        grid = Table.grid(padding=(0, 2))
        if self._first_case is None:
            grid.add_row(f"{now - self._start:.0f} s of preparing", Text(self._phase))
        elif self._seconds is not None:
            so_far = f"{spent:.0f} of {self._seconds:.0f} s"
            grid = barred(spent, self._seconds, so_far, Text(self._phase))
        else:
            grid.add_row(f"{spent:.0f} s", Text(self._phase))
        every = list(self._findings.values())
        unexpected = len(by_cause(f for f in every if f.expected is None))
        expected = len(by_cause(every)) - unexpected
        rate = self._comparisons / spent if spent > 1 else 0.0
        facts = Text.assemble(
            (f"{self._cases:,}", "bold"),
            " cases   ",
            (f"{self._comparisons:,}", "bold"),
            f" comparisons ({rate:,.0f}/s)   ",
            (f"{unexpected}", "bold red" if unexpected else "bold green"),
            " findings   ",
            (f"{expected}", "bold cyan"),
            " expected",
        )
        rows: list[RenderableType] = [grid, facts]
        rows += self._cluster.rows()
        if self._read is not None:
            rows.append(Text(far(self._read, self._given)))
        if self._preparing is not None:
            ready, waiting = len(self._preparing.ready), len(self._preparing.waiting)
            line = Text(prepared(self._preparing), "dim", overflow="ellipsis")
            share = self._preparing.share
            done = barred(ready, ready + waiting, line) if share is None else barred(share, 1, line)
            rows.append(done)
        return Group(*rows)

    def stop(self) -> None:
        """Take the moving part off the terminal."""
        self._moving.stop()


def far(event: TextsRead, given: TextsGiven | None) -> str:
    """How far the user's texts are read for a vocabulary, in documents and bytes."""
    mib = event.bytes / 2**20
    whole = f" of {given.bytes / 2**20:,.1f} on disk" if given is not None and given.bytes else ""
    rate = f", {mib / event.seconds:,.1f} MiB/s" if event.seconds > 1 else ""
    documents = counted(event.documents, "document")
    return f"{event.vocabulary}: {documents}, {mib:,.1f} MiB{whole}{rate}"


def prepared(event: Preparing) -> str:
    """One line on what is compiled and built, and on who has not loaded a vocabulary yet."""
    compiling = {name: what for name, what in event.waiting.items() if what}
    all_of_them = len(event.ready) + len(event.waiting)
    line = ""
    if event.waiting:
        line = f"{event.vocabulary}: {len(event.ready)} of {all_of_them} implementations are ready"
        if compiling:
            name, what = next(iter(compiling.items()))
            line += f"; {name}: {what}"
        else:
            line += f"; loading {', '.join(event.waiting)}"
    if event.share is None:
        return line
    done = f"compiling and building what this run needs: {event.share:.0%} done"
    return f"{done}; {line}" if line else done


def promised(
    vocabularies: int, implementations: int, budget: str, checks: int, measured: int, seed: int
) -> str:
    """The first line of a run: what it will do, and for how long.

    Who runs a vocabulary is known when it is loaded, and told then (:func:`prepared`).
    """
    growth = f", growth on {measured} of them" if measured else ""
    them = "it" if vocabularies == 1 else "them"
    return (
        f"checking {counted(vocabularies, 'vocabulary', 'vocabularies')} with those of "
        f"{counted(implementations, 'implementation')} that run {them}, for {budget}{growth}: "
        f"{counted(checks, 'check')}, seed {seed}; loading comes first"
    )


def verdict_word(finished: Finished) -> tuple[str, str]:
    """The verdict in one word, and the style in which it is shown."""
    if not finished.complete:
        return "INCOMPLETE", "bold yellow"
    if finished.verdict == PASS:
        return "PASSED", "bold green"
    if finished.verdict == UNEXAMINED:
        return "NOT EXAMINED", "bold yellow"
    return "FAILED", "bold red"


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
        words = ", ".join(
            f"{known[status]} {word}" for status, word in WORDS.items() if known[status]
        )
        console.print(f"known differences: {words}", style="cyan")
    console.print(
        Text.assemble(
            verdict_word(finished),
            f"  {counted(finished.cases, 'case')}, "
            f"{counted(finished.comparisons, 'comparison')}{among(finished)}, {took(finished)}, "
            f"{counted(len(by_cause(unexpected)), 'unexpected finding')}",
        )
    )
    for reason in finished.reasons:
        # What follows the first line, such as a traceback, is in the report.
        first = reason.split("\n", 1)[0]
        console.print(Text(f"  {first}"), soft_wrap=True)
    for note in finished.notes:
        console.print(Text(f"  {note}", style="yellow"), soft_wrap=True)
    console.print(Text(f"  {report}", style="dim"), soft_wrap=True)


def among(finished: Finished) -> str:
    """How many implementations were compared: fewer than there are, as few run every vocabulary."""
    if not finished.compared:
        return ""
    return f" of {counted(finished.compared, 'implementation')}"


def took(finished: Finished) -> str:
    """How long a run took: from the first case on, and before."""
    if finished.prepared is None:
        return f"{finished.seconds:.0f} s"
    checked = finished.seconds - finished.prepared
    return f"{checked:.0f} s after {finished.prepared:.0f} s of preparing"


def tell(console: Console, findings: Sequence[Found]) -> None:
    """The first of some findings by cause, each with its clearest input and what differs there."""
    causes = list(by_cause(findings).values())
    for alike in causes[:LINES_SHOWN]:
        found = alike[0]
        more = "" if len(alike) == 1 else f"  ({len(alike)} inputs of this cause are in the report)"
        what = f"  on {found.vocabulary}: {shown(found)}{more}"
        console.print(Text.assemble((named(alike), "bold red"), what), soft_wrap=True)
        nobody = "nobody is blamed; " if found.undecided else ""
        seen = f"; seen in {found.place}" if found.place else ""
        console.print(Text(f"    {nobody}{found.difference}{seen}", style="dim"), soft_wrap=True)
    if len(causes) > LINES_SHOWN:
        console.print(f"and {len(causes) - LINES_SHOWN} more", style="dim")


def news(found: Found) -> tuple[str, str, bool]:
    """What is said once of all findings that share it: cause, vocabulary, whether expected."""
    return cause_of(found.bucket), found.vocabulary, found.expected is not None


def shown(found: Found) -> str:
    """An input as a Python literal, cut to a line."""
    import base64  # noqa: PLC0415

    data = base64.b64decode(found.input_b64)
    try:
        literal = ascii(data.decode())
    except UnicodeDecodeError:
        literal = repr(data)
    return literal if len(literal) <= 60 else f"{literal[:57]}..."
