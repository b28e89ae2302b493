"""The report's trends: steps in words, plots that are valid, bounds that are said."""

from __future__ import annotations

import datetime
import math

import numpy as np
import pytest

from reports import html
from reports import trends as module
from reports.trends import Trend, trends
from tests.reports import records
from tests.reports.drawn import plot_of
from tests.reports.test_html import Page

START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


def series(values: list[float], name: str = "a on runs", unit: str = "s", at: int = 30) -> Trend:
    """A run a day; the version changes at the ``at``-th."""
    return Trend(
        name,
        unit,
        [
            (START + datetime.timedelta(days=i), "1.0" if i < at else "1.1", value)
            for i, value in enumerate(values)
        ],
    )


def rising(number: int = 60, at: int = 30, by: float = 1.4) -> list[float]:
    noise = np.random.default_rng(3).normal(1, 0.03, number)
    return [1e-3 * float(n) * (by if i >= at else 1) for i, n in enumerate(noise)]


def test_a_step_is_told_with_its_day_and_version() -> None:
    shown = trends([series(rising())])
    assert shown is not None
    [step] = shown.steps
    assert (step.when, step.version, step.worse) == ("2026-01-31", "1.0 → 1.1", True)
    assert step.change in {f"+{n}%" for n in range(37, 44)}
    assert step.before.endswith(("µs", "ms"))
    plot = plot_of(shown.plots[0].plot)
    level, runs = plot["series"]
    assert (len(level["points"]), len(runs["points"])) == (60, 60)
    assert len({value for _, value in level["points"]}) == 2
    assert plot["marks"] == [[29.5, "bad"]]


def test_counts_and_falls() -> None:
    shown = trends([series([0.0] * 20 + [3.0] * 20 + [1.0] * 20, "unexpected findings", "")])
    assert shown is not None
    fell, rose = shown.steps
    assert (rose.before, rose.after, rose.change, rose.worse) == ("0", "3", "+3", True)
    assert (fell.change, fell.worse) == ("-67%", False)


def test_no_runs_no_section_and_odd_values_are_left_out() -> None:
    assert trends([]) is None
    assert trends([series([1.0]), series([math.nan, 1.0, math.inf])]) is None
    shown = trends([series([0.0, 0.0, 0.0])])
    assert shown is not None
    assert len(plot_of(shown.plots[0].plot)["series"]) == 2
    assert "Trends" not in html.render(records.clean())


def test_the_latest_steps_come_first_and_what_is_left_out_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MAX_PLOTS", 2)
    monkeypatch.setattr(module, "MAX_STEPS", 2)
    made = [series(rising(at=at), f"s{at}") for at in (20, 50, 40)] + [series([1.0] * 9, "flat")]
    shown = trends(made)
    assert shown is not None
    assert [view.name for view in shown.plots] == ["s50", "s40"]
    assert [step.name for step in shown.steps] == ["s50", "s40"]
    assert (shown.hidden, shown.more) == (2, 1)


def test_the_section_is_well_formed_and_breaks_out_of_nothing() -> None:
    nasty = Trend("<script>\u202e", "s", [(START, "<b>", v) for v in rising(60)])
    text = html.render(records.clean(), [series(rising()), nasty])
    page = Page(text)
    assert (page.unbalanced, page.stack) == ([], [])
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(set(ids)) == len(ids)
    for attrs in page.every("a"):
        target = attrs["href"] or ""
        assert not target.startswith("#") or target[1:] in ids
    assert "\u202e" not in text
    programs = [attrs for attrs in page.every("script") if attrs != {"type": "application/json"}]
    assert len(programs) == 1
