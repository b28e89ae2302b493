"""Defects on the site: the table of them, and a page for each."""

from __future__ import annotations

import base64
import datetime
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.vocabularies.embedded import embedded
from corpora.vocabularies.sources import PACKAGED
from harness.events import Counted, Started
from impls.registry import registered
from reports.blocks import Cell, Items, Paragraph, Section, Span
from reports.blocks.units import plural
from reports.findings import card
from reports.record import RunRecord
from reports.site.folding import FIXED, LIVE, UNSEEN, day, live
from reports.site.shared import facts, link, listing
from reports.studies import banner
from reports.text import literal
from reports.words import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reports.blocks import Block, Inline
    from reports.site.folding import Defect
    from reports.site.shared import Site, Told

MAX_ROWS = 300
"""Defects in one table; a page says how many more there are."""
MAX_NEWS = 12
"""Defects on the index that are new or fixed."""
MAX_SCRIPTS = 5 << 20
"""Bytes of all reproducers together."""
ANYWHERE = ("random:", "tiktoken:", "hf:", *PACKAGED)
"""How vocabularies are named that every machine can get."""
MOST_HEX = 500
"""Bytes of an input that a command has room for."""
INPUT_SHOWN = 24
"""Bytes of an input that a table shows."""

BADGES = {LIVE: "badge live", FIXED: "badge fixed", UNSEEN: "badge unseen"}

MEANING = (
    "Live: the last run that could see it saw it. Fixed: three complete runs at least with another "
    "version of the library did not, and so many that chance would explain it in fewer than one of "
    "twenty cases."
)


def severity_order(defect: Defect) -> int:
    """The place of its severity, the worst first."""
    return [*SEVERITIES, ""].index(defect.severity)


def titled(defect: Defect, root: str) -> Inline:
    """What happens, with a link to its page, and the smallest input."""
    title = Span(defect.title, href=root + defect.page if defect.page else "")
    if defect.detail is None:
        return title
    shown = literal(base64.b64decode(defect.detail.found.input_b64), INPUT_SHOWN)
    return (title, " ", Span(shown.code + "…" * bool(shown.missing), "literal quiet"))


def told(defect: Defect, site: Site, root: str) -> Told:
    """The facts of a defect. root: from the page to the root of the site."""
    until = defect.fixing or [*site.project.runs.values()][-1]
    first, last = (datetime.date.fromisoformat(day(run)) for run in (defect.first, until))
    days = (last - first).days
    state = (
        Span(defect.state, BADGES[defect.state]),
        Span(" expected", "badge expected") if defect.row.expected else None,
        None if defect.blamed else Span(" nobody is blamed", "badge none"),
        Span(f" in {defect.fixed_in}", "quiet block-line") if defect.fixing else None,
    )
    return {
        "State": state,
        "Severity": Cell(defect.severity or "not known", sort=severity_order(defect)),
        "Vocabulary": link("vocabularies", defect.family, root),
        "First seen": day(defect.first),
        "Last seen": day(defect.last),
        "Known for": plural(days, "day") if days or defect.fixing else "new",
        "In runs": f"{len(defect.seen):,} of {defect.judged:,}",
    }


def defect_table(site: Site, defects: Sequence[Defect], root: str, caption: str) -> Section:
    """A section of some defects. root: from the page to the root of the site."""
    rows = [(titled(one, root), told(one, site, root)) for one in defects[:MAX_ROWS]]
    none = "No defect is known."
    blocks: list[Block] = [listing(f"Table: {caption}", "Defect", rows, caption, none, "picked")]
    if len(defects) > MAX_ROWS:
        more = plural(len(defects) - MAX_ROWS, "further defect")
        blocks.append(Paragraph(f"Not listed: {more}.", "quiet"))
    return Section("Defects", blocks, "defects")


def all_defects(site: Site) -> list[Block]:
    """The page of all defects."""
    defects = site.project.defects
    there, states = live(defects), [one.state for one in defects]
    said = (
        f"{sum(one.row.expected for one in there):,} of them expected; "
        f"{plural(states.count(FIXED), 'fixed one')}, {states.count(UNSEEN):,} not seen lately."
    )
    title = plural(len(there), "live defect")
    return [
        banner(title, said, blocks=[Paragraph(MEANING, "quiet")]),
        defect_table(site, defects, "", "The live ones first, then those last seen"),
    ]


