"""The files of the site: every page rendered, with what they load and what others read."""

from __future__ import annotations

import datetime
import json
from typing import TYPE_CHECKING

from corpora.plain_text import printable
from reports import standings, trends
from reports.blocks import Cell, Facts, Items, Paragraph, Section, Span, Table, numbers
from reports.blocks.html import PLOT_SCRIPTS, PLOT_STYLES, read_all
from reports.blocks.units import count, duration, interval, plural
from reports.site import feed, speeds
from reports.site.badges import badge_section, badges
from reports.site.defects import (
    BADGES,
    all_defects,
    defect_pages,
    defect_table,
    severity_order,
    titled,
)
from reports.site.folding import FIXED, LIVE, Agreement, day, fold, live, news
from reports.site.shell import Site, address, banner, link
from reports.trends import Trend
from reports.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.ledger.history import History
    from harness.ledger.models import RunGrowth
    from reports.blocks import Block, Inline
    from reports.site.folding import Library, News, Project, Vocabulary

MAX_GROWTH = 100
"""Families of inputs in the table of a library."""
MAX_NEWS = 12
"""Defects on the index that are new or fixed."""
PER = 1_000_000


def render(
    history: History, series: Sequence[Trend] = (), title: str = "tokgate", url: str = ""
) -> Iterator[tuple[str, str]]:
    """Every file by its path in the site, one after another.

    series: of all runs, for trends. url: the address at which the site is published, for the feed
    and for badges.
    """
    project = fold(history)
    site = Site(title, url if not url or url.endswith("/") else f"{url}/", history, project)
    yield "assets/site.css", read_all(*PLOT_STYLES, "report.css", "site/site.css")
    yield "assets/site.js", read_all("report.js", *PLOT_SCRIPTS, "site/site.js")
    yield ".nojekyll", ""  # so that GitHub Pages serves the files as they are
    newest = news(project.defects)
    wrong = disagreements(history, project)
    tables = speeds.speed_tables(history.speeds)
    yield site.page("", _index(project, newest[:MAX_NEWS]), "index.html")
    yield site.page("Defects", all_defects(site), "defects.html")
    over_time = sorted([*wrong.values(), *series], key=lambda one: one.unit != "findings")
    yield site.page("Trends", _trends(project, over_time), "trends.html")
    yield site.page("Speed", speeds.page(tables), "speed.html")
    yield site.page("Search", [], "search.html", "search", entries=_entries(project))
    fast = speeds.speed_series(history.speeds)
    for library in project.libraries:
        name = library.name
        mine = [wrong[name]] if name in wrong else []
        mine += [one for one in series if one.name.startswith(f"{name} on ")]
        blocks = [
            *_library(library, site),
            *speeds.sections(name, tables),
            *trends.sections([*mine, *fast.get(name, [])]),
            *badge_section(library, site),
        ]
        yield site.page(name, blocks, address("libraries", name))
        yield from badges(library)
    for vocabulary in project.vocabularies:
        where = address("vocabularies", vocabulary.name)
        yield site.page(vocabulary.name, _vocabulary(vocabulary, site), where)
    yield from defect_pages(site)
    if history.runs:
        yield "feed.xml", feed.render(title, site.url, newest, history.runs[-1].started)


def _index(project: Project, newest: Sequence[News]) -> list[Block]:
    there = {one.id for library in project.libraries for one in library.live}
    runs, number = project.runs, len(project.libraries)
    vocabularies = plural(len(project.vocabularies), "vocabulary", "vocabularies")
    title = f"{plural(len(there), 'live defect')} in {plural(number, 'library', 'libraries')}"
    said = "The ledger has no run yet."
    if runs:
        said = (
            f"{plural(len(runs), 'run')} on {vocabularies}, the last on {day(runs[-1])}: each "
            "library's ids beside those of the others, on generated and hostile texts."
        )
    rows = [
        (
            link("vocabularies", one.name),
            one.row.format if one.row else None,
            one.row.algorithm if one.row else None,
            one.row.tokens
            if one.row and one.many == 1
            else plural(one.many, "vocabulary", "vocabularies"),
            len(one.libraries),
            len(live(one.defects)),
        )
        for one in project.vocabularies
    ]
    known = Table(
        "Table of vocabularies",
        ("Vocabulary", "Format", "Algorithm", *numbers("Tokens", "Libraries", "Live defects")),
        rows,
        "Random ones are told together, by their kind",
        empty="No vocabulary was loaded yet.",
    )
    return [
        banner(title, said),
        Facts(
            [
                ("Libraries", number),
                ("Vocabularies", len(rows)),
                ("Runs", len(runs)),
                ("Comparisons", count(sum(run.comparisons for run in runs))),
                ("Live defects", Span(len(there), "bad" if there else "")),
                ("Fixed", sum(one.state == FIXED for one in project.defects)),
            ],
            "numbers",
        ),
        _libraries(project.libraries),
        *([Section("New and fixed", [_news(newest)], "news")] if newest else []),
        Section("Vocabularies", [known], "vocabularies"),
    ]  # fmt: skip


