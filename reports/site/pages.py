"""The files of the site: every page rendered, with what they load and what others read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from corpora.plain_text import printable
from reports import trends
from reports.bench import shown_size, shown_speed
from reports.blocks.html import PLOT_SCRIPTS, PLOT_STYLES, environment, read_all
from reports.severity import SEVERITIES
from reports.site import feed
from reports.site.folding import STATES, fold
from reports.site.names import slug
from reports.site.speeds import speed_series, speed_tables
from reports.site.views import (
    card_of,
    counted,
    defect_views,
    disagreements,
    library_view,
    news,
    speed,
)
from reports.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from jinja2 import Environment

    from reports.site.data import History
    from reports.site.folding import Agreement, Project
    from reports.site.speeds import SpeedTable
    from reports.site.views import DefectView, LibraryView
    from reports.trends import Trend

_TEMPLATES = Path(__file__).parents[1] / "templates"

MAX_PAGES = 1_000
"""Defects with a page of their own: the live ones, and of the others the last seen."""
MAX_ROWS = 300
"""Defects in one table; a page says how many more there are."""
MAX_SCRIPTS = 5 << 20
"""Bytes of all reproducers together."""
MAX_NEWS = 12
"""Defects on the index that are new or fixed."""

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'"
)
"""A page loads the site's own style and script, and nothing of anybody else's."""

COLOURS = ((1.0, "brightgreen"), (0.999, "green"), (0.99, "yellow"), (0.9, "orange"))
"""The colours of badges, by the least share of agreement."""


@dataclass(frozen=True, slots=True, eq=False)
class _Site:
    """What every page draws on."""

    title: str
    url: str
    history: History
    project: Project
    views: Mapping[str, DefectView]
    libraries: Sequence[LibraryView]


def render(history: History, title: str = "tokgate", url: str = "") -> Iterator[tuple[str, str]]:
    """Every file by its path in the site, one after another.

    url: the address at which the site is published, for the feed and for badges.
    """
    project = fold(history)
    views = defect_views(project, MAX_PAGES)
    site = _Site(
        title=title,
        url=url if not url or url.endswith("/") else f"{url}/",
        history=history,
        project=project,
        views=views,
        libraries=[library_view(one, views) for one in project.libraries],
    )
    yield "assets/site.css", read_all(*PLOT_STYLES, "report.css", "site/site.css")
    yield "assets/site.js", read_all("report.js", *PLOT_SCRIPTS, "site/site.js")
    yield ".nojekyll", ""  # so that GitHub Pages serves the files as they are
    newest = news([*views.values()])
    yield "index.html", _page(site, "index", "", news=newest[:MAX_NEWS])
    yield "defects.html", _page(site, "defects", "", **_rows([*views.values()]))
    yield "trends.html", _page(site, "trends", "", trends=trends.sections(_series(site)))
    tables = speed_tables(history.speeds)
    measured = {line.library for table in tables for line in table.lines}
    yield "speed.html", _page(site, "speed", "", tables=tables, libraries=len(measured))
    yield "search.html", _page(site, "search", "", entries=_entries(site))
    yield from _libraries(site, tables)
    yield from _vocabularies(site)
    yield from _defects(site)
    yield from _badges(site)
    if project.latest is not None:
        yield "feed.xml", feed.render(title, site.url, newest, project.latest)


def _page(site: _Site, template: str, root: str, **more: Any) -> str:
    return (
        _environment()
        .get_template(f"site/{template}.html.j2")
        .render(
            site=site,
            project=site.project,
            root=root,
            policy=POLICY,
            severities=SEVERITIES,
            **more,
        )
    )


def _rows(views: Sequence[DefectView]) -> dict[str, Any]:
    return {"rows": views[:MAX_ROWS], "more": max(0, len(views) - MAX_ROWS)}


def _series(site: _Site) -> list[Trend]:
    series = [*disagreements(site.history).values(), *site.history.trends]
    counts = [one for one in series if one.unit == "findings"]
    return [*counts, *(one for one in series if one.unit != "findings")]


def _libraries(site: _Site, tables: Sequence[SpeedTable]) -> Iterator[tuple[str, str]]:
    fast = speed_series(site.history.speeds)
    wrong = disagreements(site.history)
    for view in site.libraries:
        library = view.library
        mine = [site.views[one.id] for one in library.defects]
        costs = [t for t in site.history.trends if t.name.startswith(f"{library.name} on ")]
        series = [*([wrong[library.name]] if library.name in wrong else []), *costs]
        series += fast.get(library.name, [])
        yield (
            f"libraries/{slug(library.name)}.html",
            _page(
                site,
                "library",
                "../",
                view=view,
                library=library,
                trends=trends.sections(series),
                speeds=[(table, line) for table in tables for line in table.of(library.name)],
                blamed=sum(one.blamed for one in library.live),
                **_rows(mine),
            ),
        )


def _vocabularies(site: _Site) -> Iterator[tuple[str, str]]:
    for one in site.project.vocabularies:
        mine = [site.views[defect.id] for defect in one.defects]
        page = _page(site, "vocabulary", "../", vocabulary=one, **_rows(mine))
        yield f"vocabularies/{slug(one.name)}.html", page


def _defects(site: _Site) -> Iterator[tuple[str, str]]:
    runs = {run.id: run for run in site.project.runs}
    sources = {(row.run, row.name): row.source for row in site.history.vocabularies}
    spent = 0
    for view in site.views.values():
        defect = view.defect
        if not view.page:
            continue
        script = None
        text = defect.detail.reproducer if defect.detail else None
        if text is not None and spent + len(text) <= MAX_SCRIPTS:
            spent += len(text)
            script = f"{defect.id}.py"
            yield f"defects/{script}", text
        run = runs.get(defect.detail.run) if defect.detail else None
        found = defect.detail.found if defect.detail else None
        source = sources.get((run.id, found.vocabulary), "") if run and found else ""
        card = card_of(defect, runs, script, source)
        page = _page(
            site, "defect", "../", view=view, defect=defect, c=card, run=run, source=source
        )
        yield f"defects/{defect.id}.html", page


def _badges(site: _Site) -> Iterator[tuple[str, str]]:
    for view in site.libraries:
        library = view.library
        folder = f"badges/{slug(library.name)}"
        yield f"{folder}.json", badge(library.name, library.overall)
        for vocabulary, one in library.agreement.items():
            yield f"{folder}/{slug(vocabulary)}.json", badge(vocabulary, one)


def badge(label: str, agreement: Agreement) -> str:
    """A badge as shields.io reads it from an endpoint: ``o200k: 100 % of 1.2 M cases``."""
    share = agreement.share
    cases = f"{counted(agreement.compared or agreement.cases)} cases"
    if agreement.trusted:  # the others are compared with it: 100 % would say nothing
        message, colour = f"reference in {cases}", "blue"
    elif share is None:
        message, colour = "not compared", "lightgrey"
    else:
        message = f"{agreement.shown} of {cases}"
        colour = next((name for least, name in COLOURS if share >= least), "red")
    badge = {
        "schemaVersion": 1,
        "label": printable(label),
        "message": message,
        "color": colour,
    }
    return json.dumps(badge) + "\n"


def _entries(site: _Site) -> str:
    """What the search looks through: kind, title, address and further words of each page."""
    entries: list[list[str]] = []
    for view in site.libraries:
        lib = view.library
        entries.append(["library", lib.name, f"libraries/{slug(lib.name)}.html", lib.version])
    for one in site.project.vocabularies:
        words = f"{one.row.format} {one.row.algorithm}" if one.row else ""
        entries.append(["vocabulary", one.name, f"vocabularies/{slug(one.name)}.html", words])
    for row in site.views.values():
        if row.page:
            defect = row.defect
            words = " ".join([*defect.ids[:20], defect.vocabulary, row.severity, defect.state])
            words += f" {listed(defect.libraries)} {defect.bucket}"
            entries.append(["defect", row.title, f"defects/{defect.id}.html", words])
    shown = [[printable(text) for text in entry] for entry in entries]
    # Inside an element of HTML nothing may look like its end.
    return json.dumps(shown).replace("<", "\\u003c").replace("&", "\\u0026")


@cache
def _environment() -> Environment:
    made = environment().overlay()
    made.filters = {
        **made.filters,
        "slug": slug,
        "speed": speed,
        "size": shown_size,
        "rate": shown_speed,
        "counted": counted,
        "day": lambda when: when.date().isoformat(),
        "states": lambda rows: [
            name for name in STATES if any(r.defect.state == name for r in rows)
        ],
    }
    return made
