"""One row an implementation: how far it agrees, and the worst that is known of it in a run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from harness.verdict.coverage import EQUIVALENCE, SURVIVAL
from reports.blocks import Cell, Column, Section, Span, Table, numbers
from reports.severity import SEVERITIES, severity

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from reports.blocks import Inline
    from reports.record import RunRecord

Z = 1.959964
"""The quantile of the normal distribution for intervals of 95 %."""

GROWTH_ORDER = ("failed", "superlinear", "inconclusive", "linear")

TROUBLE_SHOWN = 300
"""Characters of why somebody was not loaded, or withdrawn."""

NONE = len(SEVERITIES)
"""The place of who has no finding, where the table is sorted by the worst."""


def sections(record: RunRecord, carded: Collection[str]) -> list[Section]:
    """A row for each implementation that was judged, or failed: the references first, then by name.

    carded: the names of the buckets that have a card.
    """
    trouble = {f.implementation: f.message.split("\n", 1)[0] for f in record.failures}
    trouble |= {w.implementation: w.line for w in record.withdrawn}
    shown = [name for name in record.implementations if name in record.judged or name in trouble]
    if not shown:
        return []
    table = Table(
        "Table of implementations",
        (
            "Implementation", *numbers("Agreement"), "Worst finding",
            *([Column("Worst growth")] if record.measured else []),
            *numbers("Deaths", "Cases judged"),
        ),
        [_row(record, name, trouble.get(name, ""), carded) for name in shown],
        "Agreement is the share of comparisons without a violation, with its interval of 95 %",
        "standings",
    )  # fmt: skip
    return [Section("Implementations", [table], "implementations")]


def _row(
    record: RunRecord, name: str, trouble: str, carded: Collection[str]
) -> list[Inline | Cell]:
    coverage = record.coverage
    deaths = _of(coverage.at_fault, SURVIVAL, name)
    judged: dict[str, int] = {}
    for (contract, _, who), number in coverage.judged.items():
        if who == name:
            judged[contract] = max(judged.get(contract, 0), number)
    version = record.versions.get(name)
    title = (
        name,
        Span(f" {version}", "quiet") if version else None,
        (" ", Span("reference", "ref")) if name in record.references else None,
        Span(trouble[:TROUBLE_SHOWN], "quiet trouble") if trouble else None,
    )
    compared, wrong = (
        _of(counts, EQUIVALENCE, name) for counts in (coverage.judged, coverage.at_fault)
    )
    return [
        title,
        agreement(compared, wrong),
        _worst(record, name, carded),
        *([_growth(record, name)] if record.measured else []),
        Cell(deaths, "bad" if deaths else ""),
        sum(judged.values()),
    ]


def _of(counts: Mapping[tuple[str, str, str], int], check: str, name: str) -> int:
    """The sum of a check's counts of one implementation over all comparisons."""
    return sum(n for (_, one, who), n in counts.items() if (one, who) == (check, name))


def agreement(compared: int, wrong: int) -> Cell:
    """The share of comparisons without a violation, with its interval."""
    if not compared:
        return Cell(Span("not compared", "quiet"), sort=-1)
    right = compared - min(wrong, compared)
    low, high = map(percentage, wilson(right, compared))
    share = Span(percentage(right / compared), "strong")
    return Cell((share, Span(f" {low} to {high}", "quiet block-line")), sort=right / compared)


def _worst(record: RunRecord, name: str, carded: Collection[str]) -> Cell:
    """Its finding to read first: an unexpected one, and of these the severest."""
    blamed = [b for b in record.buckets if name in b.example.culprits and not b.example.undecided]
    if not blamed:
        return Cell(Span("none", "quiet"), sort=NONE)
    first, unexpected = blamed[0], sum(not b.expected for b in blamed)
    word, expected = severity(first.example), len(blamed) - unexpected
    counts = ((unexpected, "unexpected"), (expected, "expected"))
    said = ", ".join(f"{number:,} {what}" for number, what in counts if number)
    href = f"#{first.example.id}" if first.name in carded else ""
    text = (Span(word, href=href), Span(f" {said}", "quiet"))
    return Cell(text, sort=SEVERITIES.index(word))


def _growth(record: RunRecord, name: str) -> Cell:
    mine = [m for m in record.measured if m.implementation == name]
    if not mine:
        return Cell(Span("not measured", "quiet"), sort=-1)
    known = {verdict: place for place, verdict in enumerate(GROWTH_ORDER)}
    one = min(mine, key=lambda m: (known.get(m.verdict, len(known)), -(m.exponent or 0.0)))
    grown = "" if one.exponent is None else f" {one.exponent:.2f}"
    tally = Span(one.verdict + grown, f"tally {one.verdict}")
    sort = -1 if one.exponent is None else one.exponent
    return Cell((tally, Span(f" {one.family}", "quiet")), sort=sort)


def wilson(hits: int, number: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a share of ``hits`` among ``number`` (JASA 22, 1927).

    It is (0, 1) where there is none.
    """
    if not number:
        return 0.0, 1.0
    p, z2 = hits / number, Z * Z
    middle = (p + z2 / (2 * number)) / (1 + z2 / number)
    reach = Z * math.sqrt(p * (1 - p) / number + z2 / (4 * number * number)) / (1 + z2 / number)
    low = middle - reach if hits else 0.0  # exactly so, whatever is rounded on the way
    return low, middle + reach if hits < number else 1.0


def percentage(value: float) -> str:
    """A share in per cent: as many digits as tell it from 100, and never 100 for less."""
    if value in {0.0, 1.0}:
        return f"{100 * value:.0f} %"
    for digits in (1, 2, 3, 4):
        text = f"{100 * value:.{digits}f}"
        if float(text) < 100:
            return f"{text} %"
    return "99.9999 %"
