"""Growth in the reports: which measure decides, which cells get a plot, the worst timings."""

from __future__ import annotations

import math
import re

import pytest

from harness.events import GrowthJudged, Measured
from reports import growth, html
from reports.blocks import Details, Figure, Plot, Popover, Row, Span, Table, markdown, walk
from reports.blocks.html import drawn
from reports.blocks.units import duration
from reports.growth import deciding, time_at, worst
from reports.growth_plots import fit, loglog
from reports.record import RunRecord
from tests.reports import records
from tests.reports.records import cell


def grid_of(*events: Measured | GrowthJudged) -> tuple[list[Span], list[Popover], list[Figure]]:
    """The fields of the grid's first row, what they open, and the plots of families."""
    [section] = growth.sections(RunRecord.from_events(events))
    [grid] = [one for one in section.blocks if isinstance(one, Details)]
    table = grid.blocks[0]
    assert isinstance(table, Table)
    [row] = table.rows
    assert not isinstance(row, Row)
    boxes = [one for one in section.blocks if isinstance(one, Popover)]
    figures = [one for one in walk(grid.blocks) if isinstance(one, Figure)]
    return [one for one in row if isinstance(one, Span)], boxes, figures


@pytest.mark.parametrize(
    ("time", "steps", "shown"),
    [
        ("linear", None, "linear"),
        ("inconclusive", "linear", "linear"),
        ("linear", "superlinear", "superlinear"),
        ("superlinear", "linear", "superlinear"),
        ("inconclusive", "inconclusive", "inconclusive"),
        ("failed", "linear", "failed"),
    ],
)
def test_an_exact_measure_settles_a_doubt_and_nothing_hides_a_fault(
    time: str, steps: str | None, shown: str
) -> None:
    events = [cell("a", "v", "f", 1.0, time)]
    if steps:
        events.insert(0, cell("a", "v", "f", 1.0, steps, measure="steps"))
    assert deciding(events).verdict == shown
    [field], [box], _ = grid_of(*events)
    assert field.style == f"cell {shown}"
    readings = [markdown.inline(one.text) for one in box.blocks[: len(events)]]  # type: ignore[union-attr]
    measures = ["time", "steps"] if steps else ["time"]
    assert [one.partition(":")[0] for one in readings] == measures


def test_the_bound_and_its_outcome_are_shown() -> None:
    judged = GrowthJudged("a", "v", "f", "time", "n log n", "fail", "ours")
    [field], [box], _ = grid_of(cell("a", "v", "f", 1.9, "superlinear"), judged)
    assert field.style.endswith(" broken")
    assert "bound n log n: fail" in markdown.render(box.blocks[:1])
    [field], _, _ = grid_of(cell("a", "v", "f", 1.9, "superlinear"))
    assert "broken" not in field.style


def test_the_worst_get_a_plot_of_their_own_and_the_rest_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cells = [
        cell(f"i{i}", "v", "f", 1 + i / 10, "superlinear" if i == 5 else "linear") for i in range(6)
    ]
    plot = loglog(cells[5], cells[:5])
    assert plot is not None
    monkeypatch.setattr(growth, "OWN_PLOTS", len(drawn(plot)) + 10)
    fields, [box], [figure] = grid_of(*cells)
    assert [one.href for one in fields] == ["#growth-0-0"] * 5 + ["#!growth-0-0-5"]
    assert (box.anchor, figure.anchor) == ("growth-0-0-5", "growth-0-0")
    shared = figure.blocks[0]
    assert isinstance(shared, Plot)
    assert len(shared.series) == 6
    monkeypatch.setattr(growth, "SHARED_PLOTS", 10)
    fields, _, figures = grid_of(*cells)
    assert [one.href for one in fields] == [""] * 5 + ["#!growth-0-0-5"]
    assert figures == []


@pytest.mark.thorough  # a night of measurements
def test_a_night_of_measurements_fits_the_page() -> None:
    """8 vocabularies, 14 implementations, 40 families: 4,480 cells."""
    record = RunRecord.from_events(
        [*records.opening(), *records.grown(8, 14), records.finished("fail")]
    )
    page = html.render(record)
    assert len(page.encode()) < 4_000_000
    targets = set(re.findall(r'popovertarget="([^"]+)"', page))
    assert targets == set(re.findall(r'id="([^"]+)" popover ', page))
    assert page.count("✗ 1.98") == 8 * 40


def test_the_fit_goes_through_the_points_with_its_interval_around_it() -> None:
    row = cell("a", "v", "f", 1.5, "superlinear")
    band, middle = fit(row)
    assert band is not None
    low, high = band
    # Narrow at the middle, open at the ends, and the points on the middle line.
    assert [math.isclose(a[1], b[1], rel_tol=1e-9) for a, b in zip(low, high, strict=True)] == (
        [False] * 4 + [True] + [False] * 4
    )
    for (x, y), end in ((middle[0], 0), (middle[-1], -1)):
        inside = [p for p in row.points if p[0] * 16 >= row.points[-1][0]]
        assert math.isclose(x, inside[end][0])
        assert math.isclose(y, inside[end][1], rel_tol=1e-6)
    plot = loglog(row, [])
    assert plot is not None
    assert [one.name for one in plot.series] == ["linear", "fit", "a"]
    nothing = Measured("a", "v", "f", math.nan, None, None, "failed", [[1.0, 1.0]])
    assert fit(nothing) == (None, [])


def points(law: float, last: int, base: float = 1e-8) -> list[list[float]]:
    return [[256.0 * 2**i, base * (256.0 * 2**i) ** law] for i in range(last)]


def test_worst_timings_at_a_size_that_most_have_reached() -> None:
    rows = [
        Measured("fast", "v", f"f{i}", 1.0, 0.9, 1.1, "linear", points(1, 9, 1e-9 * (1 + i)))
        for i in range(9)
    ]
    stopped = Measured("slow", "v", "runs", 2.0, 1.9, 2.1, "superlinear", points(2, 5),
                       expression="b'a' * n")  # fmt: skip
    table, _ = worst([*rows, stopped])
    assert isinstance(table, Table)
    assert table.caption == f"Worst timings on v, inputs of {256 * 2**8:,} bytes"
    (slow, fast) = ([markdown.inline(c.text) for c in cells] for _, cells in table.lines)
    assert slow[:2] == ["slow", "runs superlinear"]
    assert slow[2].endswith("measured to 4 KiB")
    assert slow[2].startswith(f"≈ {duration(1e-8 * 65536.0**2)}")
    assert (fast[0], fast[1], fast[3], fast[4]) == ("fast", "f8", "9 ns", "1.8")
    assert "measured to" not in fast[2]
    assert "b&#39;a&#39; * n" in html.render(RunRecord.from_events([*rows, stopped]))


def test_worst_timings_lie_between_measured_sizes_and_leave_out_other_measures() -> None:
    row = Measured("a", "v", "f", 1.0, 0.9, 1.1, "linear", [[100.0, 1.0], [400.0, 4.0]])
    assert math.isclose(time_at(row, 200), 2.0)
    steps = cell("a", "v", "f", 1.0, "linear", measure="steps")
    assert list(worst([steps])) == []
