"""Plots: valid SVG, points where they belong, nothing drawn from nothing."""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

from harness.events import Measured
from reports.plots import LEFT, RIGHT, WIDTH, duration, loglog, size, usable


def row(points: list[list[float]], name: str = "own") -> Measured:
    return Measured(name, "v", "family <&>", 1.0, 0.9, 1.1, "linear", points)


def test_points_rise_to_the_right() -> None:
    own = row([[10.0**i, 10.0 ** (i - 7)] for i in range(2, 7)])
    peer = row([[100.0, 1e-3], [1e6, 1e-1]], "<peer>")
    svg = ET.fromstring(str(loglog(own, [peer, row([])])))
    dots = [(float(c.get("cx")), float(c.get("cy"))) for c in svg.findall("circle")]
    assert dots == sorted(dots, key=lambda dot: (dot[0], -dot[1]))
    assert (dots[0][0], dots[-1][0]) == (LEFT, WIDTH - RIGHT)
    assert [p.get("class") for p in svg.findall("g/path")] == [
        "linear",
        "peer",
        "band",
        "own",
        "fit",
    ]
    assert "<peer>" in [text.text for text in svg.findall("text")]


def test_what_no_logarithm_has_is_left_out() -> None:
    assert usable([[0.0, 1.0], [1.0, math.nan], [5.0], [2.0, 3.0]]) == [(2.0, 3.0)]
    assert str(loglog(row([[0.0, 0.0]]), [])) == ""
    ET.fromstring(str(loglog(row([[1000.0, 1e-3]]), [])))


def test_units() -> None:
    assert [size(n) for n in (1, 100, 26_000, 1e6)] == ["1 B", "100 B", "26 kB", "1 MB"]
    assert [duration(s) for s in (2e-9, 1e-6, 1.25e-3, 3, 12_000)] == [
        "2 ns", "1 µs", "1.25 ms", "3 s", "12,000 s",
    ]  # fmt: skip
