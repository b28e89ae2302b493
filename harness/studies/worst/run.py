"""The study of the worst inputs: search, minimise, finals, in the time that is given."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from corpora.families import user
from harness.core import stored
from harness.core.countdown import Countdown
from harness.engine.costs import NotLoaded
from harness.events import Finished, Searched, SearchGathered
from harness.studies.worst.results import Report, as_families
from harness.studies.worst.session import SEARCHING, Gathered, at_work
from harness.studies.worst.units import gather
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from harness.cluster.executor import Executor
    from harness.engine.ending import Ending
    from harness.events import Event
    from harness.studies.worst.plan import WorstPlan
    from harness.studies.worst.session import Watcher


class WorstStudy:
    """The study: one step, which goes on with the state of the search that is in the folder.

    families: the file that what was found is added to, None for no file. opened: opens the executor
    that performs searches elsewhere, where several are wanted.
    """

    name = "worst"

    def __init__(
        self,
        plan: WorstPlan,
        folder: Path,
        command: str,
        watcher: Watcher,
        families: Path | None = None,
        opened: Callable[[], Executor] | None = None,
    ) -> None:
        self._plan = plan
        self._opened = opened
        self._searches, self._found = 0, dict[int, dict[str, Any]]()
        self._folder = folder
        self._watcher = watcher
        self._families = families
        self._report = Report(
            command=command,
            implementation=plan.participant.name,
            version=plan.participant.about.version,
            vocabulary=plan.vocabulary.id,
            seed=plan.seed,
            size=plan.sizes.full,
            withheld=sorted(plan.withheld),
        )

    def identity(self) -> dict[str, Any]:
        """What decides the search; the time that it is given does not."""
        scattered = {"cluster": True} if self._opened is not None else {}
        return self._plan.identity() | scattered

    def opening(self) -> Sequence[Event]:
        """Nothing: what decides the search is told with what it found."""
        return ()

    def kept(self, unfinished: Sequence[Event]) -> Sequence[SearchGathered]:
        """What searches elsewhere found; that of this machine has a state of its own on disk."""
        return [one for one in unfinished if isinstance(one, SearchGathered)]

    def plan(self, past: Sequence[Event]) -> Sequence[str]:
        """One step."""
        for one in self.kept(past):
            self._searches, self._found[one.number] = one.searches, one.found
        return ["search"]

    def step(self, name: str, tell: Callable[[Event], None]) -> None:
        """Search, or go on with it, and tell what was found.

        Raises ImplementationError where the implementation cannot be loaded, OutputError. Through
        KeyboardInterrupt nothing is lost: the state of the last whole generation is on disk, and
        what was found until then is told.
        """
        try:
            self._search(self._gathered(tell))
        except NotLoaded as error:
            raise ImplementationError(str(error)) from error
        except KeyboardInterrupt:
            tell(Searched(asdict(self._report)))
            raise
        if self._families is not None and user.add(self._families, as_families(self._report)):
            self._report.families = str(self._families)
        tell(Searched(asdict(self._report)))

    def _gathered(self, tell: Callable[[Event], None]) -> Gathered | None:
        """What searches elsewhere found, after having them performed; None without a cluster."""
        if self._opened is None:
            return None
        if self._searches == 0 or len(self._found) < self._searches:
            executor = self._opened()
            self._searches = self._searches or max(1, executor.slots)

            def take(event: Event) -> None:
                if isinstance(event, SearchGathered):
                    self._found[event.number] = event.found
                tell(event)

            try:
                share = self._plan.budget * SEARCHING
                gather(executor, self._plan, self._searches, self._found, share, take)
            finally:
                executor.close()
        found = [stored.typed(one, Gathered, "found") for _, one in sorted(self._found.items())]
        return sum(found, Gathered())

    def _search(self, gathered: Gathered | None = None) -> None:
        # What was searched elsewhere has taken its share.
        share = 1 if gathered is None else 1 - SEARCHING
        countdown = Countdown(self._plan.budget * share)
        with at_work(
            self._plan, self._folder, self._report, countdown, self._watcher, gathered
        ) as session:
            try:
                session.run()
            except KeyboardInterrupt:
                session.break_off()
                raise

    def close(self) -> None:
        """There is nothing to let go of: the worker ends with the search."""

    def fold(self, events: Sequence[Event], ending: Ending) -> Finished:
        """The end: there is no gate, whatever was found."""
        return Finished(
            complete=ending.complete,
            verdict="pass" if ending.complete else "fail",
            reasons=[] if ending.how is None else [ending.how],
            seconds=0.0,
            cases=sum(one.report["readings"] for one in events if isinstance(one, Searched)),
            comparisons=0,
            exit_status=ending.status,
        )
