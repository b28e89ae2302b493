"""What a person sees while a search for the worst input goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.events import Phase
from harness.studies.worst.candidates import Aim
from harness.studies.worst.sitting import SEARCHING, Watcher

if TYPE_CHECKING:
    from harness.cli.progress.steps import StepProgress
    from harness.studies.worst.search import Search

SHOWN = 60
"""Characters of an expression beside the figures."""


class WorstWatcher(Watcher):
    """Tells the display how far the search is, and the worst so far. budget: in seconds."""

    def __init__(self, progress: StepProgress, budget: float) -> None:
        self._progress = progress
        self._budget = budget
        self._worst = ""

    def prepared(self, seconds: float) -> None:
        """The implementation is loaded, and the budget begins to run."""
        self._progress.consume(Phase(f"prepared in {seconds:.0f} s"))

    def searching(self, search: Search, seconds: float) -> None:
        """The worst so far."""
        self._worst = best(search)
        self._progress.watch(min(seconds / self._budget, SEARCHING), counted(search), self._worst)

    def doing(self, what: str) -> None:
        """What follows the search."""
        self._progress.watch(SEARCHING, detail=self._worst)
        self._progress.consume(Phase(what))


def counted(search: Search) -> str:
    """How much was measured, and who died of it."""
    died = search.deaths.count
    deaths = f", {died} death{'' if died == 1 else 's'}" if died else ""
    return f"{search.progress.readings:,} inputs, {len(search.archive)} kinds{deaths}"


def best(search: Search) -> str:
    """The worst so far: nanoseconds a byte, times the control, exponent, and what it is."""
    leaders = search.leaders(Aim.COST)
    if not leaders:
        return "nothing yet"
    first, scale = leaders[0], search.scale
    cost = scale.score(first, Aim.COST)
    times = f", {cost / scale.control:.1f} x prose" if scale.control else ""
    growth = first.growth(scale.small, scale.large)
    exponent = f", exponent {growth:.2f}" if growth is not None else ""
    said = first.pattern.expression()
    said = said if len(said) <= SHOWN else said[: SHOWN - 1] + "…"
    return f"worst {cost:,.0f} ns/byte{times}{exponent}: {said}"
