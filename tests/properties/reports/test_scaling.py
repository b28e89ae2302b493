"""Growth in the reports: which measure decides, where a field leads, the worst timings."""

import re
import subprocess
import sys

import pytest

from harness.events import GrowthJudged
from reports import growth, html
from reports.blocks import Details, Figure, Span, Table, markdown, walk
from reports.record import RunRecord
from tests.doubles.tables import rows
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


MEASURES = """
linear       |              | linear
inconclusive | linear       | linear
linear       | superlinear  | superlinear
superlinear  | linear       | superlinear
inconclusive | inconclusive | inconclusive
failed       | linear       | failed
"""
"""What time comes to, what steps do, if they were counted, and what is told."""


@pytest.mark.parametrize(("time", "steps", "told"), rows(MEASURES))
def test_an_exact_measure_settles_a_doubt_and_nothing_hides_a_fault(time, steps, told):
    exact = [cell("a", "v", "f", 1.0, steps, measure="steps")] if steps else []
    events = [*exact, cell("a", "v", "f", 1.0, time)]
    assert growth.deciding(events).verdict == told
    _, [field], _ = shown(*events)
    assert field.style == f"cell {told}"
    assert ("time: " in field.hint, "steps: " in field.hint) == (True, bool(steps))


def test_the_worst_family_comes_first_and_a_broken_bound_is_shown():
    told, [field], figures = shown(
        cell("mine", "v", "good", 1.0, "linear"),
        judged("good", "pass"),
        cell("mine", "v", "open", 1.4, "inconclusive"),
        judged("open", "inconclusive"),
        cell("mine", "v", "bad", 2.0, "superlinear"),
        judged("bad", "fail", line="exponent 2.00"),
        cell("mine", "w", "free", 2.0, "superlinear"),
    )
    assert told[0] == ["over its bound", "mine", "bad", "v", "time", "n log n", "exponent 2.00"]
    assert [row[2:6:3] for row in told[1:]] == [["free", "none"], ["open", "n log n"]]
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
