"""The growth of candidates: the worst first, with the bound, and an input to try."""

from __future__ import annotations

import subprocess
import sys

from harness.events import Event, GrowthJudged
from reports import growth
from reports.blocks import Code, Figure, Table, markdown, walk
from reports.record import RunRecord
from tests.reports import records
from tests.reports.records import cell


def judged(family: str, outcome: str, name: str = "mine", line: str = "") -> GrowthJudged:
    return GrowthJudged(name, "v", family, "time", "n log n", outcome, "because", line)


def shown(*events: Event) -> tuple[list[list[str]], list[Figure]]:
    """The rows of what is amiss, and the plots."""
    [section] = growth.sections(RunRecord.from_events([records.started(), *events]))
    blocks = list(walk([section]))
    faults = next(one for one in blocks if isinstance(one, Table))
    rows = [[markdown.inline(one.text) for one in cells] for _, cells in faults.lines]
    return rows, [one for one in blocks if isinstance(one, Figure)]


def test_the_worst_family_comes_first() -> None:
    rows, figures = shown(
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


def test_a_library_is_told_of_where_it_breaks_its_bound() -> None:
    good = cell("tiktoken", "v", "f", 1.0, "linear"), judged("f", "pass", "tiktoken")
    rows, _ = shown(*good)
    assert rows == []
    bad = cell("tiktoken", "v", "f", 2.0, "superlinear"), judged("f", "fail", "tiktoken")
    [row], _ = shown(*bad)
    assert row[1] == "tiktoken"


def test_the_command_writes_the_largest_input() -> None:
    _, [figure] = shown(cell("mine", "v", "f", 2.0, "superlinear"), judged("f", "fail"))
    code = figure.blocks[-1]
    assert isinstance(code, Code)
    command = code.text.replace("python", sys.executable, 1)
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=True)
    size = int(cell("mine", "v", "f", 2.0, "superlinear").points[-1][0])
    assert done.stdout == b"ab" * (size // 2)
