"""What a pull request is told of a run: the text of a comment, and of the action's step summary.

It is ``summary.md`` with one difference: instead of all findings it has those that matter for the
change, each with its smallest input and the first token that differs. If there is an earlier run to
compare with, these are the new ones, the fixed ones, and the unexpected ones that are still there.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.verdict.diff import Change, State, compare
from reports import changes
from reports.blocks import Block, Items, Paragraph, Section, standing
from reports.html import blocks_of as all_of
from reports.markdown import within
from reports.record import RunRecord
from reports.texts import changes as changes_of_texts

MAX_BYTES = 64_000
"""GitHub refuses a comment of more than 65,536 characters; the rest is for whoever posts it."""

LEFT_OUT = frozenset({"findings", "trends", "cluster", "run"})
"""Sections of ``summary.md`` that are told otherwise, or say nothing of the change, by anchors."""


def render(record: RunRecord, baseline: RunRecord | None = None) -> str:
    """The text as GitHub-flavoured Markdown. baseline: the run to compare with."""
    return within(MAX_BYTES, blocks_of(record, baseline))


def blocks_of(record: RunRecord, baseline: RunRecord | None) -> Iterator[Block]:
    """The blocks of ``summary.md``: first what concerns the change, instead of all findings."""
    banner, numbers, *sections = all_of(record, (), None, {})
    yield from (banner, numbers)
    yield from _found(record) if baseline is None else _changed(record, baseline)
    for one in sections:
        if isinstance(one, Section) and one.anchor not in LEFT_OUT and any(standing(one.blocks)):
            yield one


def _found(record: RunRecord) -> Iterator[Block]:
    """The unexpected findings, if there is nothing to compare with."""
    changed = [
        Change(State.NEW, one.name, one.example.contract, one.example, expected=False)
        for one in record.unexpected
    ]
    yield from changes.listed("Unexpected findings", changed)


def _changed(record: RunRecord, baseline: RunRecord) -> Iterator[Block]:
    """What is new, what is fixed, and what still fails the gate."""
    result = compare(baseline.coverage, record.coverage)
    yield Paragraph(f"Compared with the baseline: {changes.counts(result)}.")
    if not baseline.complete:
        yield Paragraph("The baseline was interrupted: what is new may have existed before.")
    still = [one for one in result.of(State.STILL) if not one.expected]
    yield from changes.listed("New", result.of(State.NEW))
    yield from changes.listed("Fixed", result.of(State.FIXED))
    yield from changes.listed("Still there, and unexpected", still)
    yield from changes.grown(result)
    yield Items(list(changes_of_texts(baseline.texts, record.texts)))
