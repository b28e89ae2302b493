"""The files of the site: every page rendered, with what they load and what others read."""

from __future__ import annotations

import datetime
from itertools import chain
from typing import TYPE_CHECKING

from reports import standings, trends
from reports.blocks import Cell, Facts, Span
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
from reports.site.project import FIXED, day, live, totals
from reports.site.shared import Site, address, agreement, compared, facts, link, listing
from reports.studies import banner, grouped
from reports.trends import Trend

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.ledger.history import History
    from harness.ledger.models import RunGrowth
    from reports.blocks import Block
    from reports.site.project import Asked, Library, Project, Vocabulary
    from reports.site.shared import Told

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
    newest = news(project.defects)
    wrong = {library.name: disagreements(library) for library in project.libraries}
    tables, fast = speeds.latest(history.speeds), speeds.series(history.speeds)
    index = [*_index(project), *news_section(newest), *_vocabularies(project)]
    yield site.page("index.html", "", index)
    yield site.page("defects.html", "Defects", all_defects(site))
    over_time = sorted([*chain(*wrong.values()), *series], key=lambda one: one.unit != "findings")
    shown = trends.sections(over_time)
    said = None if shown else "Trends begin with the second run in the ledger."
    number = plural(len(project.runs), "run")
    yield site.page("trends.html", "Trends", [banner(f"Trends over {number}", said), *shown])
    yield site.page("speed.html", "Speed", speeds.page(tables))
    yield site.page("search.html", "Search", [], "search", entries=feeds.entries(project))
    for library in project.libraries:
        name, made = library.name, list(feeds.badges(library))
        mine = [one for one in series if one.name.startswith(f"{name} on ")]
        blocks = [
            *_library(library, site),
            *speeds.sections(name, tables),
            *trends.sections([*wrong[name], *mine, *fast.get(name, [])]),
            *feeds.badge_section(made, site),
        ]
        yield site.page(address("libraries", name), name, blocks)
        yield from ((file, text) for _, file, text in made)
    for vocabulary in project.vocabularies:
        name = vocabulary.name
        yield site.page(address("vocabularies", name), name, _vocabulary(vocabulary, site))
    yield from defect_pages(site)
    if history.runs:
        yield "feed.xml", feeds.feed(site, newest, history.runs[-1].started)


def _index(project: Project) -> Iterator[Block]:
    there = {one.ids[0] for library in project.libraries for one in live(library.defects)}
    runs, libraries = [*project.runs.values()], project.libraries
    said = "The ledger has no run yet."
    if runs:
        vocabularies = plural(len(project.vocabularies), "vocabulary", "vocabularies")
        said = (
            f"{plural(len(runs), 'run')} on {vocabularies}, the last on {day(runs[-1])}: each "
            "library's ids beside those of the others, on generated and hostile texts."
        )
    number = plural(len(libraries), "library", "libraries")
    yield banner(f"{plural(len(there), 'live defect')} in {number}", said)
    yield Facts(
        [
            ("Libraries", len(libraries)),
            ("Vocabularies", len(project.vocabularies)),
            ("Runs", len(runs)),
            ("Comparisons", count(sum(run.comparisons for run in runs))),
            ("Live defects", Span(len(there), "bad" if there else "")),
            ("Fixed", sum(one.state == FIXED for one in project.defects)),
        ],
        "numbers",
    )
    rows = [
        ((link("libraries", one.name), Span(f" {one.version}", "quiet")), _of_library(one))
        for one in libraries
    ]
    caption = (
        "The latest version of each: the share of comparisons without a violation, with its "
        "interval of 95 %"
    )
    yield from listing("Libraries", "Library", rows, caption, "No library was judged yet.")


def _of_library(one: Library) -> Told:
    """The facts of a library, by its latest version."""
    total, there = totals(one.latest), live(one.defects)
    order = sorted(there, key=lambda defect: (defect.row.expected, severity_order(defect)))
    where = f"/{address('libraries', one.name)}#defects"
    word = order[0].severity if order else ""
    return {
        "Agreement": agreement(total),
        "Cases": total["cases"],
        "Worst live defect": standings.worst(word, where, [d.row.expected for d in order]),
        "Worst growth": standings.growth(one.growth),
        "Deaths": standings.deadly(total["deaths"]),
        "Last judged": day(one.latest[-1].run) if one.latest else Span("not known", "quiet"),
    }


def _vocabularies(project: Project) -> list[Block]:
    rows = [(link("vocabularies", one.name), _of_vocabulary(one)) for one in project.vocabularies]
    caption, none = "Random ones are told together, by their kind", "No vocabulary was loaded yet."
    return [*listing("Vocabularies", "Vocabulary", rows, caption, none, style="")]


