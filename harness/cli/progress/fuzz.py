"""What a person sees of a campaign: how it goes, and what is new."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from harness.cli.progress.cluster import ClusterView, summary
from harness.cli.progress.moving import MovingPart, Seldom
from harness.cli.progress.numbers import counted
from harness.cli.progress.run import news, prepared, shown, tell, verdict_word
from harness.events import (
    ClusterUsed,
    Found,
    ImplementationFailed,
    Phase,
    Preparing,
    Withdrawn,
    by_cause,
)
from harness.studies.fuzz import estimate
from harness.studies.fuzz.estimate import Abundance
from harness.studies.fuzz.plan import spent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import RenderableType

    from harness.events import Event, ExpectationJudged
    from harness.studies.fuzz.record import Record
    from harness.studies.fuzz.state import Round

LINE_SECONDS = 60.0
"""Between two lines of a log that is no terminal."""

ARMS_SHOWN = 4

PREPARING = 0
"""In place of the thread that is busy: all of them are."""


class FuzzProgress:
    """Rates, discoveries and new findings; plain lines where there is no terminal.

    known: ids of findings from before: what is found again is not told. seconds: of the session,
    None where it is endless or ends by its cases. Called from several threads.
    """

    def __init__(self, console: Console, known: Mapping[str, str], seconds: float | None) -> None:
        self._console = console
        self._known = set(known)
        self._seconds = seconds
        self._start = time.monotonic()
        self._lock = threading.Lock()
        self._targets: dict[str, Round] = {}
        self._cases: dict[str, tuple[int, int]] = {}
        self._shown: set[str] = set()
        self._phases: dict[int, str] = {}
        self._cluster = ClusterView()
        self._log = Seldom(LINE_SECONDS)
        self._moving = MovingPart(console, self._render)

    def begin(self, cases: Mapping[str, int]) -> None:
        """The targets with the cases that they had when the session began."""
        self._cases = {name: (count, count) for name, count in cases.items()}

    def prepared(self, seconds: float) -> None:
        """The first vocabulary is loaded, and the budget begins to run."""
        self._console.print(Text(f"prepared in {spent(seconds)}", style="dim"))

    def announce(self, event: Event) -> None:
        """What a thread is busy with, or what happens on a cluster."""
        with self._lock:
            note = self._cluster.consume(event)
            if note is not None:
                self._console.print(Text(note, style="dim"), soft_wrap=True)
            if isinstance(event, Phase):
                self._phases[threading.get_ident()] = event.text
            elif isinstance(event, Preparing):
                self._prepare(event)

    def _prepare(self, event: Preparing) -> None:
        """What is compiled and built before the first round; in a log, a line now and then."""
        self._phases.pop(PREPARING, None)
        if event.share is None or event.share < 1:
            self._phases[PREPARING] = prepared(event)
            if not self._moving.shown and self._log.due():
                self._console.print(Text(prepared(event), style="dim"), soft_wrap=True)

    def publish(self, done: Round) -> None:
        """A round is committed: tell what is new in it."""
        with self._lock:
            before, _ = self._cases.get(done.target, (0, 0))
            self._cases[done.target] = (before, done.state.cases)
            self._targets[done.target] = done
            for event in done.events:
                if isinstance(event, ImplementationFailed):
                    line = event.message.split("\n", 1)[0]
                    self._say(f"{event.implementation} cannot run {event.vocabulary}: {line}")
                elif isinstance(event, Withdrawn):
                    line = event.message.split("\n", 1)[0]
                    self._say(f"{event.implementation} on {event.vocabulary}: {line}, for a while")
            for found in done.findings:
                self._tell(found)
            if not self._moving.shown and self._log.due():
                self._console.print(Text(self._facts()), soft_wrap=True)

    def _tell(self, found: Found) -> None:
        """One line for a finding, once, if it is new."""
        note = "\0".join(map(str, news(found)))
        if found.id in self._known or note in self._shown:
            return
        self._shown.add(note)
        mark, style = ("expected", "cyan") if found.expected else ("new", "bold red")
        line = Text.assemble((f"{mark:9}", style), f"{found.bucket}  on {found.vocabulary}: ")
        self._console.print(line + Text(shown(found)), soft_wrap=True)

    def _say(self, line: str) -> None:
        if line not in self._shown:
            self._shown.add(line)
            self._console.print(Text(line, style="yellow"), soft_wrap=True)

    def _facts(self) -> str:
        """One line on how it goes."""
        elapsed = time.monotonic() - self._start
        cases = sum(now - before for before, now in self._cases.values())
        rounds = self._targets.values()
        corpus = sum(one.first + len(one.joined) for one in rounds)
        shapes = sum(len(one.state.disagreements) for one in rounds)
        rate = cases / elapsed if elapsed else 0.0
        once = sum(n == 1 for one in rounds for n in one.state.counts.values())
        every = sum(one.state.cases for one in rounds)
        seen = Abundance(every, 0, once, 0)
        chance = estimate.chance(seen, rate * 3600) if every else 1.0
        return (
            f"{spent(elapsed)}   {cases:,} cases ({rate:,.0f}/s)   corpus {corpus:,}   "
            f"{shapes:,} disagreements   {len(self._shown)} new   "
            f"chance of a new finding within an hour {chance:.0%}"
        )

    def _render(self) -> RenderableType:
        with self._lock:
            grid = Table.grid(padding=(0, 2))
            for phase in list(self._phases.values()):
                grid.add_row(Text(phase, style="dim"))
            names: dict[str, float] = {}
            for one in self._targets.values():
                for arm in one.state.schedule:
                    rate = arm["gain"] / arm["spent"] if arm["spent"] else 0.0
                    names[arm["name"]] = max(rate, names.get(arm["name"], 0.0))
            best = sorted(names, key=lambda name: -names[name])[:ARMS_SHOWN]
            yields = ", ".join(f"{name} {names[name]:.1f}" for name in best)
            parts: list[RenderableType] = [grid, Text(self._facts())]
            parts += self._cluster.rows()
            if yields:
                parts.append(Text(f"yield a batch: {yields}", style="dim"))
            return Group(*parts)

    def stop(self) -> None:
        """Take the moving part off the terminal."""
        self._moving.stop()


def closing(console: Console, record: Record, report: str) -> None:
    """The last words of a session: what is new, what may be yet to come, where the report is."""
    fresh = [found for found in record.new if found.expected is None]
    ids = {found.id for found in record.new}
    known = len(by_cause(found for found in record.findings if found.id not in ids))
    tell(console, fresh)
    _expected(console, record.expectations)
    finished, about = record.finished, record.campaign
    expected = len(by_cause(found for found in record.new if found.expected is not None))
    also = f" ({expected} more are expected)" if expected else ""
    console.print(
        Text.assemble(
            verdict_word(finished),
            f"  {counted(finished.cases, 'case')}, "
            f"{counted(finished.comparisons, 'comparison')} in {spent(finished.seconds)}: "
            f"{len(by_cause(fresh))} new findings{also}, "
            f"{known} known before",
        )
    )
    for reason in finished.reasons:
        console.print(Text(f"  {reason}"), soft_wrap=True)
    for note in finished.notes:
        console.print(Text(f"  {note}", style="yellow"), soft_wrap=True)
    for event in record.events:
        if isinstance(event, ClusterUsed):
            console.print(Text(f"  {summary(event)}", style="dim"), soft_wrap=True)
    if not record.session_cases and finished.cases:
        line = "no round was finished in this session: all of it is from earlier ones"
        console.print(Text(f"  {line}"), soft_wrap=True)
    estimates = about["estimates"]
    outlook = (
        f"; an hour more would show a new finding with a chance of "
        f"{estimates['findings']['chance of a new one']:.0%}, and "
        f"{estimates['behaviours']['expected new ones']:.0f} new behaviours (Good-Turing)"
    )
    line = about["canary"]["said"] + (outlook if finished.cases else "")
    console.print(Text(f"  {line}"), soft_wrap=True)
    console.print(Text(f"  {report}", style="dim"), soft_wrap=True)


def _expected(console: Console, expectations: list[ExpectationJudged]) -> None:
    stale = [one.bucket for one in expectations if one.status in {"stale", "expired"}]
    if stale:
        console.print(Text(f"expectations to mend: {', '.join(stale)}", style="cyan"))
