"""Defects on the site: the table of them, what is new and what is fixed, and a page for each."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from corpora.vocabularies.embedded import embedded
from corpora.vocabularies.sources import PACKAGED
from harness.events import Counted, Found, Started
from impls.registry import registered
from reports.blocks import Banner, Block, Cell, Inline, Items, Paragraph, Section, Span
from reports.blocks.units import plural
from reports.findings import card
from reports.record import RunRecord
from reports.site.project import FIXED, LIVE, UNSEEN, Defect, day, live
from reports.site.shared import Site, Told, facts, link, listing
from reports.text import literal
from reports.words import SEVERITIES, input_of

MAX_SCRIPTS = 5 << 20
"""Bytes of all reproducers together."""
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


def news(defects: Iterable[Defect]) -> list[tuple[str, str, Defect]]:
    """When a defect was ``new`` or ``fixed``, the latest first; what is expected is no news.

    The time is that of a run, in ISO 8601.
    """
    unexpected = [one for one in defects if not one.row.expected]
    found = [(one.first.started, "new", one) for one in unexpected]
    found += [(one.fixing.started, FIXED, one) for one in unexpected if one.fixing]
    return sorted(found, key=lambda one: (*one[:2], one[2].ids[0]), reverse=True)


def severity_order(defect: Defect) -> int:
    """The place of its severity, the worst first."""
    return [*SEVERITIES, ""].index(defect.severity)


def titled(defect: Defect) -> Inline:
    """What happens, with a link to its page, and the smallest input."""
    title = Span(defect.title, href=f"/{defect.page}" * bool(defect.page))
    if defect.detail is None:
        return title
    shown = literal(input_of(defect.detail.found), INPUT_SHOWN).cut
    return (title, " ", Span(shown, "literal quiet"))


def told(defect: Defect) -> Told:
    """The facts of a defect."""
    state = (
        Span(defect.state, BADGES[defect.state]),
        Span(" expected", "badge expected") if defect.row.expected else None,
        None if defect.blamed else Span(" nobody is blamed", "badge none"),
        Span(f" in {defect.fixed_in}", "quiet block-line") if defect.fixing else None,
    )
    return {
        "State": state,
        "Severity": Cell(defect.severity or "not known", sort=severity_order(defect)),
        "Vocabulary": link("vocabularies", defect.family),
        "First seen": day(defect.first),
        "Last seen": day(defect.last),
        "In runs": f"{len(defect.seen):,} of {defect.judged:,}",
    }


def defect_table(defects: Sequence[Defect], caption: str) -> list[Section]:
    """A section of some defects."""
    rows = [(titled(one), told(one)) for one in defects]
    return listing("Defects", "Defect", rows, caption, "No defect is known.", style="picked")


def all_defects(defects: Sequence[Defect]) -> list[Block]:
    """The page of all defects."""
    there, states = live(defects), [one.state for one in defects]
    said = (
        f"{sum(one.row.expected for one in there):,} of them expected; "
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
    spent = 0
    for defect in site.project.defects:
        if not defect.page:
            continue
        name, script = defect.ids[0], (defect.detail and defect.detail.reproducer) or ""
        spent += len(script)
        beside = f"{name}.py" if script and spent <= MAX_SCRIPTS else None
        if beside:
            yield f"defects/{beside}", script
        since = f"{plural(defect.without, 'complete run')} since {day(defect.last)} without it"
        said = {
            LIVE: SEEN,
            UNSEEN: f"Not seen lately: {since}, which is too little to call it fixed, or the "
            "versions are the same.",
            FIXED: f"Fixed in {defect.fixed_in}: {since}.",
        }
        harmful = defect.state == LIVE and defect.blamed and not defect.row.expected
        tone = "pass" if defect.fixing else "fail" if harmful else "neutral"
        names = [piece for one in defect.libraries for piece in (", ", link("libraries", one))]
        known: Told = {"Libraries": tuple(names[1:]), "First seen with": defect.since}
        blocks = [
            Banner(defect.title, said[defect.state], tone),
            facts({**known, **told(defect)}),
            *_finding(defect, site, beside),
        ]
        yield site.page(defect.page, f"{name}: {defect.title}", blocks)


def _finding(defect: Defect, site: Site, script: str | None) -> list[Block]:
    """The finding in full. script: the file beside the page."""
    detail, project = defect.detail, site.project
    if detail is None:
        lack = (
            f"The ledger has no more of it than its name: {defect.row.bucket}. It was kept by an "
            "earlier version of tokgate; the next run that sees it keeps it in full."
        )
        return [Paragraph(lack, "empty")]
    run, found = project.runs[detail.run], replace(detail.found, reproducer=script)
    source = project.sources.get((run.id, found.vocabulary), "")
    began = Started(run.started, run.seed, run.suite, run.budget, "", project.versions[run.id], "")
    record = RunRecord.from_events([began, found, Counted(found.bucket, defect.row.count)])
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
    data = input_of(found)
    if not everywhere or not registered().keys() >= set(names) or len(data) > MOST_HEX:
        return ""
    chosen = [word for name in names for word in ("--impl", name)]
    return shlex.join(["tokgate", "minimize", "--vocab", source, *chosen, "--hex", data.hex()])
