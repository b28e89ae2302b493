"""Annotations for GitHub Actions: lines on standard output that the runner shows on a commit.

A line is a workflow command, ``::error file=..,title=..::message``. The runner keeps ten errors
and ten warnings of a step and drops the others without a word (GitHub Docs, "Usage limits for
workflow commands"), so that the worst come first and the tenth says how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from corpora.plain_text import one_line, printable_line
from harness.events import FAIL
from reports.blocks.units import plural
from reports.faults import Fault, faults, place
from reports.record import RunRecord

EACH = 10
"""Annotations of one kind that GitHub keeps of a step."""
MAX_MESSAGE = 1_000
"""Characters of a line: GitHub shows no more than about this, and cuts at 64 KiB."""


def wanted(environment: Mapping[str, str]) -> bool:
    """Whether this process runs in GitHub Actions, so that someone reads such lines."""
    return environment.get("GITHUB_ACTIONS") == "true"


def render(record: RunRecord) -> str:
    """What fails the gate as errors, what is amiss besides as warnings, at most ten of each."""
    errors, warnings = list(faults(record)), list[Fault]()
    if not record.complete:
        warnings.append(errors.pop())
    elif record.verdict == FAIL and not errors:
        errors.append(Fault("gate", "tokgate", (record.reason,), place(record)))
    for one in record.withdrawn:
        warnings.append(Fault("", "withdrawn", (one.line,), place(record, [one.implementation])))
    lines = [*_commands("error", errors), *_commands("warning", warnings)]
    return "".join(f"{line}\n" for line in lines)


def _commands(kind: str, told: list[Fault]) -> Iterator[str]:
    for number, one in enumerate(told[:EACH], start=1):
        lines = [*one.text, *([f"bucket: {one.bucket.name}"] if one.bucket else [])]
        if number == EACH and len(told) > EACH:
            lines.append(f"{plural(len(told) - EACH, 'further ' + kind)} in report.html.")
        # Line by line, so that what is odd is made visible and the line feeds stay.
        shown = "\n".join(
            one_line(line, MAX_MESSAGE) for text in lines for line in text.split("\n")
        )
        # A path with odd characters leads nowhere then, but prints none of them.
        file, title = map(_property, (printable_line(one.place.path), one_line(one.title, 200)))
        where = f"file={file},line={one.place.line},title={title}"
        yield f"::{kind} {where}::{_data(shown)}"


def _data(text: str) -> str:
    """As the runner undoes it: actions/toolkit, ``escapeData``."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    """As the runner undoes it: actions/toolkit, ``escapeProperty``."""
    return _data(text).replace(":", "%3A").replace(",", "%2C")
