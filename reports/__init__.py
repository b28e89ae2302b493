"""What comes out: each report is a reader of a run's record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from corpora import whole_files
from harness.ledger.trends import Seen, Trend
from reports import comment, findings, github, html, issue, junit, markdown, sarif, summary_json
from reports.record import RunRecord

FORMATS: dict[str, Callable[[RunRecord], str]] = {
    "annotations": github.render,
    "comment": comment.render,
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
"""The file in a run's folder that holds each format; the others are for standard output alone."""


def write_all(
    record: RunRecord,
    out: Path,
    series: Sequence[Trend] = (),
    known: Mapping[str, Seen] | None = None,
) -> None:
    """Write every format that has a file into the folder ``out``.

    series: of all runs, for the page's trends; known: since when findings are, by their ids. The
    page's commands name this folder. Else as :func:`write`.
    """
    page = html.render(record, series, out.absolute(), known)
    texts = [page if name == "html" else FORMATS[name](record) for name in FILES]
    issues = (
        (str(Path(one.reproducer).with_name("issue.md")), issue.render(one, record, script))
        for one in (bucket.example for bucket in record.buckets)
        if one.reproducer and (script := findings.script_of(one, out))
    )
    write([*zip(FILES.values(), texts, strict=True), *issues], out)


def write(files: Iterable[tuple[str, str]], out: Path) -> tuple[int, int]:
    """Write files, given by their paths in the folder ``out``: how many, and their bytes.

    The folder is made where it is missing. Each file is whole or not there: it is written beside
    its place and moved. OSError as raised by the file system, with the file's path.
    """
    number = size = 0
    for name, text in files:
        path = out / name
        # Lone surrogates, which JSON admits in a message, have no UTF-8: they become escapes.
        data = text.encode("utf-8", "backslashreplace")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            whole_files.write(path, data)
        except OSError as error:  # what fails to be written says which file it is
            raise OSError(error.errno, error.strerror, str(path)) from error
        number, size = number + 1, size + len(data)
    return number, size
