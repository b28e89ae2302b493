"""``tokgate site``: a static site of all runs in a ledger."""

from __future__ import annotations

import datetime
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.cli.display import Display
from harness.core.writing import writing
from harness.engine.selection import SelectionError
from harness.ledger import trends
from harness.ledger.history import history, open_existing
from reports import write
from reports.site import data, pages
from reports.trends import Trend
from reports.words import plural

if TYPE_CHECKING:
    from sqlalchemy.engine import Engine

    from reports.site.data import History


def site(
    ledger: Annotated[
        str,
        typer.Option(
            envvar="TOKGATE_LEDGER",
            help="The database that runs were kept in: a SQLite file, or postgresql://..",
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder that receives the site.")] = Path(
        "tokgate-site"
    ),
    url: Annotated[
        str,
        typer.Option(help="Where the site will be, https://..: for its feed and badges."),
    ] = "",
    title: Annotated[str, typer.Option(help="What the site is called.")] = "tokgate",
) -> None:
    """Write a static site of all runs in a ledger: libraries, vocabularies, defects, trends.

    The files need no server and no network. What runs no longer have is left in the folder.
    """

    if url and not url.startswith(("https://", "http://")):
        raise SelectionError(f"--url {url!r}: no address; write https://..")
    known = history_of(open_existing(ledger))
    with writing(out):
        files, size = write(pages.render(known, title, url), out)
    summary = f"{plural(len(known.runs), 'run')}: {plural(files, 'file')}, {size / 1e6:.1f} MB"
    console = Display(stderr=True)
    console.print(Text(summary), soft_wrap=True)
    console.print(Text(f"  {out / 'index.html'}", style="dim"), soft_wrap=True)


def history_of(engine: Engine) -> History:
    """The rows of a ledger as a site takes them. Raises LedgerError."""

    rows = history(engine)
    versions: dict[str, dict[str, str]] = defaultdict(dict)
    for version in rows.versions:
        versions[version.run][version.name] = version.version
    return data.History(
        runs=[
            data.RunRow(
                id=run.id,
                when=datetime.datetime.fromisoformat(run.started),
                suite=run.suite,
                budget=run.budget,
                seed=run.seed,
                campaign=run.campaign,
                complete=run.complete,
                verdict=run.verdict,
                cases=run.cases,
                comparisons=run.comparisons,
                versions=versions[run.id],
            )
            for run in rows.runs
        ],
        vocabularies=[
            data.VocabularyRow(
                row.run, row.vocabulary, row.source, row.format, row.algorithm, row.tokens,
                row.fingerprint,
            )
            for row in rows.vocabularies
        ],
        tallies=[
            data.TallyRow(
                row.run, row.implementation, row.vocabulary, row.cases, row.compared, row.wrong,
                row.deaths, row.trusted, row.checks, row.generators,
            )
            for row in rows.tallies
        ],
        findings=[
            data.FindingRow(
                row.run, row.id, row.bucket, row.vocabulary, row.culprits, row.expected, row.count
            )
            for row in rows.findings
        ],
        growth=[
            data.GrowthRow(
                row.run, row.implementation, row.vocabulary, row.family, row.verdict,
                row.exponent, row.low, row.high, row.bytes, row.seconds,
            )
            for row in rows.growth
        ],
        speeds=[
            data.SpeedRow(
                row.id, datetime.datetime.fromisoformat(row.started), row.cpu, row.implementation,
                row.version, row.row, row.vocabulary, row.mode, row.text, row.size, row.kind,
                row.answer, row.rounds, row.best, row.median, row.slowest,
            )
            for row in rows.speeds
        ],
        details=[data.DetailRow(one.run, one.found, one.reproducer) for one in rows.details],
        trends=[
            Trend(one.name, one.unit, one.points)
            for one in [*trends.findings(engine), *trends.worst(engine)]
        ],
    )  # fmt: skip
