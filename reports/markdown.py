"""``summary.md``: what stands open on the page, for the step summary of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from reports.blocks import Banner, Block, markdown
from reports.html import blocks_of
from reports.record import RunRecord

MAX_BYTES = 960 << 10
"""GitHub refuses a step summary above 1 MiB; the rest is for what else the step has to say, such as
the comparison with an earlier run."""


def render(record: RunRecord) -> str:
    """The summary as GitHub-flavoured Markdown, below :data:`MAX_BYTES` of UTF-8."""
    return within(MAX_BYTES, blocks_of(record, (), None, {}))


def within(limit: int, blocks: Iterable[Block]) -> str:
    """Blocks as Markdown of less than ``limit`` bytes of UTF-8, cut at the end of a line."""
    text = markdown.render(
        replace(one, title=f"tokgate: {one.title}") if isinstance(one, Banner) else one
        for one in blocks
    )
    encoded = text.encode("utf-8", "backslashreplace")
    if len(encoded) < limit:
        return text
    note = "\n\n_Cut: the rest is in report.html._\n"
    kept = encoded[: limit - len(note) - 1].decode("utf-8", "ignore")
    return kept.rpartition("\n")[0] + note
