"""One row an implementation: how far it agrees, and the worst that is known of it in a run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from corpora.plain_text import one_line
from harness.events import Measured
from harness.ledger.models import Tally, tallies
from reports.blocks import Cell, Cells, Section, Span, Table
from reports.blocks.units import exponent, per_cent
from reports.growth import rank
from reports.record import RunRecord
from reports.studies import bad
from reports.text import clipped
from reports.words import SEVERITIES, severity

Z = 1.959964
"""The quantile of the normal distribution for intervals of 95 %."""

TROUBLE_SHOWN = 600
"""Characters of why somebody was not loaded, or withdrawn."""

COUNTED = ("cases", "compared", "wrong", "deaths", "trusted")
"""What tallies count; trusted: the runs in which it was the reference."""


def sections(record: RunRecord) -> list[Section]:
    """A row for each implementation that was judged, or failed: references first, then by name."""
    trouble = {
        f.implementation: f"failed to start on {f.vocabulary}: {one_line(f.message)}"
        for f in record.failures
    }
    trouble |= {w.implementation: w.line for w in record.withdrawn}
    shown = [name for name in record.implementations if name in record.judged or name in trouble]
    table = Table(
        "Table of implementations",
        f"Implementation | Agreement: | Worst finding |{' Worst growth |' * bool(record.measured)} "
        "Deaths: | Cases judged:",
        [_row(record, name, trouble.get(name, "")) for name in shown],
        "Agreement is the share of comparisons without a violation, with its interval of 95 %",
        "standings",
    )
    return [Section("Implementations", [table], "implementations")] if shown else []


def sums(tallies: Iterable[Tally]) -> Counter[str]:
    """What some tallies come to, by :data:`COUNTED`."""
    every = list(tallies)
    return Counter({kind: sum(getattr(one, kind) for one in every) for kind in COUNTED})


def _row(record: RunRecord, name: str, trouble: str) -> Cells:
    counts = sums(one for one in tallies(record.coverage) if one.implementation == name)
    # The first is to be read first: an unexpected finding, and of these the severest.
    blamed = [b for b in record.buckets if name in b.example.culprits and not b.example.undecided]
    word, href = "", ""
    if blamed:
        word, href = severity(blamed[0].example), record.cards.get(blamed[0].name, "")
    grown = [growth([m for m in record.measured if m.implementation == name])]
    return [
        (
            name,
            Span(f" {record.versions.get(name, '')}", "quiet"),
            (" ", Span("reference", "ref")) if name in record.references else None,
            Span(clipped(trouble, TROUBLE_SHOWN), "quiet trouble") if trouble else None,
        ),
        agreement(counts),
        worst(word, href, [b.expected for b in blamed]),
        *grown * bool(record.measured),
        bad(counts["deaths"]),
        counts["cases"],
    ]


def agreement(counts: Mapping[str, int]) -> Cell:
    """The share of comparisons without a violation, with its interval."""
    if not (compared := counts["compared"]):
        return Cell(Span("not compared", "quiet"), sort=-1)
    right = compared - counts["wrong"]
    low, high = map(per_cent, wilson(right, compared))
    share = Span(per_cent(right / compared), "strong")
    return Cell((share, Span(f" {low} to {high}", "quiet block-line")), sort=right / compared)


def worst(word: str, href: str, expected: Sequence[bool]) -> Cell:
    """The severity of the finding to read first, and how many there are, expected or not."""
    place = [*SEVERITIES, word].index(word)
    if not expected:
        return Cell(Span("none", "quiet"), sort=place)
    known = sum(expected)
    counts = f" {len(expected) - known:,} unexpected, {known:,} expected"
    return Cell((Span(word, href=href), Span(counts, "quiet")), sort=place)


def growth(rows: Sequence[Measured]) -> Cell:
    """The worst growth of an implementation, and on which family."""
    if not rows:
        return Cell(Span("not measured", "quiet"), sort=-1)
    one = min(rows, key=lambda m: (rank(m.verdict), -(m.exponent or 0.0)))
    return Cell((tally(one), Span(f" {one.family}", "quiet")), sort=one.exponent or -1)


def tally(one: Measured) -> Span:
    """A verdict on growth with its exponent."""
    return Span(one.verdict + exponent(one.exponent), f"tally {one.verdict}")


def wilson(hits: int, number: int) -> tuple[float, float]:
    """Wilson's interval of 95 % for a share of ``hits`` among ``number`` (JASA 22, 1927).

    It is (0, 1) where there is none.
    """
    if not number:
        return 0.0, 1.0
    p, z2 = hits / number, Z * Z / number
    middle, reach = p + z2 / 2, math.sqrt(z2 * (p * (1 - p) + z2 / 4))
    # Exactly 0 or 1 where it is, whatever is rounded on the way.
    low = (middle - reach) / (1 + z2) if hits else 0.0
    return low, (middle + reach) / (1 + z2) if hits < number else 1.0