def _of_vocabulary(one: Vocabulary) -> Told:
    """The facts of a vocabulary."""
    tokens = one.row.tokens if one.row else None
    return {
        "Format": one.row.format if one.row else None,
        "Algorithm": one.row.algorithm if one.row else None,
        "Tokens": tokens if one.many == 1 else plural(one.many, "vocabulary", "vocabularies"),
        "Libraries": len(one.libraries),
        "Live defects": len(live(one.defects)),
    }


def _library(library: Library, site: Site) -> Iterator[Block]:
    """The page of a library, up to its speed."""
    there, name = live(library.defects), library.name
    expected = sum(one.row.expected for one in there)
    known = f" ({expected:,} of them expected)" if expected else ""
    clean = "pass" if totals(library.latest)["compared"] and not there else "neutral"
    tone = "fail" if len(there) > expected else clean
    title = f"{name} {library.version}".rstrip()
    yield banner(title, f"{plural(len(there), 'live defect')}{known}.", tone)
    yield facts(_of_library(library))
    rows = [(link("vocabularies", one), compared(n)) for one, n in library.agreement.items()]
    caption = (
        f"Version {library.version}: comparisons with the reference that found no difference, with "
        "the interval of 95 %. Runs with one seed ask the same, and count once."
    )
    yield from listing("Agreement by vocabulary", "Vocabulary", rows, caption)
    yield from defect_table(site, library.defects, f"Defects of {name}")
    versions = [
        (one or "not known", _of_version(asked, library)) for one, asked in library.versions.items()
    ]
    yield from listing("Version history", "Version", versions, "The latest version last")
    growth = [(row.family, _of_growth(row)) for row in library.growth]
    caption = (
        "The last measurement on each family of inputs, the steepest first: the exponent of the "
        "time with its interval of 95 %, and the time at the largest size"
    )
    yield from listing("Growth", "Family", growth, caption, style="")


def _of_version(asked: Sequence[Asked], library: Library) -> Told:
    """The facts of a version of a library."""
    total, runs = totals(asked), {one.run.id for one in asked}
    return {
        "First run": day(asked[0].run),
        "Last run": day(asked[-1].run),
        "Runs": len(runs),
        "Agreement": agreement(total),
        "Compared": total["compared"],
        "Defects seen": sum(one.blamed and bool(one.seen & runs) for one in library.defects),
    }


def _of_growth(row: RunGrowth) -> Told:
    """The facts of a measurement. Time: at the largest size, with its rate: ``1.2 ms, 45 MB/s``."""
    seconds, size = row.seconds or 0, row.bytes or 0
    took = f"{duration(seconds)}, {size / seconds / 1e6:.3g} MB/s" if seconds and size else ""
    return {
        "Vocabulary": row.vocabulary,
        "Verdict": Cell(standings.tally(row), sort=standings.steepness(row)),
        "Interval": interval(row.low, row.high),
        "Bytes": row.bytes,
        "Time": Cell(took, sort=seconds),
    }


def _vocabulary(one: Vocabulary, site: Site) -> list[Block]:
    number = len(one.libraries)
    judged = "was" if number == 1 else "were"
    which = "it" if one.many == 1 else f"one of these {one.many} vocabularies"
    said = (
        f"{plural(len(live(one.defects)), 'live defect')} in "
        f"{plural(number, 'library', 'libraries')} that {judged} judged on {which}."
    )
    mark = one.row.fingerprint[:12] if one.row and one.many == 1 else ""
    rows = [(link("libraries", name), compared(each)) for name, each in one.libraries.items()]
    caption = "The latest version of each, with the interval of 95 %"
    none = "The ledger does not say who was judged here."
    return [
        banner(one.name, said),
        facts({**_of_vocabulary(one), "Fingerprint": mark and Span(mark, "code")}),
        *listing("Libraries", "Library", rows, caption, none),
        *defect_table(site, one.defects, f"Defects on {one.name}"),
    ]


def disagreements(library: Library) -> list[Trend]:
    """How often a library that is compared with others is wrong, over all runs."""
    points = []
    for run, asked in grouped(library.asked, lambda one: one.run).items():
        if judged := sum(one.row.compared for one in asked):
            share = sum(one.row.wrong for one in asked) / judged
            when = datetime.datetime.fromisoformat(run.started)
            points.append((when, asked[0].version, share * PER))
    name = f"{library.name}: wrong in a million comparisons"
    return [Trend(name, "in a million", points)] if points else []
