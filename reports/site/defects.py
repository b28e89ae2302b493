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
from reports.blocks import Cell, Facts, Paragraph, Section, Span, Table, numbers
from reports.blocks.units import plural
from reports.cards import card
from reports.record import RunRecord
from reports.severity import SEVERITIES
from reports.site.folding import FIXED, LIVE, UNSEEN, day, live
from reports.site.shell import banner, link
from reports.text import literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reports.blocks import Block, Inline
    from reports.site.folding import Defect
    from reports.site.shell import Site

MAX_ROWS = 300
"""Defects in one table; a page says how many more there are."""
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


def _state(defect: Defect) -> Inline:
    return (
        Span(defect.state, BADGES[defect.state]),
        Span(" expected", "badge expected") if defect.row.expected else None,
        None if defect.blamed else Span(" nobody is blamed", "badge none"),
    )


def _age(defect: Defect, site: Site) -> str:
    """For how long a defect is known, or was until it was fixed."""
    until = defect.fixing or site.project.runs[-1]
    first, last = (datetime.date.fromisoformat(day(run)) for run in (defect.first, until))
    days = (last - first).days
    return plural(days, "day") if days or defect.fixing else "new"


def defect_table(site: Site, defects: Sequence[Defect], root: str, caption: str) -> Section:
    """A section of some defects. root: from the page to the root of the site."""
    rows = [
        (
            titled(one, root),
            (_state(one), Span(f" in {one.fixed_in}", "quiet block-line") if one.fixing else None),
            Cell(one.severity or "not known", sort=severity_order(one)),
            one.family,
            day(one.first),
            day(one.last),
            _age(one, site),
            f"{one.seen:,} of {one.judged:,}",
        )
        for one in defects[:MAX_ROWS]
    ]
    blocks: list[Block] = [
        Table(
            f"Table: {caption}",
            (
                "Defect",
                "State",
                "Severity",
                "Vocabulary",
                *numbers("First seen", "Last seen", "Known for", "In runs"),
            ),
            rows,
            caption,
            "picked",
            empty="No defect is known.",
        )
    ]
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
    return [
        banner(plural(len(there), "live defect"), said, Paragraph(MEANING, "quiet")),
        defect_table(site, defects, "", "The live ones first, then those last seen"),
    ]


def defect_pages(site: Site) -> Iterator[tuple[str, str]]:
    """The page of each defect that has one, and its reproducer beside it."""
    sources = {(row.run, row.vocabulary): row.source for row in site.history.vocabularies}
    spent = 0
    for defect in site.project.defects:
        detail = defect.detail
        if not defect.page:
            continue
        script = None
        if detail and detail.reproducer and spent + len(detail.reproducer) <= MAX_SCRIPTS:
            spent += len(detail.reproducer)
            script = f"{defect.id}.py"
            yield f"defects/{script}", detail.reproducer
        source = sources.get((detail.run, detail.found.vocabulary), "") if detail else ""
        blocks = [*_defect(defect, site), *_finding(defect, site, script, source)]
        yield site.page(f"{defect.id}: {defect.title}", blocks, defect.page)


def _defect(defect: Defect, site: Site) -> list[Block]:
    """What became of a defect."""
    without = plural(defect.without, "complete run")
    said = {
        LIVE: "Live: the last run that could see it saw it.",
        UNSEEN: f"Not seen lately: {without} since {day(defect.last)} did not see it, which is too "
        "little to call it fixed, or the versions are the same.",
    }
    if defect.fixing:
        have = "has" if defect.without == 1 else "have"
        since = f"{without} since {day(defect.fixing)} {have} not seen it"
        said[FIXED] = f"Fixed in {defect.fixed_in}: {since}."
    harmful = defect.state == LIVE and defect.blamed and not defect.row.expected
    tone = "pass" if defect.fixing else "fail" if harmful else "neutral"
    state = Paragraph((_state(defect), Span(f" {defect.severity}", "severity")))
    names = [link("libraries", name, "../") for name in defect.libraries]
    libraries = tuple(piece for name in names for piece in (", ", name))[1:]
    return [
        banner(defect.title, said[defect.state], state, tone=tone),
        Facts(
            [
                ("Libraries", libraries),
                ("Vocabulary", link("vocabularies", defect.family, "../")),
                ("First seen", f"{day(defect.first)}, with {defect.since}"),
                ("Last seen", day(defect.last)),
                ("Known for", _age(defect, site)),
                ("Seen in", f"{defect.seen:,} of {plural(defect.judged, 'run')}"),
            ]
        ),
    ]


def _finding(defect: Defect, site: Site, script: str | None, source: str) -> list[Block]:
    """The finding in full. script: the file beside the page; source: of the vocabulary."""
    detail = defect.detail
    if detail is None:
        lack = (
            "The ledger has no more of it than its name: ", Span(defect.row.bucket, "code"),
            ". It was kept by an earlier version of tokgate; the next run that sees it keeps it in "
            "full.",
        )  # fmt: skip
        return [Paragraph(lack, "empty")]
    run = next(one for one in site.project.runs if one.id == detail.run)
    versions = dict(site.project.versions[run.id])
    began = Started(run.started, run.seed, run.suite, run.budget, "", versions, "")
    found = replace(detail.found, reproducer=script)
    record = RunRecord.from_events([began, found, Counted(found.bucket, defect.row.count)])
    replay = command(defect, source)
    shown = card(record.buckets[0], record, None, unfolded=True, again=replay)
    blocks: list[Block] = [shown]
    if script:
        other = "; the other command needs tokgate alone" if replay else ""
        where = Span(f" {source}", "code") if source else None
        reads = (
            "The script reads the vocabulary", where, " where the folder of a run has it, from ",
            Span("../../vocabularies/", "code"), f"{other}.",
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
