"""The findings of a run in its page: an index, or kinds, that lead to cards; and filters."""

from __future__ import annotations

import base64
from collections import Counter
from typing import TYPE_CHECKING

from reports.blocks import Cell, Details, Filters, Paragraph, Row, Section, Span, Table, numbers
from reports.blocks.units import plural
from reports.cards import ROOMY, TIGHT, TIGHT_FROM, badge, card
from reports.histories import history_of
from reports.severity import SEVERITIES, severity
from reports.text import literal
from reports.words import heading, headline, spoken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reports.blocks import Block, Inline
    from reports.histories import FindingHistory
    from reports.record import Bucket, RunRecord

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
EACH_TURN = 10
"""Buckets of one kind that get a card before the next kind has its turn."""
CHOICES = {
    "state": "State",
    "severity": "Severity",
    "check": "Check",
    "who": "Implementation",
    "vocabulary": "Vocabulary",
}
"""What cards can be chosen by."""


def chosen(buckets: Sequence[Bucket], most: int) -> list[Bucket]:
    """At most so many buckets, in their order: :data:`EACH_TURN` of each kind by turns."""
    if len(buckets) <= most:
        return list(buckets)
    turns: Counter[tuple[str, str]] = Counter()
    ranked = []
    for place, bucket in enumerate(buckets):
        turns[_kind(bucket)] += 1
        ranked.append((turns[_kind(bucket)] // EACH_TURN, place))
    return [buckets[place] for place in sorted(place for _, place in sorted(ranked)[:most])]


def section(
    record: RunRecord,
    carded: Sequence[Bucket],
    folder: Path | None,
    known: Mapping[str, FindingHistory],
) -> Section:
    """All findings. carded: those with a card; folder, known: as a card has them."""
    buckets = record.buckets
    budget = ROOMY if len(buckets) < TIGHT_FROM else TIGHT
    cards = {
        one.name: card(
            one, budget, record, folder,
            unfolded=len(buckets) <= OPEN_CARDS,
            history=history_of((found.id for found in one.findings), known),
        )
        for one in carded
    }  # fmt: skip
    many = len(buckets) >= INDEX_FROM
    blocks: list[Block] = []
    if not cards:
        cut = "" if record.complete else ", until the run was cut off"
        judged = f"No check was violated in {plural(record.cases, 'case')}{cut}."
        blocks.append(Paragraph(judged if record.cases else "No case was judged.", "empty"))
    if INDEX_FROM <= len(buckets) < KINDS_FROM:
        blocks.append(_index(carded))
    blocks += _kinds(buckets, cards) if len(buckets) >= KINDS_FROM else cards.values()
    values = {
        key: sorted({one for each in cards.values() for one in each.data[key].split("\n")})
        for key in CHOICES
    }
    choices = [(key, CHOICES[key], found) for key, found in values.items() if len(found) > 1]
    filters = Filters(choices if many else [], text=many)
    return Section("Findings", blocks, "findings", beside=[filters] if cards else [])


def _index(carded: Sequence[Bucket]) -> Table:
    rows = []
    for number, one in enumerate(carded, start=1):
        example = one.example
        word = severity(example)
        link = Span(spoken(example), href=f"#{example.id}")
        cells: list[Inline | Cell] = [
            number, link, Cell(word, sort=SEVERITIES.index(word)), _short(one, 24),
            example.contract, badge(one.state), one.count,
        ]  # fmt: skip
        rows.append(Row(cells, of=example.id))
    (place, seen) = numbers("#", "Seen")
    return Table(
        "Index of findings",
        (place, "What", "Severity", "Smallest input", "Where", "State", seen), rows,
        "Findings by cause, unexpected first", "index", header=1,
    )  # fmt: skip


def _short(bucket: Bucket, most: int) -> Span:
    """The beginning of its smallest input."""
    shown = literal(base64.b64decode(bucket.example.input_b64), max(most, 60))
    cut = shown.missing or len(shown.code) > max(most, 60)
    return Span(shown.code[:most] + "…" * bool(cut or len(shown.code) > most), "literal")


def _kind(bucket: Bucket) -> tuple[str, str]:
    """What is said of a bucket's state and implementations: what differs in the rest is alike."""
    return bucket.state, heading(bucket.example)


def _kinds(buckets: Sequence[Bucket], cards: Mapping[str, Details]) -> Iterator[Block]:
    """All buckets by kind, in their order, with the cards that there are."""
    alike: dict[tuple[str, str], list[Bucket]] = {}
    for bucket in buckets:
        alike.setdefault(_kind(bucket), []).append(bucket)
    lines = MAX_LINES
    for (state, name), members in alike.items():
        inside: list[Block] = [cards[b.name] for b in members if b.name in cards]
        rest = [b for b in members if b.name not in cards]
        if len(members) == len(inside) == 1:
            yield from inside
            continue
        rows: list[list[Inline]] = [
            [headline(b), _short(b, 60), b.example.contract, b.count] for b in rest[:lines]
        ]
        if rows:
            further = plural(len(rest), "further finding")
            said = f"{further}, in full in summary.json and under findings/"
            columns = ("What", "Smallest input", "Where", numbers("Seen")[0])
            inside.append(Table(f"More of: {name}", columns, rows, said))
        if hidden := len(rest) - len(rows):
            are = "is" if hidden == 1 else "are"
            line = f"{plural(hidden, 'finding')} more {are} in summary.json only."
            inside.append(Paragraph(line, "quiet"))
        lines -= len(rows)
        seen = f"seen {sum(b.count for b in members):,}×"
        meta: list[Inline] = [
            badge(state),
            plural(len(members), "finding"),
            seen,
            _short(members[0], 60),
        ]
        yield Details(name, inside, f"kind-of {state}", open=len(alike) == 1, meta=meta)
    if len(cards) < len(buckets):
        shown = f"{len(cards):,} of {plural(len(buckets), 'finding')} are shown in full"
        yield Paragraph(
            f"{shown}, the worst of each kind first; all of them are in summary.json.", "quiet"
        )
