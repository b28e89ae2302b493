"""The report's trends: steps in words, plots that are valid, bounds that are said."""

import datetime
import math

import numpy as np

from harness.ledger.trends import Trend
from reports import trends as module
from reports.blocks import Figure, Paragraph, Plot, Table, walk
from reports.blocks.markdown import inline
from reports.trends import sections

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def series(values, name="a on runs", unit="s", at=30):
    """A run a day; the version changes at the ``at``-th."""
    points = [
        (START + datetime.timedelta(days=i), "1.0" if i < at else "1.1", value)
        for i, value in enumerate(values)
    ]
    return Trend(name, unit, points)


def rising(at=30):
    noise = np.random.default_rng(3).normal(1, 0.03, 60)
    return [1e-3 * float(n) * (1.4 if i >= at else 1) for i, n in enumerate(noise)]


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


def test_counts_and_falls_and_what_is_left_out(monkeypatch):
    shown = sections([series([0.0] * 20 + [3.0] * 20 + [1.0] * 20, unit="")])
    assert [row[2:5] for row in steps(shown)] == [["3", "1", "▼ -67%"], ["0", "3", "▲ +3"]]
    assert sections([]) == []
    assert sections([series([1.0]), series([math.nan, 1.0, math.inf])]) == []
    # The latest steps come first.
    monkeypatch.setattr(module, "MAX_PLOTS", 2)
    made = [series(rising(at), f"s{at}") for at in (20, 50, 40)] + [series([1.0] * 9, "flat")]
    shown = sections(made)
    assert [inline(one.caption).split(" ")[0] for one in of(shown, Figure)] == ["s50", "s40"]
    assert [name for _, name, *_ in steps(shown)] == ["s50", "s40", "s20"]
    assert "2 further series not drawn." in [one.text for one in of(shown, Paragraph)]
