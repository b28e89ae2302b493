"""The files of the site: every page rendered, with what they load and what others read."""

from __future__ import annotations

import datetime
from itertools import chain
from typing import TYPE_CHECKING

from reports import standings, trends
from reports.blocks import Cell, Facts, Paragraph, Section, Span
from reports.blocks.html import PLOT_SCRIPTS, PLOT_STYLES, read_all
from reports.blocks.units import count, duration, interval, plural
from reports.site import feeds, speeds
from reports.site.defects import (
    all_defects,
    defect_pages,
    defect_table,
    news_section,
    severity_order,
)
from reports.site.folding import FIXED, day, live, news, totals
from reports.site.shared import (
    Site,
    address,
    agreement,
    compared,
    facts,
    link,
    listing,
)
from reports.studies import banner, grouped
from reports.trends import Trend

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.ledger.history import History
    from harness.ledger.models import RunGrowth
    from reports.blocks import Block
    from reports.site.folding import Asked, Library, Vocabulary
    from reports.site.shared import Told

MAX_GROWTH = 100
"""Families of inputs in the table of a library."""
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
    tables, fast = speeds.latest(history.speeds), speeds.speed_series(history.speeds)
    yield site.page("", [*_index(site), *news_section(newest), _vocabularies(site)], "index.html")
    yield site.page("Defects", all_defects(site), "defects.html")
    over_time = sorted([*chain(*wrong.values()), *series], key=lambda one: one.unit != "findings")
    shown = trends.sections(over_time)
    said = None if shown else "Trends begin with the second run in the ledger."
    number = plural(len(project.runs), "run")
    yield site.page("Trends", [banner(f"Trends over {number}", said), *shown], "trends.html")
    yield site.page("Speed", speeds.page(tables), "speed.html")
    entries = feeds.entries(project)
    yield site.page("Search", [], "search.html", "search", entries=entries)
    for library in project.libraries:
        name = library.name
        mine = [one for one in series if one.name.startswith(f"{name} on ")]
        blocks = [
            *_library(library, site),
            *speeds.sections(name, tables),
            *trends.sections([*wrong[name], *mine, *fast.get(name, [])]),
            *feeds.badge_section(library, site),
        ]
        yield site.page(name, blocks, address("libraries", name))
        yield from ((file, text) for _, file, text in feeds.badges(library))
    for vocabulary in project.vocabularies:
        name = vocabulary.name
        yield site.page(name, _vocabulary(vocabulary, site), address("vocabularies", name))
    yield from defect_pages(site)
    if history.runs:
        yield "feed.xml", feeds.feed(site, newest, history.runs[-1].started)


def _index(site: Site) -> Iterator[Block]:
    project = site.project
    there = {one.id for library in project.libraries for one in live(library.defects)}
    runs, number = [*project.runs.values()], len(project.libraries)
    said = "The ledger has no run yet."
    if runs:
        vocabularies = plural(len(project.vocabularies), "vocabulary", "vocabularies")
        said = (
            f"{plural(len(runs), 'run')} on {vocabularies}, the last on {day(runs[-1])}: each "
            "library's ids beside those of the others, on generated and hostile texts."
        )
    libraries = plural(number, "library", "libraries")
    yield banner(f"{plural(len(there), 'live defect')} in {libraries}", said)
    yield Facts(
        [
            ("Libraries", number),
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
        for one in project.libraries
    ]
    caption = (
        "The latest version of each: the share of comparisons without a violation, with its "
        "interval of 95 %"
    )
    table = listing("Table of libraries", "Library", rows, caption, "No library was judged yet.")
    yield Section("Libraries", [table], "libraries")


def _of_library(one: Library, root: str = "") -> Told:
    """The facts of a library, by its latest version. root: from the page to that of the site."""
    total, there = totals(one.latest), live(one.defects)
    order = sorted(there, key=lambda defect: (defect.row.expected, severity_order(defect)))
    where = f"{root}{address('libraries', one.name)}#defects"
    word = order[0].severity if order else ""
    last = day(one.latest[-1].run) if one.latest else Span("not known", "quiet")
    return {
        "Agreement": agreement(total),
        "Cases": total["cases"],
        "Worst live defect": standings.worst(word, where, [d.row.expected for d in order]),
        "Worst growth": standings.growth(one.growth),
        "Deaths": standings.deadly(total["deaths"]),
        "Last judged": last,
    }


def _vocabularies(site: Site) -> Section:
    rows = [
        (link("vocabularies", one.name), _of_vocabulary(one)) for one in site.project.vocabularies
    ]
    caption, none = "Random ones are told together, by their kind", "No vocabulary was loaded yet."
    table = listing("Table of vocabularies", "Vocabulary", rows, caption, none, "")
    return Section("Vocabularies", [table], "vocabularies")


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
    yield facts(_of_library(library, "../"))
    caption = (
        f"Version {library.version}: comparisons with the reference that found no difference, with "
        "the interval of 95 %. Runs with one seed ask the same, and count once."
    )
    if library.agreement:
        rows = [
            (link("vocabularies", vocabulary, "../"), compared(one))
            for vocabulary, one in library.agreement.items()
        ]
        table = listing("Table of agreement", "Vocabulary", rows, caption)
        yield Section("Agreement by vocabulary", [table], "agreement")
    yield defect_table(site, library.defects, "../", f"Defects of {name}")
    versions = [
        (one or "not known", _of_version(asked, library)) for one, asked in library.versions.items()
    ]
    if versions:
        table = listing("Table of versions", "Version", versions, "The latest version last")
        yield Section("Version history", [table], "versions")
    if library.growth:
        growth = [(row.family, _of_growth(row)) for row in library.growth[:MAX_GROWTH]]
        caption = (
            "The last measurement on each family of inputs: the exponent of the time with its "
            "interval of 95 %, and the time at the largest size"
        )
        more = len(library.growth) - MAX_GROWTH
        said = f"{plural(more, 'further measurement')} with smaller exponents not listed."
        left = [Paragraph(said, "quiet")] if more > 0 else []
        table = listing("Table of growth", "Family", growth, caption, style="")
        yield Section("Growth", [table, *left], "growth")


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
    rows = [
        (link("libraries", name, "../"), compared(each)) for name, each in one.libraries.items()
    ]
    caption = "The latest version of each, with the interval of 95 %"
    none = "The ledger does not say who was judged here."
    return [
        banner(one.name, said),
        facts({**_of_vocabulary(one), "Fingerprint": mark and Span(mark, "code")}),
        Section(
            "Libraries",
            [listing(f"Libraries on {one.name}", "Library", rows, caption, none)],
            "libraries",
        ),
        defect_table(site, one.defects, "../", f"Defects on {one.name}"),
    ]


def disagreements(library: Library) -> list[Trend]:
    """How often a library that is compared with others is wrong, over all runs."""
    points = []
    for run, asked in grouped(library.asked, lambda one: one.run).items():
        compared, wrong = (
            sum(getattr(one.row, of) for one in asked) for of in ("compared", "wrong")
        )
        if compared:
            when = datetime.datetime.fromisoformat(run.started)
            points.append((when, asked[0].version, wrong / compared * PER))
    name = f"{library.name}: wrong in a million comparisons"
    return [Trend(name, "in a million", points)] if points else []
