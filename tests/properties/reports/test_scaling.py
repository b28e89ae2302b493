"""Growth in the reports: which measure decides, where a field leads, the worst timings."""

import re
import subprocess
import sys

import pytest

from harness.events import GrowthJudged, Measured
from reports import growth, html
from reports.blocks import Details, Figure, Span, Table, markdown, walk
from reports.record import RunRecord
from tests.properties.reports import records
from tests.properties.reports.records import cell


def shown(*events):
    """What is amiss as plain text, the fields of the grid's first row, and the figures."""
    [section] = growth.sections(RunRecord.from_events([records.started(), *events]))
    blocks = list(walk([section]))
    faults = next(one for one in blocks if isinstance(one, Table))
    rows = [[markdown.inline(one.text) for one in cells] for _, cells in faults.lines]
    grid = next(one for one in blocks if isinstance(one, Details)).blocks[0]
    fields = [one for one in grid.rows[0] if isinstance(one, Span)]
    return rows, fields, [one for one in blocks if isinstance(one, Figure)]


def judged(family, outcome, line=""):
    return GrowthJudged("mine", "v", family, "time", "n log n", outcome, "because", line)


@pytest.mark.parametrize(
    ("time", "steps", "told"),
    [
        ("linear", None, "linear"),
        ("inconclusive", "linear", "linear"),
        ("linear", "superlinear", "superlinear"),
        ("superlinear", "linear", "superlinear"),
        ("inconclusive", "inconclusive", "inconclusive"),
        ("failed", "linear", "failed"),
    ],
)
def test_an_exact_measure_settles_a_doubt_and_nothing_hides_a_fault(time, steps, told):
    exact = [cell("a", "v", "f", 1.0, steps, measure="steps")] if steps else []
    events = [*exact, cell("a", "v", "f", 1.0, time)]
    assert growth.deciding(events).verdict == told
    _, [field], _ = shown(*events)
    assert field.style == f"cell {told}"
    assert ("time: " in field.hint, "steps: " in field.hint) == (True, bool(steps))


def test_the_worst_family_comes_first_and_a_broken_bound_is_shown():
    rows, [field], figures = shown(
        cell("mine", "v", "good", 1.0, "linear"),
        judged("good", "pass"),
        cell("mine", "v", "open", 1.4, "inconclusive"),
        judged("open", "inconclusive"),
        cell("mine", "v", "bad", 2.0, "superlinear"),
        judged("bad", "fail", line="exponent 2.00"),
        cell("mine", "w", "free", 2.0, "superlinear"),
    )
    assert rows[0] == ["over its bound", "mine", "bad", "v", "time", "n log n", "exponent 2.00"]
    assert [row[2:6:3] for row in rows[1:]] == [["free", "none"], ["open", "n log n"]]
    captions = [markdown.inline(one.caption).split("**")[1] for one in figures]
    assert captions == ["bad", "open", "good", "free"]
    assert (field.style, "bound n log n: fail" in field.hint) == ("cell superlinear broken", True)
    # The command below a plot writes the largest input.
    command = figures[0].blocks[-1].text.replace("python", sys.executable, 1)
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
    assert done.stdout == b"ab" * (256 * 2**7 // 2)


def test_fields_lead_to_their_family_as_far_as_there_is_room(monkeypatch):
    cells = [
        cell(f"i{i}", "v", "f", 1 + i / 10, "superlinear" if i == 5 else "linear") for i in range(6)
    ]
    _, fields, [figure] = shown(*cells)
    assert ([one.href for one in fields], figure.anchor) == (["#growth-0-0"] * 6, "growth-0-0")
    assert len(figure.blocks[0].series) == 6
    monkeypatch.setattr(growth, "MOST_PLOTS", 0)
    _, fields, figures = shown(*cells)
    assert ({one.href for one in fields}, figures) == ({""}, [])


@pytest.mark.thorough  # a night of measurements
def test_a_night_of_measurements_fits_the_page():
    """8 vocabularies, 14 implementations, 40 families: 4,480 cells."""
    events = [*records.opening(), *records.grown(8, 14), records.finished("fail")]
    page = html.render(RunRecord.from_events(events))
    assert len(page.encode()) < 4_000_000
    targets = set(re.findall(r'href="#(growth-[^"]+)"', page))
    assert targets == set(re.findall(r'<figure id="([^"]+)"', page)) != set()
    assert page.count("✗ 1.98") == 8 * 40


def test_worst_timings_are_by_what_a_byte_costs_in_the_end():
    def points(law, number, base):
        return [[256.0 * 2**i, base * (256.0 * 2**i) ** law] for i in range(number)]

    rows = [
        Measured("fast", "v", f"f{i}", 1.0, 0.9, 1.1, "linear", points(1, 9, 1e-9 * (1 + i)))
        for i in range(9)
    ]
    told = {"expression": "b'a' * n"}
    stopped = Measured(
        "slow", "v", "runs", 2.0, 1.9, 2.1, "superlinear", points(2, 5, 1e-8), **told
    )
    steps = cell("a", "v", "f", 1.0, "linear", measure="steps")
    [table] = growth.worst([*rows, stopped, steps])
    slow, fast = ([markdown.inline(c.text) for c in cells] for _, cells in table.lines)
    assert slow[:3] == ["slow", "runs superlinear", "4 KiB"]
    assert table.rows[0][-1].blocks[0].text == told["expression"]
    assert (fast[0], fast[1], fast[4], fast[5]) == ("fast", "f8", "9 ns", "1.8")
