"""The files of the site: every page rendered, with what they load and what others read."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from harness.ledger.trends import Trend
from reports import standings, trends
from reports.blocks import Banner, Block, Cell, Facts, Inline, Span
from reports.blocks.html import PLOT_SCRIPTS, PLOT_STYLES, read_all
from reports.blocks.units import count, duration, interval, plural
from reports.site import feeds, speeds
from reports.site.defects import (
    all_defects,
    defect_pages,
    defect_table,
    news,
    news_section,
    severity_order,
)
from reports.site.project import FIXED, Asked, Project, day, live, totals
from reports.site.shared import Site, Told, address, facts, judged, link, listing
from reports.studies import grouped

if TYPE_CHECKING:  # SQLAlchemy is slow
    from harness.ledger.history import History
    from harness.ledger.models import RunGrowth

PER = 1_000_000


def render(
    history: History, series: Sequence[Trend] = (), title: str = "tokgate", url: str = ""
) -> Iterator[tuple[str, str]]:
    """Every file by its path in the site, one after another.

    series: of all runs, for trends. url: the address at which the site is published, for the feed
    and for badges.
    """
    site = Site(history, title, url)
    project = site.project
    yield "assets/site.css", read_all(*PLOT_STYLES, "report.css", "site/site.css")
    yield "assets/site.js", read_all("report.js", *PLOT_SCRIPTS, "site/site.js")
    yield ".nojekyll", ""  # so that GitHub Pages serves the files as they are
    newest, libraries = news(project.defects), project.libraries
    wrong = {name: disagreements(name, project.releases[name]) for name in libraries}
    tables, fast = speeds.latest(history.speeds), speeds.series(history.speeds)
    yield site.page("index.html", "", _index(project, news_section(newest)))
    yield site.page("defects.html", "Defects", all_defects(project.defects))
    over_time = sorted([*chain(*wrong.values()), *series], key=lambda one: one.unit != "findings")
    shown = trends.sections(over_time)
    said = None if shown else "Trends begin with the second run in the ledger."
    number = plural(len(project.runs), "run")
    yield site.page("trends.html", "Trends", [Banner(f"Trends over {number}", said), *shown])
    yield site.page("speed.html", "Speed", speeds.page(tables))
    yield site.page("search.html", "Search", [], "search", entries=feeds.entries(project))
    for name in libraries:
        made = list(feeds.badges(name, project.latest(name)))
        mine = [one for one in series if one.name.startswith(f"{name} on ")]
        blocks = [
            *_library(name, project),
            *speeds.sections(name, tables),
            *trends.sections([*wrong[name], *mine, *fast.get(name, [])]),
            *feeds.badge_section(made, site),
        ]
        yield site.page(address("libraries", name), name, blocks)
        yield from ((file, text) for _, file, text in made)
    for name in project.vocabularies:
        yield site.page(address("vocabularies", name), name, _vocabulary(name, project))
    yield from defect_pages(site)
    if history.runs:
        yield "feed.xml", feeds.feed(site, newest, history.runs[-1].started)


def _index(project: Project, newest: Sequence[Block]) -> list[Block]:
    there, runs = live(project.defects), [*project.runs.values()]
    libraries, vocabularies = project.libraries, project.vocabularies
    said = "The ledger has no run yet."
    if runs:
        said = (
            f"{plural(len(runs), 'run')} on "
            f"{plural(len(vocabularies), 'vocabulary', 'vocabularies')}, the last on "
            f"{day(runs[-1])}: each library's ids beside those of the others, on generated and "
            "hostile texts."
        )
    number = plural(len(libraries), "library", "libraries")
    counts: list[tuple[str, Inline]] = [
        ("Libraries", len(libraries)),
        ("Vocabularies", len(vocabularies)),
        ("Runs", len(runs)),
        ("Comparisons", count(sum(run.comparisons for run in runs))),
        ("Live defects", Span(len(there), "bad" if there else "")),
        ("Fixed", sum(one.state == FIXED for one in project.defects)),
    ]
    rows = [
        (
            (link("libraries", one), Span(f" {project.version(one)}", "quiet")),
            _of_library(project, one),
        )
        for one in libraries
    ]
    caption = (
        "The latest version of each: the share of comparisons without a violation, with its "
        "interval of 95 %"
    )
    lines = [(link("vocabularies", one), _of_vocabulary(project, one)) for one in vocabularies]
    random, none = "Random ones are told together, by their kind", "No vocabulary was loaded yet."
    return [
        Banner(f"{plural(len(there), 'live defect')} in {number}", said),
        Facts(counts, "numbers"),
        *listing("Libraries", "Library", rows, caption, "No library was judged yet."),
        *newest,
        *listing("Vocabularies", "Vocabulary", lines, random, none, style=""),
    ]


def _of_library(project: Project, name: str) -> Told:
    """The facts of a library, by its latest version."""
    there = live(project.of(name))
    there.sort(key=lambda defect: (defect.row.expected, severity_order(defect)))
    where, word = f"/{address('libraries', name)}#defects", there[0].severity if there else ""
    told = judged(project.latest(name))
    return {
        "Agreement": told["Agreement"],
        "Cases": told["Cases"],
        "Worst live defect": standings.worst(word, where, [one.row.expected for one in there]),
        "Worst growth": standings.growth(project.growth.get(name, [])),
        "Deaths": told["Deaths"],
        "Last judged": told["Last judged"],
    }


def _of_vocabulary(project: Project, name: str) -> Told:
    """The facts of a vocabulary, or of all random ones of a kind."""
    rows, defects = project.loaded.get(name, []), project.on(name)
    many = len({one.vocabulary for one in rows} | {one.row.vocabulary for one in defects})
    row = rows[-1] if rows else None
    tokens = row.tokens if row else None
    return {
        "Format": row.format if row else None,
        "Algorithm": row.algorithm if row else None,
        "Tokens": plural(many, "vocabulary", "vocabularies") if many > 1 else tokens,
        "Libraries": sum(bool(project.latest(one, name)) for one in project.libraries),
        "Live defects": len(live(defects)),
    }


def _library(name: str, project: Project) -> Iterator[Block]:
    """The page of a library, up to its speed."""
    defects, latest, version = project.of(name), project.latest(name), project.version(name)
    there = live(defects)
    expected = sum(one.row.expected for one in there)
    known = f" ({expected:,} of them expected)" if expected else ""
    clean = "pass" if totals(latest)["compared"] and not there else "neutral"
    tone = "fail" if len(there) > expected else clean
    yield Banner(f"{name} {version}".rstrip(), f"{plural(len(there), 'live defect')}{known}.", tone)
    yield facts(_of_library(project, name))
    by_vocabulary = sorted(grouped(latest, lambda one: one.family).items())
    rows = [(link("vocabularies", one), judged(asked)) for one, asked in by_vocabulary]
    caption = (
        f"Version {version}: comparisons with the reference that found no difference, with the "
        "interval of 95 %. Runs with one seed ask the same, and count once."
    )
    yield from listing("Agreement by vocabulary", "Vocabulary", rows, caption)
    yield from defect_table(defects, f"Defects of {name}")
    versions: list[tuple[Inline, Told]] = []
    for asked in project.releases[name]:
        runs = {one.run.id for one in asked}
        seen = sum(one.blamed and not runs.isdisjoint(one.seen) for one in defects)
        told = {**judged(asked), "Defects seen": seen}
        versions.append((asked[0].version or "not known", told))
    yield from listing("Version history", "Version", versions, "The latest version last")
    growth: list[tuple[Inline, Told]] = [
        (row.family, _of_growth(row)) for row in project.growth.get(name, [])
    ]
    caption = (
        "The last measurement on each family of inputs, the steepest first: the exponent of the "
        "time with its interval of 95 %, and the time at the largest size"
    )
    yield from listing("Growth", "Family", growth, caption, style="")


def _of_growth(row: RunGrowth) -> Told:
    """The facts of a measurement. Time: at the largest size, with its rate: ``1.2 ms, 45 MB/s``."""
    seconds, size = row.seconds or 0, row.bytes or 0
    took = f"{duration(seconds)}, {size / seconds / 1e6:.3g} MB/s" if seconds and size else ""
    return {
        "Vocabulary": row.vocabulary,
        "Verdict": Cell(standings.tally(row), sort=row.exponent or -1),
        "Interval": interval(row.low, row.high),
        "Bytes": row.bytes,
        "Time": Cell(took, sort=seconds),
    }


def _vocabulary(name: str, project: Project) -> list[Block]:
    told, defects = _of_vocabulary(project, name), project.on(name)
    rows = [
        (link("libraries", one), judged(asked))
        for one in project.libraries
        if (asked := project.latest(one, name))
    ]
    number = plural(len(rows), "library", "libraries")
    said = f"{plural(len(live(defects)), 'live defect')}; judged here: {number}."
    caption = "The latest version of each, with the interval of 95 %"
    none = "The ledger does not say who was judged here."
    marks = {row.fingerprint[:12] for row in project.loaded.get(name, ())}
    return [
        Banner(name, said),
        facts({**told, "Fingerprint": Span(marks.pop(), "code") if len(marks) == 1 else None}),
        *listing("Libraries", "Library", rows, caption, none),
        *defect_table(defects, f"Defects on {name}"),
    ]


def disagreements(name: str, versions: Sequence[Sequence[Asked]]) -> list[Trend]:
    """How often a library that is compared with others is wrong, over all runs."""
    points = []
    for run, rows in grouped(chain(*versions), lambda one: one.run).items():
        if compared := sum(one.row.compared for one in rows):
            share = sum(one.row.wrong for one in rows) / compared
            when = datetime.datetime.fromisoformat(run.started)
            points.append((when, rows[0].version, share * PER))
    title = f"{name}: wrong in a million comparisons"
    return [Trend(title, "in a million", sorted(points))] if points else []
