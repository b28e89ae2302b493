"""The study of the worst inputs: search, minimise, finals, in the time that is given."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from corpora.families import user
from harness.core.countdown import Countdown
from harness.core.output import writing
from harness.engine.costs import NotLoaded, loaded
from harness.engine.steps import SteppedStudy, ended
from harness.events import Finished, Searched
from harness.studies.campaigns.session import Session
from harness.studies.campaigns.store import CampaignStore
from harness.studies.worst.finals import finish, standing_out
from harness.studies.worst.gauge import SLOWEST, Gauge
from harness.studies.worst.results import Report, as_families
from harness.studies.worst.state import State
from harness.studies.worst.target import Target
from impls.errors import ImplementationError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from harness.cluster.executor import Executor
    from harness.engine.ending import Ending
    from harness.events import Event
    from harness.studies.campaigns.session import Shows
    from harness.studies.worst.plan import WorstPlan

SEARCHING = 0.7
"""Share of the budget, which runs from the first measurement on; the rest is for the finals, with
what the search does not use."""

DATABASE = "search.db"
"""Keeps the searches of a folder."""


@dataclass(slots=True)
class WorstStudy(SteppedStudy):
    """The study: one step, which goes on with the search that the folder has a database of.

    families: the file that what was found is added to, None for no file. opened: opens the executor
    that performs searches elsewhere, where several are wanted.
    """

    search: WorstPlan
    folder: Path
    command: str
    shows: Shows
    families: Path | None = None
    opened: Callable[[], Executor] | None = None
    name: ClassVar[str] = "worst"

    def identity(self) -> dict[str, Any]:
        """What decides the search; the time that it is given does not."""
        scattered = {"cluster": True} if self.opened is not None else {}
        return self.search.identity() | scattered

    def plan(self, past: Sequence[Event]) -> Sequence[str]:
        """One step."""
        return ["search"]

    def step(self, name: str, tell: Callable[[Event], None]) -> None:
        """Search, or go on with it, and tell what was found.

        Raises ImplementationError where the implementation cannot be loaded, OutputError. Through
        KeyboardInterrupt nothing is lost: every whole generation is in the database, and what was
        found until then is told.
        """
        report = Report.of(self.search, self.command)
        try:
            self._search(report, tell)
        except NotLoaded as error:
            raise ImplementationError(str(error)) from error
        except KeyboardInterrupt:
            tell(Searched(asdict(report)))
            raise
        if self.families is not None and user.add(self.families, as_families(report)):
            report.families = str(self.families)
        tell(Searched(asdict(report)))

    def _search(self, report: Report, tell: Callable[[Event], None]) -> None:
        plan, identity = self.search, self.identity()
        executor = self.opened() if self.opened is not None else None
        if executor is not None:
            plan = replace(plan, shards=max(1, executor.slots))
        with writing(f"--out {self.folder}"):
            self.folder.mkdir(parents=True, exist_ok=True)
        store = store_of(self.folder, identity)
        rest = Countdown(plan.budget)
        with store.held():
            store.begin(identity, anew=False)
            searched = Countdown(plan.budget * SEARCHING - store.row.seconds / plan.shards)
            try:
                kept = store.targets(plan.targets, State)
                session = Session(plan, Target, store, executor, self.shows, searched, kept)
                report.left = "".join(session.run().values())
                if session.cluster is not None:
                    tell(session.cluster)
                with loaded(plan.participant, plan.vocabulary, plan.plan.limits) as on:
                    rest = Countdown(plan.budget - searched.spent).start()
                    # One that goes on longer than any is planned to is not waited for: who is
                    # killed in the middle of a request is not asked what it leaves behind.
                    on.pool.limit_by(lambda: rest.left + SLOWEST / 1e9)
                    states = sum_up(report, plan, store)
                    finish(report, Gauge(on, rest), plan, states, rest, self.shows.announce)
                report.left = on.pool.left().get(report.implementation, report.left)
                report.complete = True
            except KeyboardInterrupt:
                report.break_off(standing_out(sum_up(report, plan, store), plan.sizes, plan.most))
                raise
            finally:
                report.prepared, report.spent = searched.prepared, searched.spent + rest.spent

    def fold(self, events: Sequence[Event], ending: Ending) -> Finished:
        """The end: there is no gate, whatever was found."""
        readings = (one.report["readings"] for one in events if isinstance(one, Searched))
        return ended(ending, sum(readings))


def store_of(folder: Path, identity: dict[str, Any]) -> CampaignStore:
    """The database of a folder, opened for a search; each has a name of its own there.

    Raises LedgerError.
    """
    path = str(folder / DATABASE)
    digest = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:16]
    return CampaignStore(path, digest, at=path, other="another --out", anew="remove it")


def sum_up(report: Report, plan: WorstPlan, store: CampaignStore) -> list[State]:
    """What all searches have come to, and how far they got, into a report."""
    states = [one.state for one in store.targets(plan.targets, State).values()]
    report.seconds = store.row.seconds
    report.sum_up(states, guided=plan.guided)
    return states
