"""``tokgate field``: the conformance of the field."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from harness.checks import DEFAULT, MEASURES
from harness.cli import options
from harness.cli.progress import Progress
from harness.cli.records import recorded, reported
from harness.cli.study_command import conducted
from harness.cluster import addresses
from harness.core.output import writing
from harness.core.provenance import now
from harness.engine import selection
from harness.engine.plan import Plan
from harness.events import Event, MatchPlayed, read_events
from harness.studies.survey import cluster as matches_on_cluster
from harness.studies.survey.plan import libraries, matches, vocabularies
from harness.studies.survey.run import SPEED, SurveyPlan, SurveyStudy
from reports import bench as speeds
from reports import field as survey
from reports import write
from reports.field import document, verdict
from reports.studies import files

if TYPE_CHECKING:
    from reports.field import Played

EPILOG = """
To install the libraries: pip install 'tokgate[field]'

\b
Exit status:
  0    every match was run; differences do not change the status
  2    usage or input error
  3    no library is installed
  130  interrupted (143 by SIGTERM): the same command continues
"""

QUIET = ("agrees", "by-design")
"""Verdicts on a match that are no news."""


def command(
    vocab: options.Vocabs = [],
    impl: options.Impls = [],
    budget: options.Amount = "20s",
    check: options.Checks = [],
    seed: options.Seed = 0,
    texts: options.Inputs = [],
    bench: Annotated[bool, options.option("Also measure speed.")] = True,
    out: options.Out = Path("tokgate-field"),
    cluster: options.Cluster = None,
) -> int:
    """Compare all known tokenizer libraries with the reference.

    The report says who agrees on what. A match is one library and the reference on one vocabulary:
    a run like those of `tokgate run`, in a folder of its own with its report and reproducers; the
    --budget is that of each match. A match that is already there is not run again.
    """

    options.check_cluster(cluster, texts)
    amount = options.budget_of(budget)
    # Forced tokens are no library's own.
    known = [name for name in [*DEFAULT, *MEASURES] if name != "canonicality"]
    checks = selection.chosen("check", check, known)
    present, missing = libraries(impl)
    options.name_missing(missing)
    if not present:
        return 3
    planned = matches(present, vocabularies(vocab, seed))
    runs = sum(match.refusal is None for match in planned)
    line = f"{runs} matches of {len(present)} libraries, each {amount.words} from the first case on"
    plan = SurveyPlan(planned, checks, amount, seed, options.texts_of(texts), bench)
    progress = Progress(f"{line}, seed {seed}")
    played: list[Played] = []

    def told(event: Event) -> None:
        """Tell a match that was played."""
        if isinstance(event, MatchPlayed):
            record = None if event.refusal else recorded(out / event.folder)
            played.append((event, record))
            if record is not None:
                said = verdict(event, record)
                kind, where = said["kind"], f"{event.library} on {event.vocabulary}"
                why = "" if kind in (*QUIET, "differs") else f" ({said['detail']})"
                news = f"{where}: {event.cases:,} cases, {said['text']}{why}"
                progress.say(news, "dim" if kind in QUIET else "")

    line = options.command_line()

    def scatter(missing: Mapping[Path, Plan]) -> None:
        assert cluster is not None
        executor = addresses.opened(cluster, 2)
        matches_on_cluster.play(missing, executor, line, progress.consume, reported)

    study = SurveyStudy(plan, out, line, progress.watch, reported, scatter if cluster else None)
    finished, _ = conducted(study, out, progress, told)
    measured: list[Event] = []
    if finished.complete and bench and played:
        measured = list(read_events(out / SPEED / "run.jsonl"))
    page = document(played, now(), line, complete=finished.complete, speed=bool(measured))
    with writing(out):
        write(survey.files(page), out)
        if measured:
            write(files("bench", speeds.to_json(measured), speeds.page(measured)), out)
    progress.say(f"  {out / 'field.html'}")
    return finished.exit_status