def _libraries(libraries: Sequence[Library]) -> Section:
    rows = []
    for one in libraries:
        total = one.overall
        order = sorted(one.live, key=lambda d: (d.row.expected, severity_order(d)))
        where = f"{address('libraries', one.name)}#defects"
        word = order[0].severity if order else ""
        rows.append(
            (
                (link("libraries", one.name), Span(f" {one.version}", "quiet")),
                _agreement(total),
                total.cases,
                standings.worst(word, where, [defect.row.expected for defect in order]),
                standings.growth(one.growth),
                standings.deadly(total.deaths),
                one.versions[-1].last if one.versions else Span("not known", "quiet"),
            )
        )
    caption = (
        "The latest version of each: the share of comparisons without a violation, with its "
        "interval of 95 %"
    )
    table = Table(
        "Table of libraries",
        (
            "Library",
            *numbers("Agreement", "Cases"),
            "Worst live defect",
            "Worst growth",
            *numbers("Deaths", "Last judged"),
        ),
        rows,
        caption,
        "standings",
        empty="No library was judged yet.",
    )
    return Section("Libraries", [table], "libraries")


def _agreement(one: Agreement) -> Cell:
    if one.trusted:
        return Cell(Span("reference", "quiet"), sort=2)
    return standings.agreement(one.compared, one.wrong)


def _counts(one: Agreement) -> list[Inline | Cell]:
    wrong = Cell(one.wrong, "bad" if one.wrong else "")
    return [_agreement(one), one.compared, wrong, standings.deadly(one.deaths)]


COUNTS = numbers("Agreement", "Compared", "Wrong", "Deaths")


def _news(newest: Sequence[News]) -> Items:
    entries: list[Inline] = []
    for one in newest:
        fixed = f", in {one.defect.fixed_in}" if one.what == "fixed" else ""
        entries.append(
            (
                Span(one.what, BADGES[LIVE if one.what == "new" else FIXED]),
                Span(f" {one.when[:10]} ", "quiet"),
                titled(one.defect, ""),
                Span((" on ", one.defect.family, fixed), "quiet"),
            )
        )
    return Items(entries, "panel plain news")


def _trends(project: Project, series: Sequence[Trend]) -> list[Block]:
    shown = trends.sections(series)
    said = None if shown else "Trends begin with the second run in the ledger."
    return [banner(f"Trends over {plural(len(project.runs), 'run')}", said), *shown]


def _library(library: Library, site: Site) -> list[Block]:
    """The page of a library, up to its speed."""
    total, there = library.overall, library.live
    expected = sum(one.row.expected for one in there)
    known = f" ({expected:,} of them expected)" if expected else ""
    said = "nothing of this version was compared"
    if total.compared:
        comparisons = plural(total.compared, "comparison")
        said = f"agrees in {total.shown} of {comparisons} ({total.interval})"
    trusted = sum(bool(one.trusted) for one in library.agreement.values())
    where = plural(trusted, "vocabulary", "vocabularies")
    also = f"; the reference on {where}" if trusted else ""
    tone = (
        "fail" if len(there) > expected else "pass" if total.compared and not there else "neutral"
    )
    agreement = Table(
        "Table of agreement",
        ("Vocabulary", *COUNTS),
        [
            (link("vocabularies", name, "../"), *_counts(one))
            for name, one in library.agreement.items()
        ],
        f"Version {library.version}: comparisons with the reference that found no difference, with "
        "the interval of 95 %. Runs with one seed ask the same, and count once.",
        "standings",
    )
    versions = Table(
        "Table of versions",
        (
            "Version",
            *numbers("First run", "Last run", "Runs", "Agreement", "Compared", "Defects seen"),
        ),
        [
            (
                one.name or "not known", one.first, one.last, one.runs,
                _agreement(one.agreement), one.agreement.compared, one.defects,
            )
            for one in library.versions
        ],
        "The latest version last",
        "standings",
    )  # fmt: skip
    growth = Table(
        "Table of growth",
        ("Family", "Vocabulary", "Verdict", *numbers("Interval", "Bytes", "Time")),
        [
            (
                one.family,
                one.vocabulary,
                Cell(standings.tally(one), sort=standings.steepness(one)),
                interval(one.low, one.high),
                one.bytes,
                Cell(_rate(one), sort=one.seconds or 0),
            )
            for one in library.growth[:MAX_GROWTH]
        ],
        "The last measurement on each family of inputs: the exponent of the time with its interval "
        "of 95 %, and the time at the largest size",
    )
    more = len(library.growth) - MAX_GROWTH
    further = f"{plural(more, 'further measurement')} with smaller exponents not listed."
    sections = [
        Section("Agreement by vocabulary", [agreement], "agreement"),
        defect_table(site, library.defects, "../", f"Defects of {library.name}"),
        Section("Version history", [versions], "versions"),
        Section("Growth", [growth, *([Paragraph(further, "quiet")] if more > 0 else [])], "growth"),
    ]
    title = f"{library.name} {library.version}".rstrip()
    because = f"{plural(len(there), 'live defect')}{known}; {said}{also}."
    return [banner(title, because, tone=tone), *filter(_filled, sections)]


