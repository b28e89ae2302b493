"""Annotations for GitHub Actions: lines on standard output that the runner shows on a commit.

A line is a workflow command, ``::error file=..,title=..::message``. The runner keeps ten errors
and ten warnings of a step and drops the others without a word (GitHub Docs, "Usage limits for
workflow commands"), so that the worst come first and the tenth says how many there are.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from corpora.plain_text import one_line
from reports.places import expectations_file, place
from reports.record import FAILING_EXPECTATIONS, Verdict
from reports.text import literal
from reports.words import also, headline, plural, reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reports.record import Bucket, RunRecord

EACH = 10
"""Annotations of one kind that GitHub keeps of a step."""
MAX_MESSAGE = 1_000
"""Characters of a message: GitHub shows no more than about this, and cuts at 64 KiB."""

Line = tuple[str, str, str]
"""File, title, message."""


def wanted(environment: Mapping[str, str]) -> bool:
    """Whether this process runs in GitHub Actions, so that someone reads such lines."""
    return environment.get("GITHUB_ACTIONS") == "true"


def render(record: RunRecord) -> str:
    """What fails the gate as errors, what is amiss besides as warnings, at most ten of each."""
    errors = list(_errors(record))
    if record.verdict is Verdict.NOT_EXAMINED and record.finished is not None:
        path = expectations_file(record)
        errors += [(path, "not examined", line) for line in record.finished.reasons]
    if not errors and record.verdict is Verdict.FAIL:
        errors.append((expectations_file(record), "tokgate", reason(record)))
    lines = [*_commands("error", errors), *_commands("warning", list(_warnings(record)))]
    return "".join(f"{line}\n" for line in lines)


def _errors(record: RunRecord) -> Iterator[Line]:
    for failure in record.failures:
        what = f"{failure.implementation} failed to start on {failure.vocabulary}"
        yield place(record, [failure.implementation]), what, failure.message
    yield from (_bucket(record, bucket) for bucket in record.unexpected)
    for one in record.broken:
        grown = "" if one.exponent is None else f", exponent {one.exponent:.2f}"
        what = f"{one.implementation} grows faster than its bound"
        yield place(record, [one.implementation]), what, f"{one.family}, {one.vocabulary}{grown}"
    for entry in record.expectations:
        if entry.status in FAILING_EXPECTATIONS:
            message = f"{entry.bucket}: {entry.reason}"
            yield expectations_file(record), f"{entry.status} expectation", message


def _warnings(record: RunRecord) -> Iterator[Line]:
    if record.verdict is Verdict.INCOMPLETE:
        yield expectations_file(record), "incomplete run", reason(record)
    for one in record.withdrawn:
        yield place(record, [one.implementation]), "withdrawn", one.line


def _bucket(record: RunRecord, bucket: Bucket) -> Line:
    example = bucket.example
    shown = literal(base64.b64decode(example.input_b64), limit=300)
    more = f" and {plural(shown.missing, 'more byte')}" if shown.missing else ""
    message = (
        f"{example.difference}\ninput: {shown.code}{more}\n"
        f"seen {plural(bucket.count, 'time')} on {example.contract}{also(bucket)}\n"
        f"bucket: {bucket.name}"
    )
    return place(record, example.culprits), headline(bucket), message


def _commands(kind: str, lines: list[Line]) -> Iterator[str]:
    for number, (path, heading, message) in enumerate(lines, start=1):
        hidden = len(lines) - number
        if number == EACH and hidden:
            message += f"\n{plural(hidden, 'further ' + kind)} in report.html."
        if number <= EACH:
            # Line by line, so that what is odd is made visible and the line feeds stay.
            shown = "\n".join(one_line(line, MAX_MESSAGE) for line in message.split("\n"))
            where = f"file={_property(path)},title={_property(one_line(heading, 200))}"
            yield f"::{kind} {where}::{_data(shown)}"


def _data(text: str) -> str:
    """As the runner undoes it: actions/toolkit, ``escapeData``."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """Likewise, ``escapeProperty``."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
