"""``tokgate field``: the conformance of the field."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from corpora.texts import benchmarks as texts
from harness.checks import CHECKS, MEASURES
from harness.cli.commands.common import (
    Impls,
    Inputs,
    Seed,
    Vocabs,
    command_line,
    name_missing,
    recorded,
    texts_of,
)
from harness.cli.conducting import conducted
from harness.cli.display import Display
from harness.cli.progress.run import Progress
from harness.cli.progress.steps import StepProgress
from harness.core.interruption import INTERRUPTED, TERMINATED, again, exit_status
from harness.core.writing import writing
from harness.engine import selection
from harness.engine.runner import execute
from harness.engine.selection import SelectionError
from harness.engine.suites import Budget, parse_budget
from harness.findings.folder import RunFolder
from harness.studies.bench.plan import BenchPlan
from harness.studies.bench.run import BenchStudy
from harness.studies.default import studies
from harness.studies.survey.plan import done, libraries, matches, plan_of, vocabularies
from reports import write_all, write_bench, write_field
from reports.bench import BenchRecord
from reports.field import Played, conformance

if TYPE_CHECKING:
    from rich.console import Console

    from corpora.texts.corpus import Corpus
    from harness.studies.survey.plan import Match
    from reports.bench import BenchRecord
    from reports.field import Played

EPILOG = """
The libraries: pip install 'tokgate\\[field]'. Exit status: 0 every match was played, whatever it
showed; 2 usage or input error; 3 no library is there; 130 interrupted (143 by
SIGTERM), run again to go on.
"""

BENCH_SIZE = 64 << 10

SPEED = "speed"
"""The folder with the record of how fast the libraries are."""


def field(
    vocab: Vocabs = None,
    impl: Impls = None,
    budget: Annotated[
        str, typer.Option(help="Of each match, a library on a vocabulary: 20s, 5m, or 2000cases.")
    ] = "20s",
    check: Annotated[
        list[str] | None, typer.Option(help="Only this check. May be repeated.")
    ] = None,
    seed: Seed = 0,
    texts: Inputs = None,
    bench: Annotated[bool, typer.Option(help="Measure speed, too.")] = True,
    out: Annotated[Path, typer.Option(help="Folder of all runs and of field.html.")] = Path(
        "tokgate-field"
    ),
) -> None:
    """Run every tokenizer of the field against the reference, and write who agrees on what.

    A match is one library and the reference on one vocabulary, a run like those of `tokgate run`,
    in a folder of its own with its report and reproducers. A match that is there is not played
    again.
    """

    try:
        amount = parse_budget(budget)
    except ValueError as error:
        raise SelectionError(f"--budget: {error}") from error
    # Forced tokens are no library's own.
    known = [name for name in [*CHECKS, *MEASURES] if name != "canonicality"]
    checks = selection.chosen("check", check or [], known)
    console = Display(stderr=True)
    present, missing = libraries(impl or [])
    name_missing(console, missing)
    if not present:
        raise typer.Exit(3)
    loaders = vocabularies(vocab or [], seed)
    planned = matches(present, loaders)
    runs = sum(match.refusal is None for match in planned)
    each = f"{amount.cases:,} cases" if amount.cases is not None else f"{amount.seconds:g} s"
    line = f"{runs} matches of {len(present)} libraries, {each} each from the first case on"
    console.print(Text(f"{line}, seed {seed}"), soft_wrap=True)
    corpus = texts_of(texts)
    played: list[Played] = []
    time = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    speed: BenchRecord | None = None

    def write(*, complete: bool) -> None:
        page = conformance(played, speed, time, command_line(), complete=complete)
        with writing(out):
            write_field(page, out)

    status = 0
    try:
        for number, match in enumerate(planned, start=1):
            console.print(
                Text(f"{number}/{len(planned)} {match.library.name} on {match.vocabulary.id}")
            )
            played.append(_play(match, checks, amount, seed, out, console, corpus))
            write(complete=False)
        if bench:
            speed = _bench(planned, seed, out, console)
    except KeyboardInterrupt as interrupt:
        status = exit_status(interrupt)
        console.print("interrupted: run again to go on")
    write(complete=not status)
    console.print(Text(f"  {out / 'field.html'}", style="dim"), soft_wrap=True)
    raise typer.Exit(status)


def _play(
    match: Match,
    checks: list[str],
    budget: object,
    seed: int,
    out: Path,
    console: Console,
    texts: Corpus | None,
) -> Played:
    """One match: its run, unless it is there, and its reports."""

    about = match.library.about
    assert isinstance(budget, Budget)
    record = None
    if match.refusal is None:
        folder = out / match.folder
        plan = plan_of(match, checks, budget, seed, "smoke", texts)
        if not done(folder, plan):
            progress = Progress(console, budget.seconds)
            try:
                result = execute(
                    plan, RunFolder(folder), [progress.consume], command_line(), studies
                )
            finally:
                progress.stop()
            with writing(folder):
                write_all(recorded(folder), folder)
            if result.finished.exit_status in {INTERRUPTED, TERMINATED}:
                raise again(result.finished.exit_status)
        record = recorded(folder)
    return Played(
        match.library.name, about.version, about.homepage, match.vocabulary.id,
        match.reference.name, match.folder, record, match.refusal or "",
    )  # fmt: skip


def _bench(planned: list[Match], seed: int, out: Path, console: Console) -> BenchRecord:
    """The speed of those that run the first vocabulary, as ``tokgate bench`` measures it."""

    first = planned[0]
    here = [m for m in planned if m.source == first.source and m.refusal is None]
    plan = BenchPlan(
        vocabularies={first.source: lambda: first.vocabulary},
        participants=[first.reference, *(match.library for match in here)],
        judges=[],
        texts=[texts.TEXTS["source"], texts.TEXTS["multilingual"]],
        sizes=[BENCH_SIZE],
        modes=["text"],
        cold=0,
        seed=seed,
        seconds=30.0,
    )
    record, progress = BenchRecord(), StepProgress(console)
    study = BenchStudy(plan, command_line(), progress.watch)
    finished = conducted(study, out / SPEED, progress, record.consume)
    with writing(out):
        write_bench(record, out)
    if finished.exit_status in {INTERRUPTED, TERMINATED}:
        raise again(finished.exit_status)
    return record
