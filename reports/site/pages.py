"""The files of the site: every page rendered, with what they load and what others read."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from corpora.vocabularies.embedded import embedded
from corpora.vocabularies.sources import PACKAGED
from harness.events import Counted, Found, Measured
from harness.ledger.models import History, Run
from harness.ledger.trends import Trend, trend
from impls.registry import registered
from reports import standings, trends
from reports.blocks import Banner, Block, Cell, Facts, Inline, Items, Paragraph, Section, Span
from reports.blocks.html import PLOT_SCRIPTS, PLOT_STYLES, read_all
from reports.blocks.units import count, duration, exponent, plural
from reports.findings import card
from reports.record import RunRecord
from reports.site import feeds, speeds
from reports.site.project import (
    FIXED,
    LIVE,
    UNSEEN,
    Defect,
    Project,
    day,
    live,
    source_of,
    totals,
)
from reports.site.shared import Site, Told, address, facts, judged, link, listing
from reports.studies import grouped
from reports.text import literal
from reports.words import SEVERITIES

PER = 1_000_000
ANYWHERE = ("random:", "tiktoken:", "hf:", *PACKAGED)
"""How vocabularies are named that every machine can get."""
MOST_HEX = 500
"""Bytes of an input that a command has room for."""
INPUT_SHOWN = 24
"""Bytes of an input that a table shows."""

BADGES = {
    LIVE: "badge live", FIXED: "badge fixed", UNSEEN: "badge unseen",
    "new": "badge live",
}  # fmt: skip
SEEN = "Live: the last run that could see it saw it."
MEANING = (
    f"{SEEN} Fixed: three complete runs at least with another version of the library did not, and "
    "so many that chance would explain it in fewer than one of twenty cases."
)


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
    wrong = {name: disagreements(name, project) for name in libraries}
    tables, fast = speeds.latest(project.speeds), speeds.series(project.speeds)
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
        yield "feed.xml", feeds.feed(site, newest, history.runs[-1].began.time)


def _index(project: Project, newest: Sequence[Block]) -> list[Block]:
    there, runs = live(project.defects), project.runs
    libraries, vocabularies = project.libraries, project.vocabularies
    said = "The ledger has no run yet."
    if runs:
        said = (
            f"{plural(len(runs), 'run')} on "
            f"{plural(len(vocabularies), 'vocabulary')}, the last on "
            f"{day(runs[-1])}: each library's ids beside those of the others, on generated and "
            "hostile texts."
        )
    number = plural(len(libraries), "library")
    counts: list[tuple[str, Inline]] = [
        ("Libraries", len(libraries)),
        ("Vocabularies", len(vocabularies)),
        ("Runs", len(runs)),
        ("Comparisons", count(sum(run.ended.comparisons for run in runs))),
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
    there.sort(key=lambda one: (one.expected, SEVERITIES.index(one.severity)))
    where, word = f"/{address('libraries', name)}#defects", there[0].severity if there else ""
    told = judged(project.latest(name))
    return {
        "Agreement:": told["Agreement:"],
        "Cases:": told["Cases:"],
        "Worst live defect": standings.worst(word, where, [one.expected for one in there]),
        "Worst growth": standings.growth(project.growth.get(name, [])),
        "Deaths:": told["Deaths:"],
        "Last judged": told["Last judged"],
    }


def _of_vocabulary(project: Project, name: str) -> Told:
    """The facts of a vocabulary, or of all random ones of a kind."""
    rows = project.loaded[name]
    row, many = rows[-1], len({one.id for one in rows})
    return {
        "Format": row.format,
        "Algorithm": row.algorithm,
        "Tokens:": plural(many, "vocabulary") if many > 1 else row.tokens,
        "Libraries:": sum(bool(project.latest(one, name)) for one in project.libraries),
        "Live defects:": len(live(project.on(name))),
    }


def _library(name: str, project: Project) -> Iterator[Block]:
    """The page of a library, up to its speed."""
    defects, latest, version = project.of(name), project.latest(name), project.version(name)
    there = live(defects)
    expected = sum(one.expected for one in there)
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
    for asked in project.releases.get(name, []):
        runs = {one.run for one in asked}
        seen = sum(one.blamed and any(run in runs for run, _ in one.sightings) for one in defects)
        told = {**judged(asked), "Defects seen:": seen}
        versions.append((asked[0].version, told))
    yield from listing("Version history", "Version", versions, "The latest version last")
    growth: list[tuple[Inline, Told]] = [
        (row.family, _of_growth(row)) for row in project.growth.get(name, [])
    ]
    caption = (
        "The last measurement on each family of inputs, the steepest first: the exponent of the "
        "time with its interval of 95 %, and the time at the largest size"
    )
    yield from listing("Growth", "Family", growth, caption, style="")


def _of_growth(row: Measured) -> Told:
    """The facts of a measurement. Time: at the largest size, with its rate: ``1.2 ms, 45 MB/s``."""
    size, seconds = row.points[-1] if row.points else (None, 0.0)
    took = f"{duration(seconds)}, {size / seconds / 1e6:.3g} MB/s" if seconds and size else ""
    return {
        "Vocabulary": row.vocabulary,
        "Verdict": Span(row.verdict, f"tally {row.verdict}"),
        "Exponent:": exponent(row.exponent, row.low, row.high).lstrip(),
        "Bytes:": int(size) if size else None,
        "Time:": Cell(took, sort=seconds),
    }


def _vocabulary(name: str, project: Project) -> list[Block]:
    told, defects = _of_vocabulary(project, name), project.on(name)
    rows = [
        (link("libraries", one), judged(asked))
        for one in project.libraries
        if (asked := project.latest(one, name))
    ]
    number = plural(len(rows), "library")
    said = f"{plural(len(live(defects)), 'live defect')}; judged here: {number}."
    caption = "The latest version of each, with the interval of 95 %"
    none = "The ledger does not say who was judged here."
    marks = {row.fingerprint[:12] for row in project.loaded[name]}
    return [
        Banner(name, said),
        facts({**told, "Fingerprint": Span(marks.pop(), "code") if len(marks) == 1 else None}),
        *listing("Libraries", "Library", rows, caption, none),
        *defect_table(defects, f"Defects on {name}"),
    ]


def disagreements(name: str, project: Project) -> list[Trend]:
    """How often a library that is compared with others is wrong, over all runs."""
    rates = []
    for run in project.runs:
        told = [one for one in run.tallies if one.implementation == name]
        if compared := sum(one.compared for one in told):
            rates.append((run, sum(one.wrong for one in told) / compared * PER))
    title = f"{name}: wrong in a million comparisons"
    return [trend(title, "in a million", name, rates)] if rates else []


def news(defects: Iterable[Defect]) -> list[tuple[str, str, Defect]]:
    """When a defect was ``new`` or ``fixed``, the latest first; what is expected is no news.

    The time is that of a run, in ISO 8601.
    """
    unexpected = [one for one in defects if not one.expected]
    found = [(one.first.began.time, "new", one) for one in unexpected]
    found += [(one.fixing.began.time, FIXED, one) for one in unexpected if one.fixing]
    return sorted(found, key=lambda one: (*one[:2], one[2].ids[0]), reverse=True)


def titled(defect: Defect) -> Inline:
    """What happens, with a link to its page, and the smallest input."""
    title = Span(defect.title, href=f"/{defect.page}" * bool(defect.page))
    shown = literal(defect.shown[1].input, INPUT_SHOWN)
    return title, " ", Span(str(shown), "literal quiet")


def told(defect: Defect) -> Told:
    """The facts of a defect."""
    state = (
        Span(defect.state, BADGES[defect.state]),
        Span(" expected", "badge expected") if defect.expected else None,
        None if defect.blamed else Span(" nobody is blamed", "badge none"),
        Span(f" in {defect.fixed_in}", "quiet block-line") if defect.fixing else None,
    )
    return {
        "State": state,
        "Severity": Cell(defect.severity, sort=SEVERITIES.index(defect.severity)),
        "Vocabulary": link("vocabularies", defect.family),
        "First seen:": day(defect.first),
        "Last seen:": day(defect.last),
        "In runs:": f"{len({run for run, _ in defect.sightings}):,} of {defect.judged:,}",
    }


def defect_table(defects: Sequence[Defect], caption: str) -> list[Section]:
    """A section of some defects."""
    rows = [(titled(one), told(one)) for one in defects]
    return listing("Defects", "Defect", rows, caption, "No defect is known.", style="picked")


def all_defects(defects: Sequence[Defect]) -> list[Block]:
    """The page of all defects."""
    there, states = live(defects), [one.state for one in defects]
    said = (
        f"{sum(one.expected for one in there):,} of them expected; "
        f"{plural(states.count(FIXED), 'fixed one')}, {states.count(UNSEEN):,} not seen lately."
    )
    return [
        Banner(plural(len(there), "live defect"), said, blocks=[Paragraph(MEANING, "quiet")]),
        *defect_table(defects, "The live ones first, then those last seen"),
    ]


def news_section(newest: Sequence[tuple[str, str, Defect]]) -> list[Section]:
    """What is new and what is fixed, the latest first."""
    entries: list[Inline] = [
        (
            Span(what, BADGES[what]),
            Span(f" {when[:10]} ", "quiet"),
            titled(one),
            Span(f" on {one.family}{f', in {one.fixed_in}' * (what == FIXED)}", "quiet"),
        )
        for when, what, one in newest[:12]
    ]
    shown = Items(entries, "panel plain news")
    return [Section("New and fixed", [shown], "news")] if entries else []


def defect_pages(site: Site) -> Iterator[tuple[str, str]]:
    """The page of each defect that has one, and its reproducer beside it."""
    for defect in (one for one in site.project.defects if one.page):
        run, found = defect.shown
        beside = None
        if script := run.scripts.get(found.id):
            beside = f"{found.id}.py"
            yield f"defects/{beside}", script
        since = f"{plural(defect.without, 'complete run')} since {day(defect.last)} without it"
        said = {
            LIVE: SEEN,
            UNSEEN: f"Not seen lately: {since}, which is too little to call it fixed, or the "
            "versions are the same.",
            FIXED: f"Fixed in {defect.fixed_in}: {since}.",
        }
        harmful = defect.state == LIVE and defect.blamed and not defect.expected
        tone = "pass" if defect.fixing else "fail" if harmful else "neutral"
        names = [piece for one in defect.libraries for piece in (", ", link("libraries", one))]
        since = defect.versions(defect.first)
        known: Told = {"Libraries": tuple(names[1:]), "First seen with": since}
        blocks = [
            Banner(defect.title, said[defect.state], tone),
            facts({**known, **told(defect)}),
            *_finding(run, found, beside),
        ]
        yield site.page(defect.page, f"{found.id}: {defect.title}", blocks)


def _finding(run: Run, found: Found, script: str | None) -> list[Block]:
    """The finding in full. script: the file beside the page."""
    found, source = replace(found, reproducer=script), source_of(run, found.vocabulary)
    count = run.coverage.counts.get(found.bucket, 1)
    record = RunRecord.from_events([run.began, found, Counted(found.bucket, count)])
    reads = (
        f"The script reads the vocabulary {source} where the folder of a run has it, from "
        "../../vocabularies/."
    )
    shown = card(record.buckets[0], record, None, again=command(found, source))
    title = ("The finding ", Span(f"as the run of {day(run)} told it", "quiet"))
    note = Paragraph(reads if script else None, "quiet")
    return [Section(title, [shown, note], "finding")]


def command(found: Found, source: str) -> str:
    """A command that asks again on any machine; nothing where it would need a file of the run's.

    source: the text by which the vocabulary was given.
    """
    if found.check != "equivalence" or len(found.partition) < 2:
        return ""
    names = dict.fromkeys([found.partition[0].implementations[0], *found.culprits[:1]])
    everywhere = source in embedded() or source.startswith(ANYWHERE)
    data = found.input
    if not everywhere or not registered().keys() >= set(names) or len(data) > MOST_HEX:
        return ""
    chosen = [word for name in names for word in ("--impl", name)]
    return shlex.join(["tokgate", "minimize", "--vocab", source, *chosen, "--hex", data.hex()])
