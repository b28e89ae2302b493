"""Growth in the reports: which measure decides, where a field leads, the worst timings."""

import re
import subprocess
import sys

import pytest

from harness.events import GrowthJudged, Measured
from reports import growth, html
from reports.blocks import Details, Figure, Row, Span, Table, markdown, walk
from reports.growth import deciding, worst
from reports.record import RunRecord
from tests.reports import records
from tests.reports.records import cell


def grid_of(*events):
    """The fields of the grid's first row, and the plots that they lead to."""
    [section] = growth.sections(RunRecord.from_events(events))
    grid = next(one for one in walk([section]) if isinstance(one, Details))
    table = grid.blocks[0]
    [row] = table.rows
    assert not isinstance(row, Row)
    figures = [one for one in walk(grid.blocks) if isinstance(one, Figure)]
    return [one for one in row if isinstance(one, Span)], figures


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
def test_an_exact_measure_settles_a_doubt_and_nothing_hides_a_fault(time, steps, shown):
    events = [cell("a", "v", "f", 1.0, time)]
    if steps:
        events.insert(0, cell("a", "v", "f", 1.0, steps, measure="steps"))
    assert deciding(events).verdict == shown
    [field], _ = grid_of(*events)
    assert field.style == f"cell {shown}"
    assert [name for name in ("time", "steps") if f"{name}: " in field.hint] == (
        ["time", "steps"] if steps else ["time"]
    )


def test_the_bound_and_its_outcome_are_shown():
    judged = GrowthJudged("a", "v", "f", "time", "n log n", "fail", "ours")
    [field], _ = grid_of(cell("a", "v", "f", 1.9, "superlinear"), judged)
    assert field.style.endswith(" broken")
    assert "bound n log n: fail" in field.hint
    [field], _ = grid_of(cell("a", "v", "f", 1.9, "superlinear"))
    assert "broken" not in field.style


def test_fields_lead_to_their_family_as_far_as_there_is_room(
    monkeypatch,
):
    cells = [
        cell(f"i{i}", "v", "f", 1 + i / 10, "superlinear" if i == 5 else "linear") for i in range(6)
    ]
    fields, [figure] = grid_of(*cells)
    assert ([one.href for one in fields], figure.anchor) == (["#growth-0-0"] * 6, "growth-0-0")
    plot = figure.blocks[0]
    assert len(plot.series) == 6
    monkeypatch.setattr(growth, "MOST_PLOTS", 0)
    fields, figures = grid_of(*cells)
    assert ({one.href for one in fields}, figures) == ({""}, [])


@pytest.mark.thorough  # a night of measurements
def test_a_night_of_measurements_fits_the_page():
    """8 vocabularies, 14 implementations, 40 families: 4,480 cells."""
    record = RunRecord.from_events(
        [*records.opening(), *records.grown(8, 14), records.finished("fail")]
    )
    page = html.render(record)
    assert len(page.encode()) < 4_000_000
    targets = set(re.findall(r'href="#(growth-[^"]+)"', page))
    assert targets == set(re.findall(r'<figure id="([^"]+)"', page))
    assert targets
    assert page.count("✗ 1.98") == 8 * 40


def points(law, last, base=1e-8):
    return [[256.0 * 2**i, base * (256.0 * 2**i) ** law] for i in range(last)]


def test_worst_timings_are_by_what_a_byte_costs_in_the_end():
    rows = [
        Measured("fast", "v", f"f{i}", 1.0, 0.9, 1.1, "linear", points(1, 9, 1e-9 * (1 + i)))
        for i in range(9)
    ]
    stopped = Measured("slow", "v", "runs", 2.0, 1.9, 2.1, "superlinear", points(2, 5),
                       expression="b'a' * n")  # fmt: skip
    steps = cell("a", "v", "f", 1.0, "linear", measure="steps")
    [table] = worst([*rows, stopped, steps])
    (slow, fast) = ([markdown.inline(c.text) for c in cells] for _, cells in table.lines)
    assert slow[:3] == ["slow", "runs superlinear", "4 KiB"]
    assert (fast[0], fast[1], fast[4], fast[5]) == ("fast", "f8", "9 ns", "1.8")
    assert "b&#39;a&#39; * n" in html.render(RunRecord.from_events([*rows, stopped]))


def judged(family, outcome, name="mine", line=""):
    return GrowthJudged(name, "v", family, "time", "n log n", outcome, "because", line)


def faults_of(*events):
    """The rows of what is amiss, and the plots."""
    [section] = growth.sections(RunRecord.from_events([records.started(), *events]))
    blocks = list(walk([section]))
    faults = next(one for one in blocks if isinstance(one, Table))
    rows = [[markdown.inline(one.text) for one in cells] for _, cells in faults.lines]
    return rows, [one for one in blocks if isinstance(one, Figure)]


def test_the_worst_family_comes_first():
    rows, figures = faults_of(
        cell("mine", "v", "good", 1.0, "linear"),
        judged("good", "pass"),
        cell("mine", "v", "open", 1.4, "inconclusive"),
        judged("open", "inconclusive"),
        cell("mine", "v", "bad", 2.0, "superlinear"),
        judged("bad", "fail", line="exponent 2.00"),
    )
    assert [row[2] for row in rows] == ["bad", "open"]
    assert rows[0] == ["over its bound", "mine", "bad", "v", "time", "n log n", "exponent 2.00"]
    names = [markdown.inline(one.caption).split("**")[1] for one in figures]
    assert names == ["bad", "open", "good"]


def test_the_command_writes_the_largest_input():
    _, [figure] = faults_of(cell("mine", "v", "f", 2.0, "superlinear"), judged("f", "fail"))
    code = figure.blocks[-1]
    command = code.text.replace("python", sys.executable, 1)
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
    size = int(cell("mine", "v", "f", 2.0, "superlinear").points[-1][0])
    assert done.stdout == b"ab" * (size // 2)
