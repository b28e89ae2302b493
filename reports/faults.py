"""What fails the gate, a fault each: SARIF and GitHub's annotations show the same.

An unexpected bucket of findings is one fault, and so is a stale or expired expectation, a broken
bound of growth, an implementation that failed to start, and what was named and not examined.

Code hosts hang what a tool reports on lines of files; a tokenizer's wrong id stands on none. The
file to open is the implementation's own, where it was given as one (``path.py:attr``), else the
expectations file of the run, where a known divergence would be written down.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from corpora.plain_text import one_line
from harness.events import UNEXAMINED, Found, cause_of
from reports.blocks.units import plural
from reports.record import Bucket, RunRecord
from reports.words import smallest

FAILED = {"stale": "was exercised and did not show", "expired": "is past its date"}
"""What is wrong with an expectation, by its status."""

FALLBACK = "tokgate-out/report.html"
"""The place of an alert where neither is known. It need not be in the repository: the alert then
has no preview."""

INPUT_SHOWN = 240
"""Characters of the smallest input."""


@dataclass(frozen=True)
class Fault:
    """One of them. rule: a check, or what is demanded besides. text: lines that say more.

    path: the file to show it at. identity: by which it is the same in every run.
    """

    rule: str
    title: str
    text: tuple[str, ...]
    path: str
    identity: tuple[str, ...] = ()
    bucket: Bucket | None = None


def faults(record: RunRecord) -> Iterator[Fault]:
    """All of them, the worst first."""
    default = place(record)
    for one in record.failures:
        who = one.implementation, one.vocabulary
        title = f"{one.implementation} failed to start on {one.vocabulary}"
        yield Fault("start", title, (one.message,), place(record, who[:1]), who)
    for bucket in record.unexpected:
        example, path = bucket.example, place(record, bucket.example.culprits)
        text, cause = tuple(told(bucket, example)), (cause_of(bucket.name),)
        yield Fault(example.check, one_line(bucket.headline), text, path, cause, bucket)
    for judged in record.growth_judged:
        if judged.outcome == "fail":
            about = judged.implementation, judged.vocabulary, judged.family
            title = f"{about[0]} grows faster than its bound {judged.bound} on {judged.family}"
            text = f"Vocabulary {judged.vocabulary}.", judged.line
            yield Fault("scaling", title, text, place(record, about[:1]), about)
    for entry in record.expectations:
        if entry.status in FAILED:
            title = f"The expectation {entry.bucket} {FAILED[entry.status]}"
            identity = entry.status, entry.bucket, entry.vocabulary, *entry.implementations
            yield Fault("expectation", title, (entry.reason,), default, identity)
    if record.verdict == UNEXAMINED:
        for line in record.reasons:
            yield Fault("gate", "Not examined", (line,), default, (line,))
    if not record.complete:
        title = "The run did not come to its end"
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


def place(record: RunRecord, culprits: Iterable[str] = ()) -> str:
    """The path to show a fault at, as the run was given it: relative to where it ran, or absolute.

    culprits: implementations to blame, the first with a file of its own decides.
    """
    for name in culprits:
        path, colon, _ = record.specs.get(name, "").rpartition(":")
        if colon and path.endswith(".py") and not path.startswith("cmd:"):
            return posixpath.normpath(path)
    expect = record.started.expect if record.started else None
    return posixpath.normpath(expect) if expect else FALLBACK
