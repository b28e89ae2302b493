"""``tokgate site``: a static site of all runs in a ledger."""

from __future__ import annotations

import datetime
from collections import defaultdict
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from harness.cli.display import Display
from harness.cli.records import trends
from harness.core.writing import writing
from harness.engine.selection import SelectionError
from harness.ledger.history import history, open_existing
from reports import write_site
from reports.site import data, pages
from reports.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.engine import Engine

Row = TypeVar("Row")


def command(
    ledger: Annotated[
        str,
        typer.Option(
            envvar="TOKGATE_LEDGER",
            metavar="DATABASE",
            help="The database with the runs: a SQLite file, or postgresql://..",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the site.")] = Path(
        "tokgate-site"
    ),
    url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="The address at which the site will be published, for its feed and badges.",
        ),
    ] = "",
    title: Annotated[str, typer.Option(help="The title of the site.")] = "tokgate",
) -> None:
    """Write a static website about all runs in a ledger.

    It has pages for libraries, vocabularies, defects and trends. The files need no server and no
    network. Files of earlier sites stay in the folder.
    """

    if url and not url.startswith(("https://", "http://")):
        raise SelectionError(f"--url {url!r}: not a web address: write https://..")
    known = history_of(open_existing(ledger))
    with writing(out):
        files, size = write_site(pages.render(known, title, url), out)
    console = Display(stderr=True)
    runs = plural(len(known.runs), "run")
    console.print(f"{runs}: {plural(files, 'file')}, {size / 1e6:.1f} MB")
    console.print(f"  {out / 'index.html'}", style="dim")


def history_of(engine: Engine) -> data.History:
    """The rows of a ledger as a site takes them. Raises LedgerError."""

    rows = history(engine)
    when = datetime.datetime.fromisoformat
    versions: dict[str, dict[str, str]] = defaultdict(dict)
    for one in rows.versions:
        versions[one.run][one.name] = one.version
    named = {"library": "implementation", "name": "vocabulary", "measurement": "id"}
    return data.History(
        runs=list(taken(
            data.RunRow, rows.runs,
            lambda run: {"when": when(run.started), "versions": versions[run.id]},
        )),
        vocabularies=list(taken(data.VocabularyRow, rows.vocabularies, **named)),
        tallies=list(taken(data.TallyRow, rows.tallies, **named)),
        findings=list(taken(data.FindingRow, rows.findings)),
        growth=list(taken(data.GrowthRow, rows.growth, **named)),
        speeds=list(taken(
            data.SpeedRow, rows.speeds, lambda one: {"when": when(one.started)}, **named
        )),
        details=list(taken(data.DetailRow, rows.details)),
        trends=trends(engine),
    )  # fmt: skip


def taken(
    kind: type[Row], rows: Iterable[Any], more: Any = lambda row: {}, **named: str
) -> Iterable[Row]:
    """Rows of the ledger as rows of a site.

    more: the fields of a row that are made otherwise. named: by a field, the ledger's name for it.
    """
    for row in rows:
        made = more(row)
        names = [one.name for one in fields(kind) if one.name not in made]  # type: ignore[arg-type]
        yield kind(**{name: getattr(row, named.get(name, name)) for name in names}, **made)
