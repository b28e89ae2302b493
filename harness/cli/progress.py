"""What a person sees while any command works: a moving part on a terminal, lines elsewhere."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from harness.cli.display import Display
from harness.cluster.usage import Usage
from harness.events import (
    ClusterUsed,
    Event,
    Found,
    ImplementationFailed,
    Measured,
    NodeJoined,
    NodeLeft,
    Phase,
    Preparing,
    TextsRead,
    UnitDone,
    UnitLost,
    UnitResumed,
    UnitStarted,
    Withdrawn,
    by_cause,
    cause_of,
)
from harness.verdict.coverage import Coverage
from reports.blocks.units import plural
from reports.cluster import sentences
from reports.texts import reading
from reports.words import smallest

if TYPE_CHECKING:
    from harness.studies.campaigns.state import Round

BAR_WIDTH = 30
"""The width of a bar in columns, so that there is room for words beside it on 80 columns."""

CHECKING = "checking "
"""How the phase begins in which a vocabulary, loaded by all, has its cases."""


class Progress:
    """The display of a command: what is worth a line is printed, and below that moves how it goes.

    On a terminal the moving part is a bar with what is being done, what was counted, and what is
    still being prepared or read; where there is none, such as in the log of CI, a line tells it now
    and then. A command that counts something of its own adds it to :meth:`facts`. Called from
    several threads. line: what the command is about to do. seconds: the budget, None where it is no
    time. each_unit: whether each unit that a cluster performed is worth a line.
    """

    every, rarer = 10.0, 0.1
    """Seconds between two lines of a log that say how it goes, and, as a log of a night is read in
    the morning, the share of the time so far that passes between them."""

    def __init__(
        self,
        line: str = "",
        seconds: float | None = None,
        *,
        each_unit: bool = True,
        console: Display | None = None,
    ) -> None:
        self.console = console or Display(stderr=True)
        self._seconds, self._each_unit = seconds, each_unit
        if line:
            self.console.print(line)
        self._lock = threading.RLock()
        self._began = self._logged = time.monotonic()
        self._running, self._what = False, "starting"
        self._share: float | None = None
        self._lines: dict[object, str] = {}
        self._said: set[object] = set()
        self._coverage, self._usage = Coverage(), Usage()
        self._live = Live(
            get_renderable=self._drawn, console=self.console, refresh_per_second=5, transient=True
        )
        if self.console.is_terminal:
            self._live.start()

    def watch(self, share: float, what: str = "", detail: str = "") -> None:
        """Take note of how much is done, from 0 to 1, and what is being done.

        what: empty where it is the same as before. detail: a line of its own, such as the worst
        input so far.
        """
        self._share, self._what = max(share, self._share or 0), what or self._what
        self.show(Progress, detail)

    def prepared(self, seconds: float) -> None:
        """All is loaded, which took so long, and the budget begins to run."""
        self._begin()
        self.chat(f"prepared in {seconds:.0f} s")

    def _begin(self) -> None:
        if not self._running:
            self._running, self._began, self._share = True, time.monotonic(), None

    def consume(self, event: Event) -> None:
        """Take note of an event; print what is worth a line."""
        with self._lock:
            self._usage.consume(event)
            self._coverage.consume(event)
            self._tell(event)
            self.log()

    def _tell(self, event: Event) -> None:
        match event:
            case Phase(text):
                self._what = text
                self.chat(text)
                if text.startswith(CHECKING):
                    self._begin()
                    self.show(Preparing, "")
            case Preparing():
                self._share = event.share
                if event.share is not None:
                    self._what = "preparing"
                ready = not event.waiting if event.share is None else event.share >= 1
                self.show(Preparing, preparing(event) if Display.verbose and not ready else "")
            case TextsRead():
                given = self._coverage.given
                far = reading(asdict(event), asdict(given) if given else {})
                self.show(TextsRead, "" if event.whole else far)
            case Found(minimal=True):
                self.found(event)
            case ImplementationFailed(name, vocabulary, message):
                head, *trace = message.splitlines() or [""]
                line = f"{name} cannot run {vocabulary}: {head}"
                self.say(line, "red", once=line)
                for one in trace:  # marked, so that it is taken for no line of ours
                    self.say(f"  | {one}")
            case Withdrawn():
                self.say(event.line, "yellow", once=event.line)
            case Measured(verdict="superlinear" | "failed" as verdict):
                # One line for each implementation and vocabulary; the report has all families.
                what = event.note if event.exponent is None else f"exponent {event.exponent:.2f}"
                where = f"{event.implementation} on {event.family} of {event.vocabulary}"
                cell = event.implementation, event.vocabulary, verdict
                self.say(f"growth {verdict}: {where}, {what}", "yellow", once=cell)
            case NodeJoined():
                self.say(f"node {event.node} joined: {plural(event.slots, 'unit')} at a time")
            case NodeLeft():
                how = "is excluded because it keeps failing" if event.excluded else "left"
                self.say(f"node {event.node} {how}: {event.reason}")
            case UnitStarted():
                self._begin()
            case UnitLost():
                self.say(f"{event.unit} is repeated: {event.node}: {event.reason}")
            case UnitDone() if self._each_unit:
                cases = plural(event.cases, "case")
                self.say(f"{event.unit}: {cases} in {event.seconds:.1f} s, on {event.node}")
            case UnitResumed():
                self.say(f"{event.unit} was done before, on {event.node}")
            case ClusterUsed():
                for line in sentences(event):
                    self.say(line)

    def found(self, event: Found, mark: str = "finding") -> object:
        """Print a finding that is minimal, once for its cause on a vocabulary.

        mark: what an unexpected one is called. Returns what stands for its cause.
        """
        expected = event.expected is not None
        cause = cause_of(event.bucket), event.vocabulary, expected
        line = f"{event.bucket} on {event.vocabulary}, input {smallest(event)}: {event.difference}"
        if expected:
            self.chat(f"expected {line}", "cyan", once=cause)
        else:
            self.say(f"{mark} {line}", "bold red", once=cause)
        return cause

    def say(self, line: str, style: str = "dim", once: object = None) -> None:
        """Print a line above the moving part. once: of lines with the same, only the first is."""
        with self._lock:
            if once is None or once not in self._said:
                self._said.add(once)
                self.console.print(line, style=style)

    def chat(self, line: str, style: str = "dim", once: object = None) -> None:
        """Print a line that only those want who asked for everything."""
        if Display.verbose:
            self.say(line, style, once)

    def show(self, about: object, line: str) -> None:
        """Show a line in place of the last one about the same; none where that is empty."""
        self._lines[about] = line
        self.log()

    def log(self) -> None:
        """Where nothing moves, print a line now and then that says how it goes."""
        now = time.monotonic()
        due = max(self.every, self.rarer * self.spent)
        if not self._live.is_started and now - self._logged > due:
            self._logged = now
            share, so_far = self.progress()
            done = "" if share is None else f"{min(share, 1.0):.0%}, "
            told = (f"{done}{so_far}: {self._what}", self.facts(), *self._lines.values())
            self.say("   ".join(filter(None, told)))

    def progress(self) -> tuple[float | None, str]:
        """How much is done, from 0 to 1, where that is known, and the time in words."""
        if not self._running or self._seconds is None:
            return self._share, f"{self.spent:.0f} s"
        late, whole = self.spent - self._seconds, f"{self._seconds:.0f} s"
        told = f"{late:.0f} s over {whole}" if late > 0 else f"{self.spent:.0f} of {whole}"
        return min(1.0, self.spent / self._seconds), told

    def facts(self) -> str:
        """What was counted so far, in a line; empty where nothing was."""
        seen = self._coverage
        if not seen.cases:
            return ""
        unexpected = len(by_cause(one for one in seen.findings.values() if one.expected is None))
        expected = len(by_cause(seen.findings.values())) - unexpected
        rate = seen.comparisons / max(1.0, self.spent)
        return (
            f"{plural(seen.cases, 'case')}   {plural(seen.comparisons, 'comparison')} "
            f"({rate:,.0f}/s)   {plural(unexpected, 'finding')}   {expected} expected"
        )

    @property
    def spent(self) -> float:
        """Seconds since the first case, or since the beginning where there is none yet."""
        return time.monotonic() - self._began

    def _drawn(self) -> RenderableType:
        """What moves: a bar, what is being done and was counted, and what a cluster does."""
        with self._lock:
            share, so_far = self.progress()
            bar = Table.grid(padding=(0, 2))
            done: list[RenderableType] = []
            if share is not None:
                done = [ProgressBar(1.0, share, BAR_WIDTH), f"{share:4.0%}"]
            bar.add_row(*done, so_far, self._what)
            lines = filter(None, (self.facts(), nodes(self._usage), *self._lines.values()))
            return Group(bar, *(Text(one, no_wrap=True, overflow="ellipsis") for one in lines))

    def stop(self) -> None:
        """Take the moving part off the terminal; again, it does nothing."""
        self._live.stop()


class CampaignProgress(Progress):
    """The display of a campaign, which tells of each round once it is committed.

    seconds: of the session, None where it is endless or ends by its cases. known: ids of findings
    from before: what is found again is not told; None where a campaign is not for findings.
    """

    every = 60.0

    def __init__(
        self, line: str, seconds: float | None, known: Iterable[str] | None = None
    ) -> None:
        self._known = None if known is None else {*known}
        self._new: set[object] = set()
        self._targets: dict[str, Round] = {}
        self._cases = 0
        super().__init__(line, seconds, each_unit=False)

    def announce(self, event: Event) -> None:
        """What a thread is busy with, which is too much for lines, or what happens on a cluster."""
        if isinstance(event, Phase):
            self._what = event.text
        else:
            self.consume(event)

    def publish(self, done: Round, cases: int) -> None:
        """A round of so many cases is committed: tell what is new in it, and the worst so far."""
        with self._lock:
            self._cases += cases
            self._targets[done.target] = done
            for event in map(Event.from_json, done.events):
                if isinstance(event, Phase):
                    self._lines[Phase] = event.text
                elif isinstance(event, ImplementationFailed | Withdrawn):
                    self.consume(event)
            for one in done.findings:
                if one.id not in (self._known or ()) and one.minimal:
                    self._new.add(self.found(one, "new"))
            self.log()

    def facts(self) -> str:
        """One line on how it goes; empty while nothing is asked yet."""
        if not self._running:
            return ""
        counts: Counter[str] = Counter()
        for one in self._targets.values():
            counts.update(one.facts)
        if self._known is not None:
            counts["new findings"] = len(self._new)
        rate = self._cases / max(1.0, self.spent)
        told = [f"{self._cases:,} cases ({rate:,.0f}/s)"]
        told += [f"{name} {count:,}" for name, count in counts.items()]
        return "   ".join(told)


def preparing(event: Preparing) -> str:
    """One line on what is compiled and built, and on who has not loaded a vocabulary yet."""
    parts = []
    if event.share is not None:
        parts.append(f"compiling and building what this run needs: {event.share:.0%} done")
    if event.waiting:
        count = len(event.ready) + len(event.waiting)
        parts.append(f"{event.vocabulary}: {len(event.ready)} of {count} implementations are ready")
        parts.append(f"loading {', '.join(event.waiting)}")
    return "; ".join(parts)


def nodes(usage: Usage) -> str:
    """A line on what is at work on a cluster; empty where there is none."""
    if not usage.used:
        return ""
    present = [one for one in usage.nodes.values() if not one.left]
    slots = sum(one.slots for one in present)
    done = sum(one.units for one in usage.nodes.values())
    return (
        f"{plural(len(present), 'node')}   {len(usage.underway)} of {plural(slots, 'slot')} busy"
        f"   {plural(done, 'unit')} done   {usage.lost.total()} repeated"
    )
