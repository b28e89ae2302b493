"""One session of a campaign from its database to its reports."""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from corpora.vocabularies import scratch
from harness.core.countdown import Countdown
from harness.core.provenance import now
from harness.engine.ending import to_the_end
from harness.ledger.store import keep_run
from harness.studies.campaigns.session import Session
from harness.studies.fuzz import canary
from harness.studies.fuzz.examples import open_examples, share_findings
from harness.studies.fuzz.folder import CampaignFolder
from harness.studies.fuzz.plan import crossing
from harness.studies.fuzz.record import Ended, Record, record
from harness.studies.fuzz.state import State
from harness.studies.fuzz.target import Target
from harness.studies.preparation import prepare
from harness.verdict.coverage import Coverage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from harness.cluster.executor import Executor
    from harness.studies.campaigns.session import Shows
    from harness.studies.campaigns.state import Round
    from harness.studies.campaigns.store import CampaignStore
    from harness.studies.fuzz.plan import FuzzPlan


STILL_ON = "still running, or killed"
"""How a session has ended as long as it has not."""


def execute(
    plan: FuzzPlan,
    store: CampaignStore,
    out: Path,
    command: str,
    progress: Callable[[set[str], Sequence[State]], Shows],
    report: Callable[[Record], None],
    report_seconds: float,
    *,
    anew: bool = False,
    committed: Callable[[Round], None] = lambda done: None,
    clock: Callable[[], float] = time.monotonic,
    executor: Executor | None = None,
) -> Record:
    """Run a session; Ctrl-C or a fault gives a record that is not complete.

    progress: made of what was found before, and of the states that were committed. report: writes
    the reports, at the end and every so many seconds. committed: called with each round after its
    commit, one at a time. clock: of the budget. executor: performs the rounds elsewhere, and is
    closed. Raises SelectionError where the campaign is another or is taken, LedgerError,
    OutputError.
    """
    with store.held():
        # A session that only tells what was committed starts no worker, which would do this.
        scratch.sweep(scratch.system_folder())
        countdown = Countdown(plan.plan.budget.seconds, clock)
        began, known, name = now(), store.known(), uuid.uuid4().hex
        store.begin(plan.identity(), anew=anew)
        folder = CampaignFolder(out, store.mark, shared=plan.shards > 1)
        kept = store.targets(plan.targets, State)
        seen = progress(known, [one.state for one in kept.values()])

        def shared(done: Round) -> None:
            if plan.database and done.findings:
                load = plan.plan.vocabularies[plan.targets[done.target][0]]
                share_findings(load(), open_examples(plan.database), done.findings)
            committed(done)

        session = Session(
            plan, Target, store, executor, seen, countdown, kept, folder.place, shared,
            # Where cases are counted, what is asked must not depend on where a session was cut off.
            crossing(plan, kept) if countdown.seconds is not None else None,
            canary.watched if plan.canary else None,
        )  # fmt: skip

        def written(how: str | None, status: int) -> Record:
            ended = Ended(
                how, status, *canary.seen(plan, session.besides), session.cases,
                frozenset(session.least), countdown.late, session.cluster,
            )  # fmt: skip
            made = record(plan, store, folder.save_finding, command, known - session.gone, ended)
            folder.write(made.events, made.about)
            return made

        def keep(made: Record) -> None:
            coverage = Coverage.of(made.events)
            if coverage.started is not None:  # a run that began when the session did
                coverage.started = replace(coverage.started, time=began)
            keep_run(store.engine, coverage, out, store.name, name)

        # A session that is killed was a run, too: the ledger has it as it was last.
        keep(record(plan, store, folder.save_finding, command, known, Ended(STILL_ON)))
        next_report = time.monotonic() + report_seconds

        def each() -> None:
            nonlocal next_report
            if time.monotonic() > next_report:
                made = written(STILL_ON, 0)
                keep(made)
                report(made)
                next_report = time.monotonic() + report_seconds

        def work() -> None:
            if executor is None:
                prepare(plan.plan, seen.announce, threading.Event())
            if left := session.run(each):
                name, first = next(iter(store.targets(plan.targets, State).items()))
                first.state.left |= left
                store.commit([first.round(name)])

        try:
            ending = to_the_end(work)
        finally:
            seen.stop()
        made = written(ending.how, ending.status)
        folder.tidy(made.findings)
        keep(made)
        report(made)
        # Last of all: whoever is killed before this tells it again.
        store.tell([found.id for found in made.new])
        return made
