"""The study of the worst inputs: search, minimise, finals, in the time that is given."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from corpora.families import user
from harness.core import stored
from harness.core.countdown import Countdown
from harness.engine.costs import NotLoaded
from harness.engine.steps import ended
from harness.events import Finished, Searched, SearchGathered
from harness.studies.worst.results import Report, as_families
from harness.studies.worst.session import SEARCHING, at_work
from harness.studies.worst.state import State
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


@dataclass(slots=True)
class WorstStudy:
    """The study: one step, which goes on with the state of the search that is in the folder.

    families: the file that what was found is added to, None for no file. opened: opens the executor
    that performs searches elsewhere, where several are wanted. gathered: what they came to.
    """

    search: WorstPlan
    folder: Path
    command: str
    watcher: Watcher
    families: Path | None = None
    opened: Callable[[], Executor] | None = None
    gathered: dict[int, SearchGathered] = field(default_factory=dict)
    name: ClassVar[str] = "worst"

    def identity(self) -> dict[str, Any]:
        """What decides the search; the time that it is given does not."""
        scattered = {"cluster": True} if self.opened is not None else {}
        return self.search.identity() | scattered

    def opening(self) -> Sequence[Event]:
        """Nothing: what decides the search is told with what it found."""
        return ()

    def kept(self, unfinished: Sequence[Event]) -> Sequence[SearchGathered]:
        """What searches elsewhere found; that of this machine has a state of its own on disk."""
        return [one for one in unfinished if isinstance(one, SearchGathered)]

    def plan(self, past: Sequence[Event]) -> Sequence[str]:
        """One step."""
        self.gathered = {one.number: one for one in self.kept(past)}
        return ["search"]

    def step(self, name: str, tell: Callable[[Event], None]) -> None:
        """Search, or go on with it, and tell what was found.

        Raises ImplementationError where the implementation cannot be loaded, OutputError. Through
        KeyboardInterrupt nothing is lost: the state of the last whole generation is on disk, and
        what was found until then is told.
        """
        plan, report = self.search, Report.of(self.search, self.command)
        try:
            if self.opened is not None:
                gather(self.opened, plan, self.gathered, tell)
            done = [one.found for _, one in sorted(self.gathered.items())]
            found = [stored.typed(one, State, "found") for one in done]
            # What was searched elsewhere has taken its share.
            countdown = Countdown(plan.budget * (1 - SEARCHING if found else 1))
            folder = None if found else self.folder
            with at_work(plan, folder, report, countdown, self.watcher, found) as session:
                session.run()
        except NotLoaded as error:
            raise ImplementationError(str(error)) from error
        except KeyboardInterrupt:
            tell(Searched(asdict(report)))
            raise
        if self.families is not None and user.add(self.families, as_families(report)):
            report.families = str(self.families)
        tell(Searched(asdict(report)))

    def close(self) -> None:
        """There is nothing to let go of: the worker ends with the search."""

    def fold(self, events: Sequence[Event], ending: Ending) -> Finished:
        """The end: there is no gate, whatever was found."""
        readings = (one.report["readings"] for one in events if isinstance(one, Searched))
        return ended(ending, sum(readings))