def _filled(section: Section) -> bool:
    """Whether a section has more than an empty table."""
    first = section.blocks[0]
    return not isinstance(first, Table) or bool(first.rows)


def _rate(row: RunGrowth) -> str:
    """The time at the largest size that was measured, with the rate: ``1.2 ms, 45 MB/s``."""
    if not row.seconds or not row.bytes:
        return ""
    return f"{duration(row.seconds)}, {row.bytes / row.seconds / 1e6:.3g} MB/s"


def _vocabulary(one: Vocabulary, site: Site) -> list[Block]:
    number = len(one.libraries)
    judged = "was" if number == 1 else "were"
    which = "it" if one.many == 1 else f"one of these {one.many} vocabularies"
    said = (
        f"{plural(len(live(one.defects)), 'live defect')} in "
        f"{plural(number, 'library', 'libraries')} that {judged} judged on {which}."
    )
    facts: list[Block] = []
    if one.row and one.many == 1:
        pairs: list[tuple[str, Inline]] = [
            ("Format", one.row.format),
            ("Algorithm", one.row.algorithm),
            ("Tokens", one.row.tokens),
            ("Fingerprint", Span(one.row.fingerprint[:12], "code")),
        ]
        facts = [Facts(pairs)]
    table = Table(
        f"Libraries on {one.name}",
        ("Library", *COUNTS),
        [(link("libraries", name, "../"), *_counts(each)) for name, each in one.libraries.items()],
        "The latest version of each, with the interval of 95 %",
        "standings",
        empty="The ledger does not say who was judged here.",
    )
    return [
        banner(one.name, said),
        *facts,
        Section("Libraries", [table], "libraries"),
        defect_table(site, one.defects, "../", f"Defects on {one.name}"),
    ]


def disagreements(history: History, project: Project) -> dict[str, Trend]:
    """Of each library that is compared with others, how often it is wrong, over all runs."""
    sums: dict[str, dict[str, Agreement]] = {}
    for one in history.tallies:
        if one.compared:
            of_runs = sums.setdefault(one.implementation, {})
            mine = Agreement(one.compared, one.wrong)
            of_runs[one.run] = of_runs.get(one.run, Agreement()) + mine
    return {
        name: Trend(
            f"{name}: wrong in a million comparisons",
            "in a million",
            [
                (
                    datetime.datetime.fromisoformat(run.started),
                    project.versions[run.id].get(name, ""),
                    of_runs[run.id].wrong / of_runs[run.id].compared * PER,
                )
                for run in history.runs
                if run.id in of_runs
            ],
        )
        for name, of_runs in sums.items()
    }


def _entries(project: Project) -> str:
    """What the search looks through: kind, title, address and further words of each page."""
    entries = [
        ("library", one.name, address("libraries", one.name), one.version)
        for one in project.libraries
    ]
    entries += [
        ("vocabulary", one.name, address("vocabularies", one.name),
         f"{one.row.format} {one.row.algorithm}" if one.row else "")
        for one in project.vocabularies
    ]  # fmt: skip
    entries += [
        ("defect", one.title, one.page,
         f"{' '.join(one.ids[:20])} {one.row.vocabulary} {one.severity} {one.state} "
         f"{listed(one.libraries)} {one.row.bucket}")
        for one in project.defects if one.page
    ]  # fmt: skip
    shown = [[printable(text) for text in entry] for entry in entries]
    # Inside an element of HTML nothing may look like its end.
    return json.dumps(shown).replace("<", "\\u003c").replace("&", "\\u0026")
