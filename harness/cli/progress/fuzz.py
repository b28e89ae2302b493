"""What a person sees of a campaign: how it goes, and what is new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.console import Console

from harness.cli.progress.bar import Progress
from harness.events import Event, ImplementationFailed, Phase, Withdrawn
from harness.studies.campaigns.state import Round
from harness.studies.fuzz.plan import spent


class FuzzProgress(Progress):
    """Rates, discoveries and new findings.

    known: ids of findings from before: what is found again is not told. seconds: of the session,
    None where it is endless or ends by its cases.
    """

    every = 60.0

    def __init__(self, console: Console, known: Iterable[str], seconds: float | None) -> None:
        self._known = set(known)
        self._new: set[object] = set()
        self._targets: dict[str, Round] = {}
        self._cases = 0
        super().__init__(console, seconds, each_unit=False)

    def announce(self, event: Event) -> None:
        """What a thread is busy with, which is too much for lines, or what happens on a cluster."""
        if isinstance(event, Phase):
            self._what = event.text
        else:
            self.consume(event)

    def publish(self, done: Round, cases: int) -> None:
        """A round of so many cases is committed: tell what is new in it."""
        with self._lock:
            self._cases += cases
            self._targets[done.target] = done
            for event in map(Event.from_json, done.events):
                if isinstance(event, (ImplementationFailed, Withdrawn)):
                    self.consume(event)
            for one in done.findings:
                if one.id not in self._known and one.minimal:
                    self._new.add(self.found(one, "new"))
            self.show(self, "", self.facts())

    def facts(self) -> str:
        """One line on how it goes."""
        facts: Counter[str] = Counter()
        for one in self._targets.values():
            facts.update(one.facts)
        rate = self._cases / max(1.0, self.spent)
        return (
            f"{spent(self.spent)}   {self._cases:,} cases ({rate:,.0f}/s)   "
            f"corpus {facts['corpus']:,}   {facts['disagreements']:,} disagreements   "
            f"{len(self._new):,} new findings"
        )
