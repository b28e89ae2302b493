"""The colours of report.html: every text on every ground it stands on, WCAG 2.1 level AA."""

import re
from pathlib import Path

import pytest

import reports

COLOURS = 8
"""Of lines: as many as ``templates/plots.js`` has."""

AA = 4.5
"""Least contrast of body text, WCAG 2.1, success criterion 1.4.3."""

PAIRS = [
    *((text, ground) for text in ("text", "quiet", "accent", "bad")
      for ground in ("bg", "surface", "sunken")),
    *((tone, f"{tone}-soft") for tone in ("ok", "bad", "warn", "info")),
    *(("text", f"{tone}-soft") for tone in ("ok", "bad", "warn", "info")),
    *(("surface", tone) for tone in ("ok", "bad", "warn")),
    ("quiet", "bad-soft"), ("accent", "info-soft"), ("accent", "bad-soft"), ("bg", "text"),
    ("warn", "surface"), *((f"c{place}", "surface") for place in range(COLOURS)),
]  # fmt: skip


def palettes():
    css = (Path(reports.__file__).with_name("templates") / "report.css").read_text()
    light, dark = re.findall(r":root \{(.*?)\}", css, re.DOTALL)[:2]
    return {
        name: dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))
        for name, block in (("light", light), ("dark", dark))
    }


def luminance(colour):
    """Relative luminance of ``#rrggbb``, WCAG 2.1."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
                        for c in channels)  # fmt: skip
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast(scheme):
    palette = palettes()[scheme]
    low = {}
    for text, ground in PAIRS:
        bright, dim = sorted((luminance(palette[text]), luminance(palette[ground])), reverse=True)
        if (bright + 0.05) / (dim + 0.05) < AA:
            low[text, ground] = round((bright + 0.05) / (dim + 0.05), 2)
    assert not low
