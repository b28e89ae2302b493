"""What templates of the site print: rows of tables, words for states, plots. Pure functions."""

from __future__ import annotations

import base64
import shlex
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from corpora.vocabularies.embedded import embedded
from corpora.vocabularies.sources import PACKAGED
from harness.events import Counted, Started
from impls.registry import registered
from reports.cards import ROOMY, Card, card
from reports.plots import duration
from reports.record import Bucket, RunRecord
from reports.severity import SEVERITIES, severity
from reports.site.folding import FIXED, LIVE
from reports.standings import GROWTH_ORDER
from reports.text import literal
from reports.trends import Trend
from reports.words import listed, spoken

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping, Sequence

    from reports.site.data import GrowthRow, History, RunRow
    from reports.site.folding import Defect, Library, Project

PER = 1_000_000
ANYWHERE = ("random:", "tiktoken:", "hf:", *PACKAGED)
"""How vocabularies are named that every machine can get."""
MOST_HEX = 500
"""Bytes of an input that a command has room for."""
INPUT_SHOWN = 24
"""Bytes of an input that a table shows."""


@dataclass(frozen=True, slots=True, eq=False)
class DefectView:
    """A defect as a row of a table. worst: the place of its severity; page: whether it has one.

    input: the smallest, as a literal, shortened.
    """

    defect: Defect
    title: str
    severity: str
    worst: int
    state: str
    age: str
    page: bool
    input: str


@dataclass(frozen=True, slots=True, eq=False)
class LibraryView:
    """A library as a row of a table. growth: its worst, with the exponent and the family."""

    library: Library
    worst: DefectView | None
    expected: int
    unexpected: int
    growth: GrowthRow | None


def defect_views(project: Project, pages: int) -> dict[str, DefectView]:
    """The defects by id, in their order; the first ``pages`` of them have pages."""
    return {
        one.id: _view(one, project.latest, page=place < pages)
        for place, one in enumerate(project.defects)
    }


def _view(defect: Defect, latest: datetime.datetime | None, *, page: bool) -> DefectView:
    bucket = bucket_of(defect)
    word = severity(bucket.example) if bucket else ""
    return DefectView(
        defect=defect,
        title=spoken(bucket.example) if bucket else f"{listed(defect.libraries)}: {defect.bucket}",
        severity=word,
        worst=SEVERITIES.index(word) if word else len(SEVERITIES),
        state={LIVE: "live", FIXED: "fixed"}.get(defect.state, "unseen"),
        age=age(defect, latest),
        page=page,
        input=_input(bucket),
    )


def _input(bucket: Bucket | None) -> str:
    if bucket is None:
        return ""
    shown = literal(base64.b64decode(bucket.example.input_b64), INPUT_SHOWN)
    return f"{shown.code}…" if shown.missing else shown.code


def age(defect: Defect, latest: datetime.datetime | None) -> str:
    """How long a defect is known, or was until it was fixed."""
    until = defect.fixed_at or latest or defect.last
    days = (until - defect.first).days
    return "new" if not days and not defect.fixed_at else f"{days:,} day{'' if days == 1 else 's'}"


def bucket_of(defect: Defect) -> Bucket | None:
    """The defect as a bucket of a run, of which reports have cards."""
    record = record_of(defect)
    return record.buckets[0] if record else None


def record_of(
    defect: Defect, runs: Mapping[str, RunRow] | None = None, script: str | None = None
) -> RunRecord | None:
    """A record of the defect alone. runs: for the versions. script: the file beside its page."""
    detail = defect.detail
    if detail is None:
        return None
    run = (runs or {}).get(detail.run)
    began = Started(
        time=run.when.isoformat() if run else "",
        seed=run.seed if run else 0,
        suite=run.suite if run else "",
        budget=run.budget if run else "",
        command="",
        versions=dict(run.versions) if run else {},
        machine="",
    )
    found = replace(detail.found, reproducer=script)
    return RunRecord.from_events([began, found, Counted(found.bucket, defect.count)])


def command(defect: Defect, source: str) -> str:
    """A command that asks again on any machine; nothing where it would need a file of the run's.

    source: the text by which the vocabulary was given.
    """
    detail = defect.detail
    if detail is None or detail.found.check != "equivalence" or len(detail.found.partition) < 2:
        return ""
    found = detail.found
    names = [found.groups[0].implementations[0], *found.culprits[:1]]
    everywhere = source in embedded() or source.startswith(ANYWHERE)
    data = base64.b64decode(found.input_b64)
    if not everywhere or not set(names) <= set(registered()) or len(data) > MOST_HEX:
        return ""
    words = ["tokgate", "minimize", "--vocab", source]
    words += [word for name in dict.fromkeys(names) for word in ("--impl", name)]
    return shlex.join([*words, "--hex", data.hex()])


def card_of(
    defect: Defect, runs: Mapping[str, RunRow], script: str | None, source: str
) -> Card | None:
    """The card of a defect, open, with a command that needs no folder of a run."""
    record = record_of(defect, runs, script)
    if record is None:
        return None
    made = card(1, record.buckets[0], ROOMY, record, None, unfolded=True)
    return replace(made, replay=command(defect, source))


def library_view(library: Library, views: Mapping[str, DefectView]) -> LibraryView:
    """The row of a library."""
    live = [views[one.id] for one in library.live]
    known = {verdict: place for place, verdict in enumerate(GROWTH_ORDER)}
    return LibraryView(
        library=library,
        worst=min(live, key=lambda one: (one.defect.expected, one.worst), default=None),
        expected=sum(one.defect.expected for one in live),
        unexpected=sum(not one.defect.expected for one in live),
        growth=min(
            library.growth,
            key=lambda row: (known.get(row.verdict, len(known)), -(row.exponent or 0.0)),
            default=None,
        ),
    )


def disagreements(history: History) -> dict[str, Trend]:
    """Of each library that is compared with others, how often it is wrong, over all runs."""
    when = {run.id: run for run in history.runs}
    sums: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
    for tally in history.tallies:
        if tally.compared and tally.run in when:
            one = sums[tally.library][tally.run]
            one[0] += tally.wrong
            one[1] += tally.compared
    return {
        name: Trend(
            f"{name}: wrong in a million comparisons",
            "in a million",
            [
                (when[run].when, when[run].versions.get(name, ""), wrong / compared * PER)
                for run, (wrong, compared) in by_run.items()
            ],
        )
        for name, by_run in sums.items()
    }


def speed(row: GrowthRow) -> str:
    """The time at the largest size that was measured, with the rate: ``1.2 ms, 45 MB/s``."""
    if not row.seconds or not row.bytes:
        return ""
    return f"{duration(row.seconds)}, {row.bytes / row.seconds / 1e6:.3g} MB/s"


def counted(number: int) -> str:
    """A number of cases for a badge: ``980``, ``41.3 k``, ``1.2 M``."""
    for unit, name in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if number >= unit:
            whole = number / unit
            return f"{whole:.0f} {name}" if whole >= 100 else f"{whole:.1f} {name}"
    return str(number)


def news(views: Sequence[DefectView]) -> list[tuple[str, datetime.datetime, DefectView]]:
    """What is new and what is fixed, the latest first; what is expected is no news."""
    news_items = [("new", one.defect.first, one) for one in views if not one.defect.expected]
    news_items += [
        ("fixed", one.defect.fixed_at, one)
        for one in views
        if one.defect.fixed_at is not None and not one.defect.expected
    ]
    return sorted(news_items, key=lambda item: (item[1], item[0], item[2].defect.id), reverse=True)
