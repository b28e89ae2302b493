"""``report.html``: the record as one self-contained page that needs no network.

Everything that comes from a run is escaped twice over: by Jinja against HTML, and by
:func:`reports.text.printable` against characters that hide or reorder what stands beside them.
A content security policy in the page forbids it to load anything.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from reports import campaigns, cluster, forced, texts, trends
from reports.blocks.html import assets, environment
from reports.candidates import candidates
from reports.cards import ROOMY, TIGHT, TIGHT_FROM, Card, card, chosen, kinds
from reports.grids import matrices
from reports.histories import history_of
from reports.record import FAILING_EXPECTATIONS, RunRecord, Verdict
from reports.scaling import growth, worst
from reports.severity import SEVERITIES
from reports.standings import standings
from reports.words import growth_left_out, plural, reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from harness.events import ExpectationJudged, Started
    from reports.histories import FindingHistory
    from reports.trends import Trend

MAX_CARDS = 300
"""Buckets that get a card; those beyond are a line each, or the page grows too large."""
MAX_LINES = 1_000
"""Buckets without a card that are listed at all; those beyond are counted."""
OPEN_CARDS = 6
"""Up to so many buckets all cards start open; beyond, the index leads to them."""
INDEX_FROM = 4
"""Buckets from which on an index is worth its room."""
KINDS_FROM = 12
"""Buckets from which on they are folded by kind, which is their index, too."""

_VERDICTS = {
    Verdict.PASS: ("PASSED", "✓"),
    Verdict.FAIL: ("FAILED", "✗"),
    Verdict.NOT_EXAMINED: ("NOT EXAMINED", "?"),
    Verdict.INCOMPLETE: ("INCOMPLETE", "!"),
}


def render(
    record: RunRecord,
    series: Sequence[Trend] = (),
    folder: Path | None = None,
    known: Mapping[str, FindingHistory] | None = None,
) -> str:
    """The page for a record, to be written in UTF-8.

    series: of all runs, for trends. folder: that of the run, absolute, which commands name; without
    it they are to be run in it. known: since when findings are, by their ids.
    """
    heading, icon = _VERDICTS[record.verdict]
    cards = _cards(record, folder, known or {})
    many = len(record.buckets) >= KINDS_FROM
    anchors = {c.bucket.name: (c.anchor, str(c.number)) for c in cards}
    grids = growth(record)
    parts = {
        "campaign": campaigns.sections(record.campaign),
        "texts": texts.sections(record.texts),
        "trends": trends.sections(series),
        "forced": forced.sections(record),
        "cluster": cluster.sections(record.cluster),
    }
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            record=record,
            started=record.started,
            again=_again(record.started, folder),
            finished=record.finished,
            verdict=record.verdict.value,
            heading=heading,
            icon=icon,
            reason=reason(record),
            reasons=_further(record),
            cards=cards,
            kinds=kinds(record.buckets, cards, MAX_LINES) if many else [],
            uncarded=len(record.buckets) - len(cards),
            **_expectations(record),
            index=not many and len(record.buckets) >= INDEX_FROM,
            matrices=matrices(record, anchors),
            standings=standings(record, anchors),
            severities=SEVERITIES,
            choices=_choices(cards),
            growth=grids,
            candidates=candidates(record),
            worst=worst(record.measured),
            left_out=growth_left_out(record),
            **parts,
            **assets(plots=bool(grids or parts["trends"] or parts["campaign"])),
        )
    )


def _again(started: Started | None, folder: Path | None) -> str:
    """The command that repeats a run, from the folder in which it was started."""
    if started is None:
        return ""
    there = f"cd {shlex.quote(started.folder)} && " if folder and started.folder else ""
    return there + started.command


def _further(record: RunRecord) -> list[str]:
    """What the run said of its verdict, but for what the sentence before and the findings say."""
    said = record.finished.reasons if record.finished else []
    counted = plural(len(record.unexpected), "unexpected finding")
    return [line for line in said if not line.startswith(counted) and line != reason(record)]


def _expectations(record: RunRecord) -> dict[str, list[ExpectationJudged]]:
    """The entries by what a reader does about them; those of who takes no part are left out."""
    present = set(record.implementations)
    about = [e for e in record.expectations if present.issuperset(e.implementations)]
    failing = [e for e in record.expectations if e.status in FAILING_EXPECTATIONS]
    return {
        "expectations": [*failing, *(e for e in about if e not in failing)],
        "failing": failing,
        "shown": [e for e in about if e.status == "shown"],
        "idle": [e for e in about if e.status == "not-exercised"],
    }


def _cards(
    record: RunRecord, folder: Path | None, known: Mapping[str, FindingHistory]
) -> list[Card]:
    budget = ROOMY if len(record.buckets) < TIGHT_FROM else TIGHT
    few = len(record.buckets) <= OPEN_CARDS
    return [
        card(
            number,
            bucket,
            budget,
            record,
            folder,
            unfolded=few,
            history=history_of((one.id for one in bucket.findings), known),
        )
        for number, bucket in enumerate(chosen(record.buckets, MAX_CARDS), start=1)
    ]


def _choices(cards: Sequence[Card]) -> list[tuple[str, str, list[str]]]:
    """The filters of findings, as (key, label, values): those that leave a choice."""
    found = [
        ("state", "State", [c.state for c in cards]),
        ("severity", "Severity", [c.severity for c in cards]),
        ("check", "Check", [c.finding.check for c in cards]),
        ("who", "Implementation", [name for c in cards for name in c.finding.culprits]),
        ("vocabulary", "Vocabulary", [f.vocabulary for c in cards for f in c.bucket.findings]),
    ]
    made = [(key, label, sorted(set(values))) for key, label, values in found]
    return [(key, label, values) for key, label, values in made if len(values) > 1]
