"""``tokgate worst``: the search for hostile inputs that nobody listed."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from corpora.families import user
from corpora.families.catalog import families as listed
from harness.cli.commands.common import (
    ONE_IMPL_HELP,
    ONE_VOCAB_HELP,
    Cluster,
    Seed,
    command_line,
)
from harness.cli.conducting import conducted
from harness.cli.display import Display
from harness.cli.progress.cluster import ClusterView, summary
from harness.cli.progress.steps import StepProgress
from harness.cli.progress.worst import WorstWatcher
from harness.cluster import opening
from harness.core.countdown import seconds_text
from harness.core.writing import writing
from harness.engine.selection import SelectionError
from harness.engine.suites import parse_budget
from harness.events import Searched
from harness.studies.bench.plan import parse_size
from harness.studies.worst import plan as plans
from harness.studies.worst.results import Report
from harness.studies.worst.run import WorstStudy
from reports import worst as tables
from reports import write
from reports.blocks import terminal
from reports.cluster import Cluster as Units

if TYPE_CHECKING:
    from harness.cluster.executor import Executor
    from harness.events import Event

EPILOG = """
A search goes on where it was left, after Ctrl-C as after a kill: run it again with the same options
(a longer --budget searches longer). It begins with the listed families and breeds from there; with
`--withhold all` it finds everything by itself, and is compared with them in the end. On a cluster
each slot searches by itself, with a seed of its own; what they find is measured again, minimised
and compared on this machine, as times of two machines are not.
Exit status: 0 searched to the end, whatever was found; 2 usage or input error; 3 the implementation
could not be started; 130 interrupted (143 by SIGTERM), with the search kept.
"""


def worst(
    impl: Annotated[list[str], typer.Option("--impl", "-i", help="One. " + ONE_IMPL_HELP)],
    vocab: Annotated[
        list[str] | None,
        typer.Option("--vocab", "-V", help="One (default: an embedded one). " + ONE_VOCAB_HELP),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            help="Time from the first measurement to the verdict: 90s, 5m, 8h (loading comes "
            "on top)."
        ),
    ] = "5m",
    size: Annotated[
        str, typer.Option(help="Bytes of input at which costs are compared: 64KB.")
    ] = "64KB",
    withhold: Annotated[
        list[str] | None,
        typer.Option(help="A family that the search is not told of, or: all. May be repeated."),
    ] = None,
    families: Annotated[
        Path | None,
        typer.Option(help="File that results are added to (default: your own families)."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep/--no-keep", help="Add the results to that file.")
    ] = True,
    grey: Annotated[
        bool | None,
        typer.Option("--grey/--black", help="Follow the source line by line (default: of ours)."),
    ] = None,
    most: Annotated[int, typer.Option("--results", min=1, max=20, help="So many results.")] = 5,
    seed: Seed = 0,
    memory: Annotated[
        float, typer.Option(min=0.1, help="GiB that the implementation may take.")
    ] = 4.0,
    out: Annotated[
        Path, typer.Option(help="Folder for worst.json, worst.html and the search itself.")
    ] = Path("tokgate-worst"),
    as_json: Annotated[bool, typer.Option("--json", help="Print worst.json, no table.")] = False,
    cluster: Cluster = None,
) -> None:
    """Search for inputs that cost an implementation the most, or bring it down.

    Patterns (prefix, pumps, suffix over tokens, characters, bytes) are bred towards the greatest
    cost a byte, growth and memory, then minimised, compared with the listed families in the same
    process, and added to your own families, which `tokgate run` measures from then on.
    """

    if cluster is not None:
        opening.check(cluster)
    try:
        seconds = parse_budget(budget).seconds
    except ValueError as error:
        raise SelectionError(f"--budget: {error}") from error
    if seconds is None:
        raise SelectionError(f"--budget {budget!r}: give a time, as 5m")
    bytes_ = parse_size(size)
    if not plans.LEAST_SIZE <= bytes_ <= plans.MOST_SIZE:
        raise SelectionError(f"--size {size!r}: give 4KB to 1MB")
    if not math.isfinite(memory):
        raise SelectionError("--memory: give a finite number")
    file = (families or user.default_path()) if keep else None
    participant = plans.participant_of(impl)
    vocabulary = plans.vocabulary_for(participant, vocab or [])
    if grey and not plans.can_be_guided(participant):
        raise SelectionError(f"--grey: {participant.name} is no algorithm of tokgate's own source")
    suiting, hidden = plans.chosen_families(listed().values(), vocabulary, withhold or [])
    plan = plans.WorstPlan(
        participant=participant,
        vocabulary=vocabulary,
        families=suiting,
        withheld=hidden,
        size=bytes_,
        budget=seconds,
        seed=seed,
        guided=plans.can_be_guided(participant) if grey is None else grey,
        memory=int(memory * 2**30),
        most=most,
    )
    console = Display(stderr=True)
    said = f"searching for the worst inputs of {participant.name} on {vocabulary.id}"
    console.print(Text(f"{said} {seconds_text(seconds)}, seed {seed}"), soft_wrap=True)
    view = ClusterView(each=True)

    def news(event: Event) -> Text | None:
        line = view.consume(event)
        return None if line is None else Text(line)

    def opened() -> Executor:
        assert cluster is not None
        return opening.opened(cluster, 1, plan.memory + opening.WORKER_BYTES)

    progress = StepProgress(console, news)
    found: list[Searched] = []

    units = Units()

    def take(event: Event) -> None:
        units.take(event)
        if isinstance(event, Searched):
            found.append(event)

    watcher = WorstWatcher(progress, seconds)
    study = WorstStudy(plan, out, command_line(), watcher, file, opened if cluster else None)
    finished = conducted(study, out, progress, take)
    for event in found:
        record = replace(tables.WorstRecord.of(event.report), cluster=units)
        text = Report(**event.report).to_json()
        with writing(out):
            write(tables.files(record, text), out)
        if as_json:
            print(text, end="")
        elif finished.complete:
            shown = Display()
            for part in terminal.render(tables.page(record).blocks):
                shown.print(part)
            if event.report["families"]:
                line = f"  added to {event.report['families']}: tokgate list families"
                console.print(Text(line, style="dim"), soft_wrap=True)
        if record.cluster.used is not None:
            console.print(Text(f"  {summary(record.cluster.used)}", style="dim"), soft_wrap=True)
        console.print(Text(f"  {out / 'worst.html'}", style="dim"), soft_wrap=True)
    raise typer.Exit(finished.exit_status)
