"""What fails the gate, a fault each: SARIF and GitHub's annotations show the same.

An unexpected bucket of findings is one fault, and so is a stale or expired expectation, a broken
bound of growth, an implementation that failed to start, and what was named and not examined.

Code hosts attach what a tool reports to a line of a file in the repository, but a wrong token id
has no such line. A fault is shown at the first of these that lies in the repository: the definition
of the implementation (``path.py:Name``, ``package:Name``), the file of the vocabulary, the
expectations file.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from corpora.plain_text import one_line
from harness.events import UNEXAMINED, Found, cause_of
from reports.blocks.units import plural
from reports.record import Bucket, RunRecord
from reports.words import smallest

FAILED = {"stale": "was exercised and did not show", "expired": "is past its date"}
"""What is wrong with an expectation, by its status."""

FALLBACK = "tokgate-out/report.html"
"""Where an alert is shown if none of these is known. It need not be in the repository: the alert
then has no preview."""

SOURCES = [f"{one}{{}}{end}" for one in ("", "src/", "python/") for end in (".py", "/__init__.py")]
"""Where a module of a repository usually lies."""

INPUT_SHOWN = 240
"""Characters of the smallest input."""


@dataclass(frozen=True)
class Place:
    """A line of a file; its path is relative to the root of the repository."""

    path: str = FALLBACK
    line: int = 1


@dataclass(frozen=True)
class Fault:
    """One of them. rule: a check, or what is demanded besides. text: lines that say more.

    place: where to show it. identity: by which it is the same in every run.
    """

    rule: str
    title: str
    text: tuple[str, ...]
    place: Place
    identity: tuple[str, ...] = ()
    bucket: Bucket | None = None


def faults(record: RunRecord) -> Iterator[Fault]:
    """All of them, the worst first."""
    default = place(record)
    for one in record.failures:
        who = one.implementation, one.vocabulary
        title = f"{one.implementation} failed to start on {one.vocabulary}"
        yield Fault("start", title, (one.message,), place(record, who[:1], who[1]), who)
    for bucket in record.unexpected:
        example = bucket.example
        where = place(record, example.culprits, example.vocabulary)
        text, cause = tuple(told(bucket, example)), (cause_of(bucket.name),)
        yield Fault(example.check, one_line(bucket.headline), text, where, cause, bucket)
    for judged in record.growth_judged:
        if judged.outcome == "fail":
            about = judged.implementation, judged.vocabulary, judged.family
            title = f"{about[0]} grows faster than its bound {judged.bound} on {judged.family}"
            text = f"Vocabulary {judged.vocabulary}.", judged.line
            yield Fault("scaling", title, text, place(record, about[:1], about[1]), about)
    for entry in record.expectations:
        if entry.status in FAILED:
            title = f"The expectation {entry.bucket} {FAILED[entry.status]}"
            identity = entry.status, entry.bucket, entry.vocabulary, *entry.implementations
            yield Fault("expectation", title, (entry.reason,), default, identity)
    if record.verdict == UNEXAMINED:
        for line in record.reasons:
            yield Fault("gate", "Not examined", (line,), default, (line,))
    if not record.complete:
        title = "The run did not finish"
        yield Fault("gate", title, (record.reason,), default, ("end",))


def told(bucket: Bucket, example: Found) -> Iterator[str]:
    """A finding in lines of text. example: the one of its bucket to tell of."""
    yield f"Smallest input: {smallest(example, INPUT_SHOWN)}."
    yield example.difference
    seen = plural(bucket.count, "time")
    yield f"Seen {seen} on {example.contract}{bucket.also}, finding {example.id}."
    for group in example.partition:
        if group.message:
            yield f"{', '.join(group.implementations)}: {group.kind} {group.message}"


def place(record: RunRecord, culprits: Iterable[str] = (), vocabulary: str = "") -> Place:
    """Where to show a fault: the best place that lies in the repository.

    The repository is $GITHUB_WORKSPACE, or else the folder in which the run was started. culprits:
    the implementations to blame. vocabulary: the id of the one on which it shows.
    """
    started = record.started
    folder = started.folder if started else ""
    root = os.environ.get("GITHUB_WORKSPACE") or folder
    for file, name in _candidates(record, culprits, vocabulary):
        path = posixpath.normpath(posixpath.join(folder, file))
        if posixpath.isabs(path):
            path = posixpath.relpath(path, root) if posixpath.isabs(root) else ".."
        if path.split("/", 1)[0] == "..":
            continue
        if file.endswith(".py"):
            return Place(path, _line_of(name, Path(root, path)))
        return Place(path)
    return Place()


def _candidates(
    record: RunRecord, culprits: Iterable[str], vocabulary: str
) -> Iterator[tuple[str, str]]:
    """Files as the run was given them, the best first, each with the name that it defines."""
    folder = record.started.folder if record.started else ""
    for culprit in culprits:
        module, colon, name = record.specs.get(culprit, "").rpartition(":")
        if not colon or module.split(":")[0] in {"cmd", "pip", "npm"}:
            continue
        if module.endswith(".py"):
            yield module, name
        for file in (one.format(module.replace(".", "/")) for one in SOURCES):
            if _text(Path(folder, file)) is not None:
                yield file, name
    for one in record.vocabularies:
        # What tokgate brings is given by a name that is no path.
        if one.id == vocabulary and one.path and Path(one.path).name in one.source:
            yield one.path, ""
    if record.started and record.started.expect:
        yield record.started.expect, ""


def _line_of(name: str, path: Path) -> int:
    """The line that defines a name at the top level of a Python file; 1 if that cannot be told."""
    text = _text(path) or ""
    found = re.search(rf"^((class|def)\s+)?{re.escape(name)}\b", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found else 1


def _text(path: Path) -> str | None:
    """The text of a file; None if there is none, or if no file can have such a name."""
    try:
        return path.read_text("utf-8", "replace") if path.is_file() else None
    except (OSError, ValueError):
        return None
