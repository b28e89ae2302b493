"""Plots: what is drawn, what its table says, nothing drawn from nothing."""

import math
from pathlib import Path

import pytest

import reports
from harness.events import Measured
from reports.blocks import Axis, Page, html
from reports.blocks.html import PLOT_SCRIPTS
from reports.blocks.units import count, duration, figure, per_cent, rate, size, usable, writer
from reports.growth import plot
from tests.properties.reports.drawn import plot_of


def page_of(one):
    """The part of a page that has a plot."""
    return html.render(Page("", "", [one])).partition("<main")[2].partition("</main>")[0]


def told(one):
    """What is drawn of it."""
    return plot_of(page_of(one))


def row(points, name="own"):
    return Measured(name, "v", "family <&>", 1.0, 0.9, 1.1, "linear", points)


def test_growth_is_drawn_for_all_and_candidates_are_thick():
    own = row([[10.0**i, 10.0 ** (i - 7)] for i in range(2, 7)])
    peer = row([[100.0, 1e-3], [1e6, 1e-1]], "<peer>")
    shown = told(plot([own, peer, row([], "nobody")], {"own": 0, "<peer>": 1}, {"own"}))
    looks = [(one["name"], one["tone"], one["wide"]) for one in shown["series"]]
    assert looks == [("own", 0, True), ("<peer>", 1, False)]
    assert shown["series"][0]["points"] == own.points
    assert (shown["x"]["log"], shown["y"]["log"]) == (2, 10)


def test_what_no_logarithm_has_is_left_out():
    assert usable([[0.0, 1.0], [1.0, math.nan], [5.0], [2.0, 3.0]]) == [(2.0, 3.0)]
    assert plot([row([[0.0, 0.0]])], {}, {}) is None
    alone = told(plot([row([[1000.0, 1e-3]])], {}, {"own"}))
    assert [(one["name"], one["tone"]) for one in alone["series"]] == [("own", 0)]


def test_units():
    assert [size(n) for n in (1, 100, 26_000, 1 << 20, 1023 << 10)] == [
        "1 B", "100 B", "25.4 KiB", "1 MiB", "1,023 KiB",
    ]  # fmt: skip
    assert [duration(s) for s in (2e-9, 1e-6, 1.25e-3, 3, 12_000)] == [
        "2 ns", "1 µs", "1.25 ms", "3 s", "12,000 s",
    ]  # fmt: skip
    assert (count(1_250_000), figure(6650.4), figure(0.1234)) == ("1.25 M", "6,650", "0.123")
    assert [rate(s) for s in (0.314, 4.2, 41.26, 1066)] == ["0.31", "4.20", "41.3", "1,066"]
    assert writer(Axis("speed"))(12.345) == "12.3 MiB/s"
    assert writer(Axis("place", names=["a", "b"]))(1.0) == "b"


def test_a_share_has_two_figures_that_tell_and_never_becomes_whole():
    shares = (0.0, 1e-9, 1e-6, 0.00032, 0.071, 0.5, 0.9986, 0.999971, 1 - 1e-12, 1.0)
    assert [per_cent(one) for one in shares] == [
        "0 %", "< 0.000001 %", "0.00010 %", "0.032 %", "7.1 %", "50 %", "99.86 %", "99.9971 %",
        "> 99.999999 %", "100 %",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["uplot.min.js", "uplot.min.css"])
def test_what_is_carried_of_others_is_there_with_its_licence(name):
    folder = Path(reports.__file__).with_name("vendor")
    assert (folder / name).stat().st_size > 1000
    assert "MIT" in (folder / "LICENSE-uplot").read_text()
    assert "1.6.32" in (folder / "README.md").read_text()
    assert "v1.6.32" in (folder / "uplot.min.js").read_text()
    assert any(script.endswith("uplot.min.js") for script in PLOT_SCRIPTS)
