"""Blocks as a page: one self-contained file that needs no network.

Everything that comes from a run is escaped twice over: by Jinja against HTML, and by
:func:`corpora.plain_text.printable` against characters that hide or reorder what stands beside
them. A content security policy in the page forbids it to load anything.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from corpora.plain_text import printable, printable_line
from reports.blocks import Column, Page, Plot, Table, walk
from reports.blocks.units import writer

_TEMPLATES = Path(__file__).parents[1] / "templates"

PLOT_STYLES = ("../vendor/uplot.min.css",)
PLOT_SCRIPTS = ("../vendor/uplot.min.js", "plots.js")
"""The files that pages with plots need besides their own, in the order in which they come."""

DIGITS = 4
"""Significant digits of a number that is drawn: more than a screen has points."""


def render(page: Page, template: str = "page.html.j2", **more: Any) -> str:
    """The page as text, to be written in UTF-8. more: what another template needs besides."""
    plots = any(isinstance(one, Plot) for one in walk(page.blocks))
    made = environment().get_template(template)
    return made.render(page=page, **assets(plots), **more)


@cache
def assets(plots: bool) -> dict[str, str]:
    """What ``base.html.j2`` puts into every page: style, script, and the policy that admits them.

    plots: whether the page has any.
    """
    css = read_all(*PLOT_STYLES * plots, "report.css")
    script = read_all("report.js", *PLOT_SCRIPTS * plots)
    return {"css": Markup(css), "script": Markup(script), "policy": policy(css, script)}


def read_all(*names: str) -> str:
    """The text of files of this folder's ``templates``, one behind the other."""
    return "\n".join((_TEMPLATES / name).read_text(encoding="utf-8") for name in names)


def policy(*admitted: str) -> str:
    """Nothing may be loaded; only this style and this script may take effect."""
    digests = (base64.b64encode(hashlib.sha256(one.encode()).digest()) for one in admitted)
    css, script = (f"'sha256-{one.decode()}'" for one in digests)
    return (
        f"default-src 'none'; style-src {css}; script-src {script}; base-uri 'none'; "
        "form-action 'none'"
    )


@cache
def environment() -> Environment:
    """How templates are read: everything that they print is escaped and made visible."""
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
    )
    made.filters.update(
        kind=lambda value: "str" if isinstance(value, str) else type(value).__name__,
        number=lambda value: f"{value:,}",
        link=link,
        bands=bands,
        drawn=drawn,
        values=values,
    )
    return made


def _visible(value: Any) -> Any:
    """Applied to everything that a template prints."""
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def link(address: str | None) -> str:
    """An address that may be clickable, else nothing.

    It is of http or https, or within these pages, and has no character that a reader would not see.
    """
    address = address or ""
    elsewhere = ":" in address.partition("/")[0] or address.startswith("//")
    safe = not elsewhere or address.lower().startswith(("https://", "http://"))
    return address if safe and printable_line(address) == address else ""


def bands(table: Table) -> list[tuple[str, list[Column]]]:
    """The columns with what stands above them; those with nothing above are together, too."""
    return [(name, list(heads)) for name, heads in groupby(table.heads, lambda one: one.group)]


def drawn(plot: Plot) -> Markup:
    """What ``templates/plots.js`` draws, as JSON in which nothing can end the element around it."""
    data = json.dumps(_short(asdict(plot)), separators=(",", ":"), ensure_ascii=False)
    return Markup(data.replace("<", "\\u003c"))


def _short(value: Any) -> Any:
    """With names made visible, and numbers cut to their digits."""
    match value:
        case float():
            return float(f"{value:.{DIGITS}g}")
        case dict():
            return {name: _short(one) for name, one in value.items()}
        case list() | tuple():
            return [_short(one) for one in value]
    return _visible(value)


def values(plot: Plot) -> Table:
    """The values of a plot, a line a row: for who has no script, or no eyes for it."""
    across, written = writer(plot.x), writer(plot.y)
    places = sorted({x for one in plot.series for x, _ in one.points})
    columns = [Column(""), *(Column(across(x), numeric=True) for x in places)]
    known = {one.name: dict(one.points) for one in plot.series if one.points}
    rows = [
        [name, *(written(points[x]) if x in points else "" for x in places)]
        for name, points in known.items()
    ]
    return Table(plot.label, columns, rows)
