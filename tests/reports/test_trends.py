"""The report's trends: steps in words, plots that are valid, bounds that are said."""

import datetime
import math

import numpy as np

from harness.ledger.trends import Trend
from reports import html
from reports import trends as module
from reports.blocks import Figure, Paragraph, Plot, Table, walk
from reports.blocks.markdown import inline
from reports.trends import sections
from tests.reports import records

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def series(values, name="a on runs", unit="s", at=30):
    """A run a day; the version changes at the ``at``-th."""
    return Trend(
        name,
        unit,
        [
            (START + datetime.timedelta(days=i), "1.0" if i < at else "1.1", value)
            for i, value in enumerate(values)
        ],
    )


def rising(number=60, at=30, by=1.4):
    noise = np.random.default_rng(3).normal(1, 0.03, number)
    return [1e-3 * float(n) * (by if i >= at else 1) for i, n in enumerate(noise)]


def of(blocks, kind):
    return [one for one in walk(blocks) if isinstance(one, kind)]


def steps(blocks):
    """The table of steps, as plain text."""
    return [[inline(one.text) for one in cells] for _, cells in of(blocks, Table)[0].lines]


def test_a_step_is_told_with_its_day_and_version():
    shown = sections([series(rising())])
    [(when, _, before, _, change, version)] = steps(shown)
    assert (when, version) == ("2026-01-31", "1.0 → 1.1")
    assert change in {f"▲ +{n}%" for n in range(37, 44)}
    assert before.endswith(("µs", "ms"))
    [plot] = of(shown, Plot)
    level, runs = plot.series
    assert (len(level.points), len(runs.points)) == (60, 60)
    assert len({value for _, value in level.points}) == 2
    assert plot.marks == [(29.5, "bad")]


def test_counts_and_falls():
    shown = sections([series([0.0] * 20 + [3.0] * 20 + [1.0] * 20, "unexpected findings", "")])
    fell, rose = steps(shown)
    assert rose[2:5] == ["0", "3", "▲ +3"]
    assert fell[4] == "▼ -67%"


def test_no_runs_no_section_and_odd_values_are_left_out():
    assert sections([]) == []
    assert sections([series([1.0]), series([math.nan, 1.0, math.inf])]) == []
    [plot] = of(sections([series([0.0, 0.0, 0.0])]), Plot)
    assert len(plot.series) == 2
    assert "Trends" not in html.render(records.clean())


def test_the_latest_steps_come_first_and_what_is_left_out_is_said(
    monkeypatch,
):
    monkeypatch.setattr(module, "MAX_PLOTS", 2)
    made = [series(rising(at=at), f"s{at}") for at in (20, 50, 40)] + [series([1.0] * 9, "flat")]
    shown = sections(made)
    assert [inline(one.caption).split(" ")[0] for one in of(shown, Figure)] == ["s50", "s40"]
    assert [name for _, name, *_ in steps(shown)] == ["s50", "s40", "s20"]
    assert "2 further series not drawn." in [one.text for one in of(shown, Paragraph)]
