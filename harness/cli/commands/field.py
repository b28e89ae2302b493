"""``tokgate field``: the conformance of the field."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.checks import CHECKS, MEASURES
from harness.cli.commands.common import (
    Cluster,
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
from harness.cli.progress.cluster import ClusterView
from harness.cli.progress.steps import StepProgress
from harness.cluster import opening
from harness.core.writing import writing
from harness.engine import selection
from harness.engine.selection import SelectionError
from harness.engine.suites import parse_budget
from harness.events import Finished, MatchPlayed, read_events
from harness.studies.survey import scattered
from harness.studies.survey.plan import libraries, matches, vocabularies
from harness.studies.survey.run import SPEED, SurveyPlan, SurveyStudy
from reports import bench_page, write, write_all
from reports import field as survey
from reports.bench import record_of
from reports.field import Played, conformance, verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.engine.planning import Plan
    from harness.events import Event

EPILOG = """
The libraries: pip install 'tokgate\\[field]'. Exit status: 0 every match was played, whatever it
showed; 2 usage or input error; 3 no library is there; 130 interrupted (143 by
SIGTERM), run again to go on.
"""


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
    cluster: Cluster = None,
) -> None:
    """Run every tokenizer of the field against the reference, and write who agrees on what.

    A match is one library and the reference on one vocabulary, a run like those of `tokgate run`,
    in a folder of its own with its report and reproducers. A match that is there is not played
    again.
    """

    if cluster is not None:
        opening.check(cluster)
        if texts:
            raise SelectionError(opening.TEXTS_STAY)
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
    plan = SurveyPlan(planned, checks, amount, seed, texts_of(texts), bench)
    page = Page(out, bench)
    progress = StepProgress(console, page.news)

    def reported(folder: Path) -> None:
        with writing(folder):
            write_all(recorded(folder), folder)

    view = ClusterView(each=True)

    def tell(event: Event) -> None:
        line = view.consume(event)
        if line is not None:
            console.print(Text(line), soft_wrap=True)

    def scatter(missing: Mapping[Path, Plan]) -> None:
        assert cluster is not None
        executor = opening.opened(cluster, 2)
        scattered.play(missing, executor, command_line(), tell, reported)

    study = SurveyStudy(
        plan, out, command_line(), progress.watch, reported, scatter if cluster else None
    )
    finished = conducted(study, out, progress, page.consume)
    console.print(Text(f"  {out / 'field.html'}", style="dim"), soft_wrap=True)
    raise typer.Exit(finished.exit_status)


class Page:
    """The page of a survey, written after each match. out: its folder. speed: is on it, too."""

    def __init__(self, out: Path, speed: bool) -> None:
        self._out = out
        self._speed = speed
        self._played: list[Played] = []
        self._time = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")

    def consume(self, event: Event) -> None:
        """Take note of a match, and write the page."""
        if isinstance(event, MatchPlayed):
            record = None if event.refusal else recorded(self._out / event.folder)
            self._played.append(
                Played(
                    event.library, event.version, event.homepage, event.vocabulary,
                    event.reference, event.folder, record, event.refusal,
                )
            )  # fmt: skip
            self._write(complete=False)
        elif isinstance(event, Finished):
            self._write(complete=event.complete)

    def news(self, event: Event) -> Text | None:
        """The line of a match that was played, of which note was taken before."""
        if not isinstance(event, MatchPlayed) or event.refusal:
            return None
        said = verdict(self._played[-1])
        why = f" ({said.detail})" if said.kind not in ("agrees", "by-design", "differs") else ""
        line = f"{event.library} on {event.vocabulary}: {event.cases:,} cases, {said.text}{why}"
        return Text(line, style="dim" if said.kind in ("agrees", "by-design") else "")

    def _write(self, *, complete: bool) -> None:
        speed = None
        if complete and self._speed and self._played:
            speed = record_of(read_events(self._out / SPEED / "run.jsonl"))
        page = conformance(self._played, speed, self._time, command_line(), complete=complete)
        with writing(self._out):
            write(survey.files(page), self._out)
            if speed is not None:
                write(bench_page.files(speed), self._out)
