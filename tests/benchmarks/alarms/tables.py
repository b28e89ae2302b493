"""The tables of the benchmark of false alarms, from its results alone."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tests.benchmarks.alarms.bounds import upper_bound
from tests.benchmarks.alarms.judging import FINDING, GROWTH, WITHDRAWAL, naming
from tests.benchmarks.alarms.plan import GATES, PLANTED
from tests.benchmarks.alarms.results import Result

Row = dict[str, Any]

ALL = "all"

HELD = 10.0
"""Per cent by which a budget may be overrun."""


def share(count: int, runs: int) -> Row:
    """Return a share of runs with its upper bound of 95 %."""
    return {
        "runs": count,
        "of": runs,
        "share": count / runs if runs else None,
        "at_most": upper_bound(count, runs),
    }


def gates(results: Iterable[Result]) -> list[Row]:
    """Return the rows of the table of gates: by kind and load, by load, cold, and all."""
    taken = [one for one in results if not one.run.planted]
    loads = sorted({one.run.load for one in taken})
    rows = [
        gate_row(kind, load, [one for one in taken if (one.run.kind, one.run.load) == (kind, load)])
        for kind in GATES
        for load in loads
    ]
    rows += [gate_row(ALL, load, [one for one in taken if one.run.load == load]) for load in loads]
    rows.append(gate_row("cold runs", ALL, [one for one in taken if one.run.cold]))
    rows.append(gate_row(ALL, ALL, taken))
    return [row for row in rows if row["runs"]]


def gate_row(kind: str, load: int | str, some: Sequence[Result]) -> Row:
    """Return the row of some gates."""
    row: Row = {"kind": kind, "load": load, "runs": len(some)}
    if not some:
        return row
    row["cold"] = sum(one.run.cold for one in some)
    grown = [one for one in some if one.judged.grown]  # Others say nothing about growth.
    for key, accused, looked_at in (
        ("false_findings", FINDING, some),
        ("false_withdrawals", WITHDRAWAL, some),
        ("wrong_growth", GROWTH, grown),
    ):
        row[key] = share(sum(bool(one.judged.of(accused)) for one in looked_at), len(looked_at))
        row[key]["count"] = sum(len(one.judged.of(accused)) for one in looked_at)
    row["failed"] = share(sum(one.judged.exit_status != 0 for one in some), len(some))
    row["cells"] = sum(one.judged.cells for one in some)
    row["inconclusive"] = sum(one.judged.inconclusive for one in some)
    row["slow_notes"] = sum(one.judged.slow_notes for one in some)
    row["cases_a_second"] = middle(some, lambda one: one.judged.cases_a_second)
    overruns = [one.judged.overrun for one in some if one.judged.overrun is not None]
    row["overrun"] = {
        "median": statistics.median(overruns) if overruns else None,
        "most": max(overruns, default=None),
        "above": sum(overrun > HELD for overrun in overruns),
        "of": len(overruns),
    }
    for key, cold in (("preparing_warm", False), ("preparing_cold", True)):
        row[key] = middle(
            [one for one in some if one.run.cold is cold], lambda one: one.judged.preparing
        )
    return row


def middle(some: Iterable[Result], value: Callable[[Result], float | None]) -> float | None:
    """Return the median of what is known of a value; None where nothing is."""
    known = [number for one in some if (number := value(one)) is not None]
    return statistics.median(known) if known else None


def planted(results: Iterable[Result]) -> list[Row]:
    """Return the rows of the table of planted mistakes: by mistake and load, and by load."""
    taken = [one for one in results if one.run.planted]
    loads = sorted({one.run.load for one in taken})
    rows = [
        planted_row(kind, load, [one for one in taken if one.run.load == load and among(one, kind)])
        for kind in (*PLANTED, ALL)
        for load in loads
    ]
    return [row for row in rows if row["runs"]]


def among(result: Result, kind: str) -> bool:
    """Return whether a result is of a kind, or any where that is :data:`ALL`."""
    return kind in (ALL, result.run.kind)


def planted_row(kind: str, load: int, some: Sequence[Result]) -> Row:
    """Return the row of some runs with a planted mistake; a run may be in several columns."""
    row: Row = {"kind": kind, "load": load, "runs": len(some)}
    if not some:
        return row
    named = [naming(one.judged, one.run.kind) for one in some]
    row["cold"] = sum(one.run.cold for one in some)
    row["right"] = sum(one.right for one in named)
    row["not_right"] = share(len(some) - row["right"], len(some))
    row["wrong"] = sum(bool(one.wrong) for one in named)
    row["missed"] = sum(one.missed for one in named)
    row["starved"] = sum(bool(one.starved) for one in named)
    row["seconds"] = statistics.median(one.judged.seconds for one in some)
    return row


def false(result: Result) -> list[str]:
    """Return a line for each thing that is wrong with a run; none where all is as it should be."""
    if not result.run.planted:
        return [said(one) for one in result.judged.accusations]
    seen = naming(result.judged, result.run.kind)
    lines = [said(one) for one in seen.wrong]
    if seen.missed:
        lines.append("missed: the planted implementation was not named, or never judged")
    if seen.starved:
        counts = result.judged.outcomes
        of = ", ".join(f"{name} {counts[name]:,}" for name in seen.starved)
        lines.append(f"starved: {of} cases, {result.run.kind} {counts[result.run.kind]:,}")
    return lines


def said(accusation: Any) -> str:
    """Return an accusation in one line."""
    blamed = f" blames {', '.join(accusation.blamed)}" if accusation.blamed else ""
    where = f" on {accusation.vocabulary}" if accusation.vocabulary else ""
    message = " ".join(accusation.message.split())
    return f"{accusation.kind} {accusation.about}{where}{blamed}: {message[:300]}"


def markdown(results: Sequence[Result], planned: int, options: str, machine: str) -> str:
    """Return both tables and the list of what is wrong, as Markdown."""
    parts = [
        "# Gates that accuse the innocent",
        f"`python -m tests.benchmarks.false_alarms {options}`: {len(results)} of {planned} runs "
        f"on {machine}. Shares are of runs, with their upper bounds of 95 % (Clopper-Pearson). "
        "A budget is from the first case to the verdict.",
    ]
    if rows := gates(results):
        parts += ["## Gates of what is right", table(GATE_HEADS, map(gate_cells, rows))]
    if rows := planted(results):
        parts += ["## Planted mistakes", table(PLANTED_HEADS, map(planted_cells, rows))]
    lines = [f"- `{one.run.name}` ({one.folder}): {line}" for one in results for line in false(one)]
    if lines:
        parts += ["## What is wrong, run by run", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


GATE_HEADS = (
    "kind",
    "busy processes",
    "runs (cold)",
    "runs with false findings",
    "with false withdrawals",
    "with wrong growth verdicts",
    "failed",
    "inconclusive cells",
    "slow notes",
    "cases a second",
    "overrun: median, most",
    "over 10 %",
    "s to the first case: warm, cold",
)

PLANTED_HEADS = (
    "planted",
    "busy processes",
    "runs (cold)",
    "named rightly",
    "not rightly",
    "wrongly named",
    "missed",
    "starved the others",
    "seconds",
)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown, its columns aligned."""
    cells = [list(heads), *map(list, rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(heads))]
    cells.insert(1, ["-" * width for width in widths])
    lines = (
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )
    return "\n".join(f"| {line} |" for line in lines)


