"""Growth in the reports: which measure decides, which cells get a plot, the worst timings."""

from __future__ import annotations

import math
import re

import pytest

from harness.events import GrowthJudged, Measured
from reports import html, scaling
from reports.plots import fit, loglog
from reports.record import RunRecord
from reports.scaling import growth, worst
from tests.reports import records
from tests.reports.drawn import plot_of
from tests.reports.records import cell


def grid_of(*events: Measured | GrowthJudged) -> scaling.GrowthGrid:
    [grid] = growth(RunRecord.from_events(events))
    return grid


def only(*events: Measured | GrowthJudged) -> scaling.Growth:
    [row] = grid_of(*events).rows
    [field] = row.cells
    assert field is not None
    return field


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
    field = only(*events)
    assert field.verdict == shown
    assert [r.measure for r in field.readings] == (["time", "steps"] if steps else ["time"])


def test_the_bound_and_its_outcome_are_shown() -> None:
    judged = GrowthJudged("a", "v", "f", "time", "n log n", "fail", "ours")
    field = only(cell("a", "v", "f", 1.9, "superlinear"), judged)
    assert (field.broken, field.readings[0].bound) == (True, "bound n log n: fail")
    assert not only(cell("a", "v", "f", 1.9, "superlinear")).broken


def test_the_worst_get_a_plot_of_their_own_and_the_rest_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cells = [
        cell(f"i{i}", "v", "f", 1 + i / 10, "superlinear" if i == 5 else "linear") for i in range(6)
    ]
    monkeypatch.setattr(scaling, "OWN_PLOTS", len(loglog(cells[5], cells[:5])) + 10)
    [row] = grid_of(*cells).rows
    boxes = {c.implementation: (c.box, c.target) for c in row.cells if c is not None}
    assert boxes["i5"] == (True, "growth-0-0-5")
    assert {boxes[f"i{i}"] for i in range(5)} == {(False, "growth-0-0")}
    assert len(plot_of(row.plot)["series"]) == 6
    monkeypatch.setattr(scaling, "SHARED_PLOTS", 10)
    [row] = grid_of(*cells).rows
    assert [c.target for c in row.cells if c is not None and not c.box] == [""] * 5


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
    assert [one["name"] for one in plot_of(loglog(row, []))["series"]] == ["linear", "fit", "a"]
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
    [table] = worst([*rows, stopped])
    assert table.size == 256 * 2**8
    slow, fast = table.rows
    assert (slow.implementation, slow.drawn_out, slow.expression) == ("slow", "4 KiB", "b'a' * n")
    assert math.isclose(slow.seconds, 1e-8 * 65536.0**2)
    assert (fast.family, fast.drawn_out, fast.times) == ("f8", "", "1.8")
    assert fast.a_byte == "9 ns"


def test_worst_timings_lie_between_measured_sizes_and_leave_out_other_measures() -> None:
    row = Measured("a", "v", "f", 1.0, 0.9, 1.1, "linear", [[100.0, 1.0], [400.0, 4.0]])
    assert math.isclose(scaling._time_at(row, 200), 2.0)
    steps = cell("a", "v", "f", 1.0, "linear", measure="steps")
    assert worst([steps]) == []