def news_section(newest: Sequence[tuple[str, str, Defect]]) -> list[Section]:
    """What is new and what is fixed, the latest first."""
    entries: list[Inline] = [
        (
            Span(what, BADGES[LIVE if what == "new" else FIXED]),
            Span(f" {when[:10]} ", "quiet"),
            titled(one, ""),
            Span(f" on {one.family}{f', in {one.fixed_in}' * (what == 'fixed')}", "quiet"),
        )
        for when, what, one in newest[:MAX_NEWS]
    ]
    shown = Items(entries, "panel plain news")
    return [Section("New and fixed", [shown], "news")] if entries else []


def defect_pages(site: Site) -> Iterator[tuple[str, str]]:
    """The page of each defect that has one, and its reproducer beside it."""
    spent = 0
    for defect in site.project.defects:
        detail, script = defect.detail, None
        if not defect.page:
            continue
        if detail and detail.reproducer and spent + len(detail.reproducer) <= MAX_SCRIPTS:
            spent += len(detail.reproducer)
            script = f"{defect.id}.py"
            yield f"defects/{script}", detail.reproducer
        blocks = [*_defect(defect, site), *_finding(defect, site, script)]
        yield site.page(f"{defect.id}: {defect.title}", blocks, defect.page)


def _defect(defect: Defect, site: Site) -> list[Block]:
    """What became of a defect."""
    since = f"{plural(defect.without, 'complete run')} since {day(defect.last)} without it"
    said = {
        LIVE: "Live: the last run that could see it saw it.",
        UNSEEN: f"Not seen lately: {since}, which is too little to call it fixed, or the versions "
        "are the same.",
        FIXED: f"Fixed in {defect.fixed_in}: {since}.",
    }
    harmful = defect.state == LIVE and defect.blamed and not defect.row.expected
    tone = "pass" if defect.fixing else "fail" if harmful else "neutral"
    names = [link("libraries", name, "../") for name in defect.libraries]
    libraries = tuple(piece for name in names for piece in (", ", name))[1:]
    known: Told = {"Libraries": libraries, "First seen with": defect.since}
    return [
        banner(defect.title, said[defect.state], tone),
        facts({**known, **told(defect, site, "../")}),
    ]


def _finding(defect: Defect, site: Site, script: str | None) -> list[Block]:
    """The finding in full. script: the file beside the page."""
    detail, project = defect.detail, site.project
    if detail is None:
        lack = (
            "The ledger has no more of it than its name: ", Span(defect.row.bucket, "code"),
            ". It was kept by an earlier version of tokgate; the next run that sees it keeps it in "
            "full.",
        )  # fmt: skip
        return [Paragraph(lack, "empty")]
    run = project.runs[detail.run]
    source = project.sources.get((run.id, detail.found.vocabulary), "")
    began = Started(
        run.started, run.seed, run.suite, run.budget, "", dict(project.versions[run.id]), ""
    )
    found = replace(detail.found, reproducer=script)
    record = RunRecord.from_events([began, found, Counted(found.bucket, defect.row.count)])
    replay = command(defect, source)
    shown = card(record.buckets[0], record, None, unfolded=True, again=replay)
    blocks: list[Block] = [shown]
    if script:
        other = "; the other command needs tokgate alone" if replay else ""
        reads = (
            "The script reads the vocabulary", Span(f" {source}".rstrip(), "code"),
            " where the folder of a run has it, from ", Span("../../vocabularies/", "code"),
            f"{other}.",
        )  # fmt: skip
        blocks.append(Paragraph(reads, "quiet"))
    title = ("The finding ", Span(f"as the run of {day(run)} told it", "quiet"))
    return [Section(title, blocks, "finding")]


def command(defect: Defect, source: str) -> str:
    """A command that asks again on any machine; nothing where it would need a file of the run's.

    source: the text by which the vocabulary was given.
    """
    found = defect.detail.found if defect.detail else None
    if found is None or found.check != "equivalence" or len(found.partition) < 2:
        return ""
    names = [found.partition[0].implementations[0], *found.culprits[:1]]
    everywhere = source in embedded() or source.startswith(ANYWHERE)
    data = base64.b64decode(found.input_b64)
    if not everywhere or not set(names) <= set(registered()) or len(data) > MOST_HEX:
        return ""
    chosen = [word for name in dict.fromkeys(names) for word in ("--impl", name)]
    return shlex.join(["tokgate", "minimize", "--vocab", source, *chosen, "--hex", data.hex()])