def gate_cells(row: Row) -> list[str]:
    """Return the cells of a row of gates."""
    over = row["overrun"]
    return [
        str(row["kind"]),
        str(row["load"]),
        f"{row['runs']} ({row['cold']})",
        *(counted(row[key]) for key in ("false_findings", "false_withdrawals", "wrong_growth")),
        bounded(row["failed"]),
        f"{row['inconclusive']} of {row['cells']}",
        str(row["slow_notes"]),
        number(row["cases_a_second"], ",.0f"),
        f"{number(over['median'], '+.0f')} %, {number(over['most'], '+.0f')} %",
        f"{over['above']} of {over['of']}",
        f"{number(row['preparing_warm'], '.1f')}, {number(row['preparing_cold'], '.1f')}",
    ]


def planted_cells(row: Row) -> list[str]:
    """Return the cells of a row of planted mistakes."""
    return [
        str(row["kind"]),
        str(row["load"]),
        f"{row['runs']} ({row['cold']})",
        str(row["right"]),
        bounded(row["not_right"]),
        str(row["wrong"]),
        str(row["missed"]),
        str(row["starved"]),
        f"{row['seconds']:.0f}",
    ]


def bounded(one: Row) -> str:
    """Return a share with its bound, in words."""
    if not one["of"]:
        return "-"
    return f"{one['runs']} of {one['of']} (at most {100 * one['at_most']:.1f} %)"


def counted(one: Row) -> str:
    """Return a share with its bound, and how many there were in those runs."""
    return bounded(one) + (f", {one['count']} in all" if one["count"] else "")


def number(value: float | None, form: str) -> str:
    """Return a number, or a dash for none."""
    return "-" if value is None else format(value, form)
