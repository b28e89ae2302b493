"""Numbers as reports write them, each in a unit that fits it. ``templates/plots.js`` does alike."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence

from reports.blocks import Axis, Point

_SIZES = ((1 << 30, " GiB"), (1 << 20, " MiB"), (1 << 10, " KiB"), (1, " B"))
_TIMES = ((1.0, " s"), (1e-3, " ms"), (1e-6, " µs"), (1e-9, " ns"))
_COUNTS = ((1e9, " G"), (1e6, " M"), (1e3, " k"), (1, ""))


def plural(number: int, noun: str) -> str:
    """``1 case``, ``1,204 cases``, ``2 libraries``."""
    many = re.sub(r"(?<=[lr])y$", "ie", noun)
    return f"{number:,} {noun if number == 1 else many + 's'}"


def scaled(value: float, units: Sequence[tuple[float, str]]) -> str:
    """A number in the largest of some units that it reaches, else in the least."""
    unit, name = next((one for one in units if value >= one[0]), units[-1])
    return figure(value / unit) + name


def size(value: float) -> str:
    """Bytes in binary units: ``100 B``, ``25.4 KiB``, ``1 MiB``."""
    return scaled(value, _SIZES)


def duration(seconds: float) -> str:
    """Seconds in a fitting unit: ``1.2 ms``."""
    return scaled(seconds, _TIMES)


def count(value: float) -> str:
    """A number of steps or instructions: ``1.2 M``."""
    return scaled(value, _COUNTS)


def rate(value: float | None) -> str:
    """As many digits as tell speeds, or ratios of them, apart: ``0.31``, ``41.3``, ``1,066``.

    Nothing for None.
    """
    if value is None:
        return ""
    digits = 0 if value >= 99.5 else 1 if value >= 9.95 else 2
    return f"{value:,.{digits}f}"


def figure(value: float) -> str:
    """A number by three digits, and all those before the point: ``0.123``, ``6,650``."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def exponent(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """`` 1.98 (1.90 to 2.06)``, with a space before it; nothing of what is not known."""
    between = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
    return "" if value is None else f" {value:.2f}{between}"


def per_cent(share: float) -> str:
    """A share by two figures, of it or of what it lacks: ``7.1 %``, ``0.032 %``, ``99.9971 %``."""
    small = 100 * min(share, 1 - share)
    if 0 < small < 1e-6:
        return "< 0.000001 %" if share < 0.5 else "> 99.999999 %"
    digits = min(6, max(0, 1 - math.floor(math.log10(small)))) if small > 0 else 0
    return f"{100 * share:.{digits}f} %"


def usable(points: Iterable[Sequence[float]]) -> list[Point]:
    """The points that a logarithmic axis can hold, by size."""
    return sorted(
        (p[0], p[1]) for p in points if len(p) == 2 and all(math.isfinite(v) and v > 0 for v in p)
    )


_WRITERS: dict[str, Callable[[float], str]] = {
    "size": size,
    "time": duration,
    "count": count,
    "speed": lambda value: f"{value:.3g} MiB/s",
    "ratio": lambda value: f"{value:.3g} ×",
    "number": figure,
}


def writer(axis: Axis) -> Callable[[float], str]:
    """How values of an axis are written."""
    return _WRITERS.get(axis.unit, lambda place: axis.names[int(place)])
