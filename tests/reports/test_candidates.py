"""The growth of candidates in the page: the worst first, with the bound, and an input to try."""

from __future__ import annotations

import subprocess
import sys

from harness.events import Event, FamiliesMeasured, GrowthJudged
from reports import html
from reports.blocks import Block, Code, Figure, Group, Heading, markdown
from reports.growth import MOST_PLOTS, candidates
from reports.growth_plots import bound_line
from reports.record import RunRecord
from tests.reports import records
from tests.reports.records import cell


def judged(family: str, outcome: str, name: str = "mine", line: str = "") -> GrowthJudged:
    return GrowthJudged(name, "v", family, "time", "n log n", outcome, "because", line)


def shown(*events: Event) -> list[Block]:
    return list(candidates(RunRecord.from_events([records.started(), *events])))


def figures(group: Block) -> list[Figure]:
    assert isinstance(group, Group)
    return [one for one in group.blocks if isinstance(one, Figure)]


def said(block: Block) -> str:
    """What a heading or a figure's caption says."""
    assert isinstance(block, (Heading, Figure))
    return markdown.inline(block.text if isinstance(block, Heading) else block.caption)


def test_the_worst_family_comes_first_and_all_are_counted() -> None:
    heading, plots, _ = shown(
        cell("mine", "v", "good", 1.0, "linear"),
        judged("good", "pass"),
        cell("mine", "v", "open", 1.4, "inconclusive"),
        judged("open", "inconclusive"),
        cell("mine", "v", "bad", 2.0, "superlinear"),
        judged("bad", "fail", line="exponent 2.00"),
        FamiliesMeasured("v", 9, ["good", "open", "bad", "late"], ["late"]),
    )
    captions = [said(one) for one in figures(plots)]
    assert [one.split("**")[1] for one in captions] == ["bad", "open", "good"]
    assert captions[0] == "**bad** over its bound: exponent 2.00"
    tally = "1 over its bound 1 undecided 1 within its bound 1 not measured"
    assert " ".join(said(heading).split("v ", 1)[1].split()) == tally


def test_a_library_is_shown_where_it_breaks_its_bound() -> None:
    good = cell("tiktoken", "v", "f", 1.0, "linear"), judged("f", "pass", "tiktoken")
    assert shown(*good) == []
    bad = cell("tiktoken", "v", "f", 2.0, "superlinear"), judged("f", "fail", "tiktoken")
    heading, *_ = shown(*bad)
    assert said(heading).startswith("tiktoken on v")


def test_many_families_are_few_plots() -> None:
    names = [f"f{number}" for number in range(MOST_PLOTS + 5)]
    events = [cell("mine", "v", name, 1.0, "linear") for name in names]
    _, plots, more, _ = shown(*events, *(judged(name, "pass") for name in names))
    assert len(figures(plots)) == MOST_PLOTS
    assert markdown.render([more]).startswith("5 more families within their bound")


def test_the_bound_begins_where_the_input_costs_more_than_the_call() -> None:
    points = [(256.0, 1.1e-6), (512.0, 4e-6), (1024.0, 16e-6), (2048.0, 64e-6)]
    line = bound_line(points, 1e-6, "quadratic")
    assert [x for x, _ in line] == [512.0, 1024.0, 2048.0]
    assert line[0][1] == 4e-6
    assert abs(line[-1][1] - (1e-6 + 3e-6 * 16)) < 1e-12
    steeper = bound_line(points, 1e-6, "n log n")
    assert steeper[-1][1] > bound_line(points, 1e-6, "linear")[-1][1]
    assert bound_line(points, 1e-6, "none") == bound_line(points[:1], 0.0, "linear") == []


def test_the_command_writes_the_largest_input() -> None:
    _, plots, _ = shown(cell("mine", "v", "f", 2.0, "superlinear"), judged("f", "fail"))
    [figure] = figures(plots)
    code = figure.blocks[-1]
    assert isinstance(code, Code)
    command = code.text.replace("python", sys.executable, 1)
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
    size = int(cell("mine", "v", "f", 2.0, "superlinear").points[-1][0])
    assert done.stdout == b"ab" * (size // 2)


def test_the_page_has_the_plots_before_the_grid() -> None:
    events = [cell("mine", "v", "f", 2.0, "superlinear"), judged("f", "fail")]
    page = html.render(RunRecord.from_events([records.started(), *events]))
    assert page.index('class="plots small"') < page.index('class="growthbox"')
    assert "over its bound" in page
