"""What a person sees of a campaign: how it goes, and what is new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rich.console import Console

from harness.cli.progress.moving import Progress
from harness.events import Event, ImplementationFailed, Phase, Withdrawn
from harness.studies.fuzz.plan import spent
from harness.studies.fuzz.state import Round


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
        self._before: Mapping[str, int] = {}
        super().__init__(console, seconds, each_unit=False)

    def begin(self, cases: Mapping[str, int]) -> None:
        """Take note of how many cases each target had when the session began."""
        self._before = cases

    def announce(self, event: Event) -> None:
        """What a thread is busy with, which is too much for lines, or what happens on a cluster."""
        if isinstance(event, Phase):
            self._what = event.text
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
                if one.id not in self._known and one.minimal:
                    self._new.add(self.found(one, "new"))
            self.show(self, "", self.facts())

    def facts(self) -> str:
        """One line on how it goes."""
        rounds = self._targets.values()
        cases = sum(one.cases - self._before.get(one.target, 0) for one in rounds)
        corpus, shapes = sum(one.corpus for one in rounds), sum(one.shapes for one in rounds)
        return (
            f"{spent(self.spent)}   {cases:,} cases ({cases / max(1.0, self.spent):,.0f}/s)   "
            f"corpus {corpus:,}   {shapes:,} disagreements   {len(self._new):,} new findings"
        )
