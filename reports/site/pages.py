"""The files of the site: every page rendered, with what they load and what others read."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.events import Counted, Measured
from harness.ledger.models import History
from harness.ledger.trends import Trend, trend
from reports import issue, standings, trends
from reports.blocks import Banner, Block, Cell, Facts, Inline, Items, Paragraph, Section, Span
from reports.blocks.html import PLOT_SCRIPTS, PLOT_STYLES, read_all
from reports.blocks.units import count, exponent, plural, writer
from reports.findings import card
from reports.growth import axes
from reports.record import RunRecord
from reports.site import feeds, speeds
from reports.site.project import (
    FIXED,
    LIVE,
    UNSEEN,
    Defect,
    Project,
    counts,
    day,
    live,
    rank,
    source_of,
    totals,
)
from reports.site.shared import Site, Thing, Told, address, facts, judged, link, listing
from reports.studies import grouped
from reports.text import literal
from reports.words import SEVERITIES

PER = 1_000_000
INPUT_SHOWN = 24
"""Bytes of an input that a table shows."""
NEWS_SHOWN = 12

BADGES = {
    LIVE: "badge live", FIXED: "badge fixed", UNSEEN: "badge unseen",
    "new": "badge live",
}  # fmt: skip
SEEN = "Live: the last run that could see the defect saw it."
MEANING = (
    f"{SEEN} Fixed: at least three complete runs with another version of the library did not see "
    "it, and the probability that this is chance is below 1 in 20."
)


def render(
    history: History, series: Sequence[Trend] = (), title: str = "tokgate", url: str = ""
) -> Iterator[tuple[str, str]]:
    """Every file by its path in the site, one after another.

    series: of all runs, for trends. url: the address at which the site is published, for the feed
    and for badges.
    """
    site, project = Site(title, url and f"{url.rstrip('/')}/"), Project(history)
    yield "assets/site.css", read_all(*PLOT_STYLES, "report.css", "site/site.css")
    yield "assets/site.js", read_all("report.js", *PLOT_SCRIPTS, "site/site.js")
    yield ".nojekyll", ""  # so that GitHub Pages serves the files as they are
    newest, tables = feeds.news(project.defects), speeds.latest(project.speeds)
    wrong = {name: disagreements(name, project) for name in project.libraries}
    fast = speeds.series(project.speeds)
    drawn = {
        name: [
            *wrong[name],
            *(one for one in series if one.name.startswith(f"{name} on ")),
            *fast.get(name, []),
        ]
        for name in project.libraries
    }
    worst = sorted(project.libraries, key=lambda name: badness(project.of(name)))
    affected = sorted(sorted(project.loaded), key=lambda name: badness(project.on(name)))
    things = [
        *(library(name, project, site, tables, drawn[name]) for name in worst),
        *(vocabulary(name, project) for name in affected),
        *map(defect, project.defects),
    ]
    for one in things:
        yield site.page(one.path, one.title, one.blocks)
        yield from one.files
    every = [one for of in wrong.values() for one in of]
    shown = trends.sections(sorted([*every, *series], key=lambda one: one.unit != "findings"))
    said = None if shown else "Trends begin with the second run in the ledger."
    over = Banner(f"Trends over {plural(len(project.runs), 'run')}", said)
    yield site.page("index.html", "", index(project, things, newest))
    yield site.page("defects.html", "Defects", all_defects(project.defects))
    yield site.page("trends.html", "Trends", [over, *shown])
    yield site.page("speed.html", "Speed", speeds.page(tables))
    yield site.page("search.html", "Search", [], "search", entries=feeds.entries(things))
    if history.runs:
        yield "feed.xml", feeds.feed(site, newest, history.runs[-1].began.time)


def badness(defects: Sequence[Defect]) -> tuple[float, int, int]:
    """By which libraries and vocabularies are sorted, the worst first."""
    there = [one for one in live(defects) if not one.expected]
    return min(map(rank, there), default=math.inf), -len(there), -len(live(defects))


def index(
    project: Project, things: Sequence[Thing], newest: Sequence[feeds.News]
) -> Iterator[Block]:
    """The first page."""
    rows = grouped(things, lambda one: one.kind)
    libraries, vocabularies, _ = (
        [(one.name, one.facts) for one in rows.get(kind, ())]
        for kind in ("library", "vocabulary", "defect")
    )
    (unexpected, expected), runs = counts(project.defects), project.runs
    bad = sum(bool(live(project.of(name))) for name in project.libraries)
    said = "The ledger has no run yet."
    if runs:
        said = (
            f"{plural(len(runs), 'run')} on {plural(len(vocabularies), 'vocabulary')}, the last on "
            f"{day(runs[-1])}: the ids of each library compared with those of the others, on "
            "generated and hostile texts."
        )
    numbers: list[tuple[str, Inline]] = [
        ("Unexpected", Span(unexpected, "bad") if unexpected else 0),
        ("Expected", expected),
        ("Fixed", sum(one.state == FIXED for one in project.defects)),
        ("Libraries", len(libraries)),
        ("Vocabularies", len(vocabularies)),
        ("Runs", len(runs)),
        ("Comparisons", count(sum(run.ended.comparisons for run in runs))),
    ]
    news: list[Inline] = [
        (
            Span(what, BADGES[what]),
            Span(f" {when[:10]} ", "quiet"),
            titled(one),
            Span(f" on {one.family}{f', in {one.fixed_in}' * (what == FIXED)}", "quiet"),
        )
        for when, what, one in newest[:NEWS_SHOWN]
    ]
    caption = (
        "The worst first, the latest version of each: the share of comparisons without a "
        "violation, with its interval of 95 %"
    )
    random, none = "Random ones are told together, by their kind", "No vocabulary was loaded yet."
    number = f"{bad} of {plural(len(libraries), 'library')}"
    tone = "fail" if unexpected else "neutral"
    yield Banner(f"{plural(unexpected + expected, 'live defect')} in {number}", said, tone)
    yield Facts(numbers, "numbers")
    yield from listing("Libraries", "Library", libraries, caption, "No library was judged yet.")
    if news:
        yield Section("New and fixed", [Items(news, "panel plain news")], "news")
    yield from listing("Vocabularies", "Vocabulary", vocabularies, random, none, style="")


def library(
    name: str,
    project: Project,
    site: Site,
    tables: Sequence[Sequence[speeds.Line]],
    drawn: Sequence[Trend],
) -> Thing:
    """A library, by its latest version. drawn: its trends."""
    defects, latest, version = project.of(name), project.latest(name), project.version(name)
    there, grown = live(defects), project.growth.get(name, [])
    there.sort(key=lambda one: (one.expected, SEVERITIES.index(one.severity)))
    path, asked = address("libraries", name), judged(latest)
    word, known = there[0].severity if there else "", [one.expected for one in there]
    told: Told = {
        "Agreement:": asked["Agreement:"],
        "Cases:": asked["Cases:"],
        "Worst live defect": standings.worst(word, f"/{path}#defects", known),
        "Worst growth": standings.growth(grown),
        "Deaths:": asked["Deaths:"],
        "Last judged": asked["Last judged"],
    }
    expected = f" ({sum(known):,} of them expected)" if any(known) else ""
    clean = "pass" if totals(latest)["compared"] and not there else "neutral"
    by_vocabulary = sorted(grouped(latest, lambda one: one.family).items())
    releases: list[tuple[Inline, Told]] = []
    for of in project.releases.get(name, []):
        runs = {one.run for one in of}
        seen = sum(not one.found.undecided and not runs.isdisjoint(one.seen) for one in defects)
        releases.append((of[0].version, {**judged(of), "Defects seen:": seen}))
    made = feeds.badges(name, latest)
    blocks = [
        Banner(
            f"{name} {version}".rstrip(),
            f"{plural(len(there), 'live defect')}{expected}.",
            clean if all(known) else "fail",
        ),
        facts(told),
        *listing(
            "Agreement by vocabulary",
            "Vocabulary",
            [(link("vocabularies", one), judged(of)) for one, of in by_vocabulary],
            f"Version {version}: comparisons with the reference that found no difference, with the "
            "interval of 95 %. Runs with one seed ask the same, and count once.",
        ),
        *defect_table(defects, f"Defects of {name}"),
        *listing("Version history", "Version", releases, "The latest version last"),
        *listing(
            "Growth",
            "Family",
            [(one.family, growth(one)) for one in grown],
            "The last measurement on each family of inputs, the steepest first: the exponent with "
            "its interval of 95 %, and the cost at the largest size",
            style="",
        ),
        *speeds.sections(name, tables),
        *trends.sections(drawn),
        *feeds.badge_section(made, site),
    ]
    row = link("libraries", name), Span(f" {version}", "quiet")
    return Thing("library", name, path, row, told, version, blocks, made)


def growth(row: Measured) -> Told:
    """The facts of a measurement. Cost: at the largest size, of time with its rate."""
    (size, cost), (across, up) = row.points[-1] if row.points else (0.0, 0.0), axes(row)
    rate = f", {size / cost / 1e6:.3g} MB/s" if up.unit == "time" and cost else ""
    return {
        "Vocabulary": row.vocabulary,
        "Verdict": Span(row.verdict, f"tally {row.verdict}"),
        "Exponent:": exponent(row.exponent, row.low, row.high).lstrip(),
        "Measure": row.measure,
        "Largest:": Cell(writer(across)(size) if size else "", sort=size),
        "Cost:": Cell(f"{writer(up)(cost)}{rate}" if size else "", sort=cost),
    }


def vocabulary(name: str, project: Project) -> Thing:
    """A vocabulary, or all random ones of a kind."""
    loaded, defects = project.loaded[name], project.on(name)
    row, many, there = loaded[-1], len({one.id for one in loaded}), len(live(defects))
    rows = [
        (link("libraries", one), judged(asked))
        for one in project.libraries
        if (asked := project.latest(one, name))
    ]
    told: Told = {
        "Format": row.format,
        "Algorithm": row.algorithm,
        "Tokens:": plural(many, "vocabulary") if many > 1 else row.tokens,
        "Libraries:": len(rows),
        "Live defects:": there,
    }
    said = f"{plural(there, 'live defect')}; judged here: {plural(len(rows), 'library')}."
    caption = "The latest version of each, with the interval of 95 %"
    none = "The ledger does not say who was judged here."
    marks = {one.fingerprint[:12] for one in loaded}
    blocks = [
        Banner(name, said),
        facts({**told, "Fingerprint": Span(marks.pop(), "code") if len(marks) == 1 else None}),
        *listing("Libraries", "Library", rows, caption, none),
        *defect_table(defects, f"Defects on {name}"),
    ]
    path, words = address("vocabularies", name), f"{row.format} {row.algorithm}"
    return Thing("vocabulary", name, path, link("vocabularies", name), told, words, blocks)


def disagreements(name: str, project: Project) -> list[Trend]:
    """How often a library that is compared with others is wrong, over all runs."""
    every = [
        (run, standings.sums(one for one in run.tallies if one.implementation == name))
        for run in project.runs
    ]
    rates = [(run, n["wrong"] / n["compared"] * PER) for run, n in every if n["compared"]]
    title = f"{name}: wrong in a million comparisons"
    return [trend(title, "in a million", name, rates)] if rates else []


def titled(defect: Defect) -> Inline:
    """What happens, with a link to its page, and the smallest input."""
    shown = str(literal(defect.found.input, INPUT_SHOWN))
    return Span(defect.title, href=f"/{defect.page}"), " ", Span(shown, "literal quiet")


def told(defect: Defect) -> Told:
    """The facts of a defect."""
    state = (
        Span(
            defect.state,
            "badge none" if defect.state == LIVE and defect.expected else BADGES[defect.state],
        ),
        Span(" expected", "badge expected") if defect.expected else None,
        Span(" nobody is blamed", "badge none") if defect.found.undecided else None,
        Span(f" in {defect.fixed_in}", "quiet block-line") if defect.fixing else None,
    )
    return {
        "State": state,
        "Severity": Cell(defect.severity, sort=SEVERITIES.index(defect.severity)),
        "Vocabulary": link("vocabularies", defect.family),
        "First seen:": day(defect.seen[0]),
        "Last seen:": day(defect.seen[-1]),
        "In runs:": f"{len({*defect.seen}):,} of {defect.judged:,}",
    }


def defect_table(defects: Sequence[Defect], caption: str) -> list[Section]:
    """A section of some defects."""
    rows = [(titled(one), told(one)) for one in defects]
    return listing("Defects", "Defect", rows, caption, "No defect is known.", style="picked")


def all_defects(defects: Sequence[Defect]) -> list[Block]:
    """The page of all defects."""
    (unexpected, expected), states = counts(defects), [one.state for one in defects]
    said = (
        f"{unexpected:,} unexpected, {expected:,} expected; "
        f"{plural(states.count(FIXED), 'fixed one')}, {states.count(UNSEEN):,} not seen lately."
    )
    return [
        Banner(
            plural(unexpected + expected, "live defect"),
            said,
            "fail" if unexpected else "neutral",
            [Paragraph(MEANING, "quiet")],
        ),
        *defect_table(
            defects, "The live ones first, of these the worst; a row for each vocabulary"
        ),
    ]


def defect(one: Defect) -> Thing:
    """A defect, with the finding in full as a run told it, and its reproducer beside the page."""
    run, found, facts_of = one.run, one.found, told(one)
    script, source = run.scripts.get(found.id), source_of(run, found.vocabulary)
    file = f"{found.id}.py" if script else None
    shown = replace(found, reproducer=file)
    times = Counted(found.bucket, run.coverage.counts.get(found.bucket, 1))
    loaded = run.coverage.vocabularies.values()
    record = RunRecord.from_events([run.began, *loaded, shown, times])
    again = issue.again(found, record, source)
    reads = (
        f"The script reads the vocabulary {source} where the folder of a run has it, from "
        "../../vocabularies/."
    )
    needs = "The command needs files of the machine on which the run was, from the run's folder."
    if not again:
        needs = "The command repeats the run; it needs the files that it names."
    elif issue.anywhere(found, record, source):
        needs = ""
    command = again or run.began.command
    finding = [
        card(record.buckets[0], record, None, again=command, script=script or ""),
        Paragraph(needs, "quiet"),
        Paragraph(reads if script else None, "quiet"),
    ]
    heading = "The finding ", Span(f"as the run of {day(run)} told it", "quiet")
    since = f"{plural(one.without, 'complete run')} since {day(one.seen[-1])} without it"
    said = {
        LIVE: SEEN,
        UNSEEN: f"Not seen lately: {since}, which is too little to call it fixed, or the "
        "versions are the same.",
        FIXED: f"Fixed in {one.fixed_in}: {since}.",
    }
    tone = "pass" if one.fixing else "fail" if live([one]) and not one.expected else "neutral"
    names = [piece for who in found.culprits for piece in (", ", link("libraries", who))]
    known: Told = {"Libraries": tuple(names[1:]), "First seen with": one.found_in}
    words = (*one.ids[:20], *found.culprits, one.family, one.severity, one.state, found.bucket)
    blocks = [
        Banner(one.title, said[one.state], tone),
        facts({**known, **facts_of}),
        Section(heading, finding, "finding"),
    ]
    files = [(f"defects/{file}", script)] if script else []
    name = titled(one)
    return Thing("defect", one.title, one.page, name, facts_of, " ".join(words), blocks, files)
