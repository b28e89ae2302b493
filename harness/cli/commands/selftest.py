"""``tokgate selftest``: what the checks and generators catch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.cli.commands.common import Cluster, Seed, command_line
from harness.cli.conducting import conducted
from harness.cli.display import Display
from harness.cli.progress.cluster import ClusterView, summary
from harness.cli.progress.selftest import Caught, escaped
from harness.cli.progress.steps import StepProgress
from harness.cluster import opening
from harness.core.countdown import seconds_text
from harness.core.writing import writing
from harness.studies.selftest import scattered
from harness.studies.selftest.run import Selftest, make_plan
from reports import selftest as told
from reports import write
from reports.blocks import terminal

if TYPE_CHECKING:
    from harness.cluster.executor import Executor
    from harness.events import Event

EPILOG = """
A mistake by itself: tokgate run --impl harness.studies.selftest.mutants.merging:RightmostTie --impl
tiktoken --vocab toy_runs. Exit status: 0 every mistake is caught under its name, and nothing is
found of what is right; 1 not so; 2 usage or input error; 3 it broke off; 130 interrupted (143
by SIGTERM), what was hunted till then is written, and the same command goes on from there.
"""


def selftest(
    budget: Annotated[
        str | None,
        typer.Option(help="Time from the first case on: 5m, 90s (default: of suite ci)."),
    ] = None,
    mutant: Annotated[
        list[str] | None,
        typer.Option("--mutant", "-m", help="A family, or names (merging.*). May be repeated."),
    ] = None,
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option(min=0, help="Campaigns side by side; 0: by the cores.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for reports and run.jsonl, the record.")] = Path(
        "tokgate-selftest"
    ),
    as_json: Annotated[
        bool, typer.Option("--json", help="Print selftest.json, no tables.")
    ] = False,
    cluster: Cluster = None,
) -> None:
    """Measure detection: plant mistakes, and see which checks and generators catch them.

    Over a hundred implementations with one thing wrong each are run against the references, as
    candidates of campaigns with the settings of the suite ci. The report says for each generator
    and check which mistakes it catches and how fast, and names what escapes.
    """

    if cluster is not None:
        opening.check(cluster)
    plan = make_plan(mutant or [], budget, seed, jobs, command_line())
    console = Display(stderr=True)
    count = len(plan.mistakes)
    what = f"hunting {count} planted mistake{'' if count == 1 else 's'}"
    console.print(Text(f"{what} {seconds_text(plan.seconds)}, seed {seed}"), soft_wrap=True)
    record = told.SelftestRecord()
    view = ClusterView(each=True)

    def news(event: Event) -> Text | None:
        line = view.consume(event)
        return escaped(event) if line is None else Text(line)

    def opened() -> Executor:
        assert cluster is not None
        # As on one machine, where each core has a hunt: its workers wait for one another.
        memory = scattered.workers(plan.mistakes) * opening.WORKER_BYTES
        return opening.opened(cluster, 1, memory)

    progress = StepProgress(console, news)
    caught = Caught(progress, count)
    study = Selftest(plan, opened=opened if cluster else None)
    finished = conducted(study, out, progress, record.consume, caught.consume)
    with writing(out):
        write(told.files(record), out)
    if as_json:
        print(record.to_json())
    else:
        shown = Display()
        for part in terminal.render(told.page(record).blocks):
            shown.print(part)
    if record.cluster.used is not None:
        console.print(Text(f"  {summary(record.cluster.used)}", style="dim"), soft_wrap=True)
    console.print(Text(f"  {out / 'selftest.html'}", style="dim"), soft_wrap=True)
    raise typer.Exit(finished.exit_status)
