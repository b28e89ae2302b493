"""``tokgate selftest``: what the checks and generators catch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated

from harness.cli import options
from harness.cli.progress import Progress
from harness.cli.study_command import conducted, show
from harness.cluster import addresses
from harness.core.countdown import seconds_text
from harness.events import Event
from harness.studies.selftest import hunts
from harness.studies.selftest.events import MistakeJudged
from harness.studies.selftest.run import Selftest, make_plan
from reports import selftest as told
from reports.blocks.units import plural

EPILOG = """
To test a mistake by itself: tokgate run --impl
harness.studies.selftest.catalog:merging.rightmost-tie --impl tiktoken --vocab toy_runs

\b
Exit status:
  0    every mistake is found under its name, and correct implementations have
       no findings
  1    a mistake was missed or misnamed, or a correct implementation has
       findings
  2    usage or input error
  3    internal error
  130  interrupted (143 by SIGTERM): what was found is written, and the same
       command continues
"""


def command(
    budget: Annotated[
        str | None,
        options.option(
            "Time from the first case on, such as 90s or 5m.",
            "TIME",
            show_default="that of --suite ci",
        ),
    ] = None,
    mutant: Annotated[
        list[str],
        options.option(
            "A family of mistakes, or a name pattern (merging.*). May be repeated.",
            "NAME",
            "--mutant",
            "-m",
        ),
    ] = [],
    seed: options.Seed = 0,
    jobs: Annotated[
        int,
        options.option(
            "Groups of mistakes tested in parallel (0: as many as CPU cores allow).", "N", min=0
        ),
    ] = 0,
    out: options.Out = Path("tokgate-selftest"),
    as_json: options.AsJson = False,
    cluster: options.Cluster = None,
) -> int:
    """Plant mistakes, and see which checks and generators find them.

    Over a hundred implementations with one mistake each are compared with the references, with the
    settings of `tokgate run --suite ci`. The report says for each generator and
    check which mistakes it finds and how fast, and names those that nothing finds.
    """

    options.check_cluster(cluster)
    plan = make_plan(mutant, budget, seed, jobs, options.command_line())
    mistakes = plural(len(plan.mistakes), "planted mistake")
    progress = Progress(f"searching for {mistakes} {seconds_text(plan.seconds)}, seed {seed}")
    # As on one machine, where each core has a hunt: its workers wait for one another.
    memory = hunts.workers(plan.mistakes) * addresses.WORKER_BYTES
    opened = partial(addresses.opened, cluster, 1, memory) if cluster else None
    study = Selftest(plan, opened=opened)
    told_one = judged(progress, len(plan.mistakes))
    finished, events = conducted(study, out, progress, told_one)
    show("selftest", told.to_json(events), told.page(events), out, as_json=as_json)
    return finished.exit_status


def judged(progress: Progress, mistakes: int) -> Callable[[Event], None]:
    """Who counts mistakes as they are judged, of so many, and names those that nothing found."""
    found: list[bool] = []

    def consume(event: Event) -> None:
        if isinstance(event, MistakeJudged) and event.check:
            found.append(event.rightly)
            if not event.rightly:
                how = "found under another name" if event.caught else "not found"
                progress.say(f"{how}: {event.name}", "yellow")
            said = f"{sum(found)} found, {len(found)} judged of {mistakes}"
            progress.watch(len(found) / mistakes, detail=said)

    return consume
