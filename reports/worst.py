"""What a search for the worst input has found: ``worst.html``, and what is printed of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from harness.events import Event
from harness.studies.worst.results import Entry, Report
from reports import cluster
from reports.blocks import (
    Banner,
    Cell,
    Cells,
    Code,
    Details,
    Figure,
    Page,
    Paragraph,
    Plot,
    Section,
    Series,
    Span,
    Table,
)
from reports.blocks.units import exponent, plural, rate, size, usable
from reports.growth import race

PEERS = 2
"""Listed families drawn behind what was found, besides the control."""

LISTED = 3
"""Listed families that are not folded."""

COSTS = (
    "Costs are CPU time of the worker's process, the least of several fresh inputs, all kinds in "
    "turn in every round. In a line of Python "
)

DRAWN = (
    "Time by size of all of them; dashed: the worst listed families, and prose. Point at a line or "
    "its name."
)

COLUMNS = "ns/byte: | × prose: | Exponent"


def title(report: Report) -> str:
    """``tiktoken 0.14.0 on tekken_240911``."""
    return f"{report.implementation} {report.version} on {report.vocabulary}"


def verdict(report: Report) -> str:
    """What was found, held against what was known: one sentence."""
    found = max((row.a_byte for row in report.found if row.a_byte), default=None)
    known = max(report.listed, key=lambda row: row.a_byte or 0.0, default=None)
    died = sum(row.length is not None for row in report.found)
    deaths = f"{plural(died, 'way')} to crash it" if died else ""
    if not report.complete:
        said = "interrupted before the results were compared with the listed families"
    elif not report.compared:
        said = "there was no time to compare the results with the listed families"
    elif found is None or known is None or not known.a_byte:
        return deaths or f"nothing stood out in {report.readings:,} inputs"
    else:
        told = "did not start from" if known.name in report.withheld else "started from"
        said = (
            f"the worst input found costs {found / known.a_byte:.2f} times the worst listed "
            f"family ({known.name}, which it {told}) at {size(report.size)}"
        )
    return f"{said}; {deaths}" if deaths else said


def how(report: Report) -> str:
    """How far the search got, and how often what was found was measured beside what is listed."""
    places = "" if report.guided is None else f", {report.guided} places in its source"
    ended = f"; ended early: {report.ended}" if report.ended else ""
    rounds = plural(report.compared, "round") if report.compared else "no whole round"
    return (
        f"{report.readings:,} inputs in {report.seconds:.0f} s, {report.generations:,} "
        f"generations, {report.kinds} kinds of pattern kept{places}, seed {report.seed}{ended}; "
        f"measured in {rounds} up to twice {size(report.size)}"
    )


def page(report: Report, events: Collection[Event]) -> Page:
    """``worst.html``. events: of a cluster that it used."""
    said, left = verdict(report), f"{report.implementation} {report.left}." if report.left else ""
    added = ("Added to ", Span(report.families, "code"), ".") if report.families else None
    again = Code(report.command, "the command that repeats this search")
    blocks = [
        Banner(
            f"The worst inputs of {title(report)}",
            f"{said[:1].upper()}{said[1:]}.",
            blocks=[Paragraph(left, "bad"), Paragraph(f"{how(report)}.", "quiet")],
            stamp="Not searched to the end." * (not report.complete),
        ),
        _found(report),
        *(_pattern(number, row) for number, row in enumerate(report.found, 1)),
        _listed(report),
        Section("This search", [again, Paragraph(added)], "search", page=True),
        *cluster.sections(events, page=True),
    ]
    return Page(f"tokgate: worst inputs of {title(report)}", "worst inputs", blocks, "inputs")


def _pattern(number: int, row: Entry) -> Section:
    died = "" if row.length is None else f"No answer at {row.length:,} bytes: "
    blocks = [Code(row.expression, f"pattern {number}"), Paragraph(died + row.message, "bad")]
    title, tags = f"{number}: {row.kind}", [row.verdict] * bool(row.verdict)
    return Section(title, blocks, f"found-{number}", tags, nav="", style="pattern", level=3)


def _costs(report: Report, row: Entry) -> Cells:
    """Nanoseconds a byte, times those of prose, and the exponent."""
    base = report.control.a_byte if report.control else None
    grown = exponent(row.exponent, row.low, row.high)
    return [
        f"{row.a_byte or 0:,.0f}" if row.length is None else Cell("no answer", "bad", "9e99"),
        rate(row.a_byte / base) if row.a_byte and base else "",
        Cell((Span(row.verdict, f"tally {row.verdict}"), grown), sort=row.exponent or -1.0),
    ]


def _found(report: Report) -> Section:
    """What was found, with a plot of all of it."""
    until = "" if report.complete else ", until the search was broken off"
    rows = [
        (
            Span(f"{number}: {row.kind}", href=f"#found-{number}"), *_costs(report, row),
            f"{row.memory:,.0f} B" if row.memory else None, row.origin,
        )
        for number, row in enumerate(report.found, 1)
    ]  # fmt: skip
    table = Table(
        "Inputs that were found",
        f"Pattern | {COLUMNS} | Memory a byte: | (Origin)",
        rows,
        f"The worst first; costs at {size(report.size)}",
        empty=f"Nothing stood out in {plural(report.readings, 'input')}{until}.",
    )
    note = (COSTS, Span("n", "code"), " is the size in bytes, with ", Span("random", "code"),
            " imported.")  # fmt: skip
    drawn = [Figure(DRAWN, [plot])] if (plot := overlay(report)) else []
    blocks = [Paragraph(note, "quiet"), table, *drawn]
    return Section("What was found", blocks, "found", nav="Found")


def _listed(report: Report) -> Section:
    """The listed families, the worst first, and prose."""

    def table(label: str, entries: Sequence[Entry]) -> Table:
        rows = [
            (
                row.name, *_costs(report, row),
                "no, withheld" if row.name in report.withheld else "yes", row.origin,
            )
            for row in entries
        ]  # fmt: skip
        columns = f"Family | {COLUMNS} | Told to the search | (Reason)"
        return Table(label, columns, rows, f"At {size(report.size)}, measured in the same rounds")

    shown = [*report.listed[:LISTED], *_control(report)]
    worst = table("The worst listed families", shown)
    every = Details("All listed families", [table("Listed families", report.listed)])
    title = "Listed families, the worst of them"
    return Section(title, [worst, every], "listed", nav="Listed families")


def overlay(report: Report) -> Plot | None:
    """All that was found in one plot, by number; dashed behind it, the worst listed, and prose."""
    lines = [(f"{number}: {row.kind}", row, False) for number, row in enumerate(report.found, 1)]
    lines += [(row.name, row, True) for row in (*report.listed[:PEERS], *_control(report))]
    series = [
        Series(name, points, place, dash=dash)
        for place, (name, row, dash) in enumerate(lines)
        if (points := usable(row.points))
    ]
    if all(one.dash for one in series):
        return None
    return race(f"{len(series)} inputs of {title(report)}", series)


def _control(report: Report) -> list[Entry]:
    return [report.control] if report.control else []
