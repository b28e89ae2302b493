"""What comes out: each report is a reader of a run's record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from corpora import whole_files
from reports import (
    bench_html,
    field,
    github,
    html,
    junit,
    markdown,
    sarif,
    selftest_html,
    summary_json,
    worst_html,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from reports.bench import BenchRecord
    from reports.field import Conformance
    from reports.histories import FindingHistory
    from reports.record import RunRecord
    from reports.selftest import SelftestRecord
    from reports.trends import Trend
    from reports.worst import WorstRecord

FORMATS: dict[str, Callable[[RunRecord], str]] = {
    "annotations": github.render,
    "html": html.render,
    "json": summary_json.render,
    "junit": junit.render,
    "markdown": markdown.render,
    "sarif": sarif.render,
}
"""Every format by the name that ``tokgate report --format`` takes."""

FILES = {
    "html": "report.html",
    "json": "summary.json",
    "junit": "junit.xml",
    "markdown": "summary.md",
    "sarif": "report.sarif",
}
"""The file in a run's folder that holds each format; annotations are for standard output alone."""


def write_all(
    record: RunRecord,
    out: Path,
    series: Sequence[Trend] = (),
    known: Mapping[str, FindingHistory] | None = None,
) -> None:
    """Write every format that has a file into the folder ``out``, made where it is missing.

    series: of all runs, for the page's trends; known: since when findings are, by their ids. The
    page's commands name this folder.
    Each file is whole or not there: it is written beside its place and moved. OSError as raised
    by the file system.
    """
    out.mkdir(parents=True, exist_ok=True)
    for name, file in FILES.items():
        page = name == "html"
        text = html.render(record, series, out.absolute(), known) if page else FORMATS[name](record)
        _replace(out / file, text)


def write_bench(record: BenchRecord, out: Path) -> None:
    """Write ``bench.json`` and ``bench.html`` into the folder ``out``, likewise."""
    out.mkdir(parents=True, exist_ok=True)
    _replace(out / "bench.json", record.to_json())
    _replace(out / "bench.html", bench_html.render(record))


def write_worst(record: WorstRecord, out: Path, text: str) -> None:
    """Write ``worst.json`` and ``worst.html`` into the folder ``out``, likewise.

    text: the record as JSON.
    """
    out.mkdir(parents=True, exist_ok=True)
    _replace(out / "worst.json", text)
    _replace(out / "worst.html", worst_html.render(record))


def write_selftest(record: SelftestRecord, out: Path) -> None:
    """Write ``selftest.json`` and ``selftest.html`` into the folder ``out``, likewise."""
    out.mkdir(parents=True, exist_ok=True)
    _replace(out / "selftest.json", record.to_json())
    _replace(out / "selftest.html", selftest_html.render(record))


def write_field(page: Conformance, out: Path) -> None:
    """Write ``field.html``, ``field.json`` and ``field.md`` into the folder ``out``, likewise."""
    out.mkdir(parents=True, exist_ok=True)
    _replace(out / "field.json", field.render_json(page))
    _replace(out / "field.md", field.render_markdown(page))
    _replace(out / "field.html", field.render_html(page))


def write_site(files: Iterable[tuple[str, str]], out: Path) -> tuple[int, int]:
    """Write the files of a site into the folder ``out``, likewise: how many, and their bytes."""
    number = size = 0
    for name, text in files:
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        size += _replace(path, text)
        number += 1
    return number, size


def _replace(path: Path, text: str) -> int:
    # Lone surrogates, which JSON admits in a message, have no UTF-8: they are written as escapes.
    data = text.encode("utf-8", "backslashreplace")
    try:
        whole_files.write(path, data)
    except OSError as error:  # what fails to be written says which file it is
        raise OSError(error.errno, error.strerror, str(path)) from error
    return len(data)
