"""A walk of a corpus on a terminal: a row for each policy, and what was tested."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from rich.table import Table
from rich.text import Text

from reports.blocks.units import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from harness.events import Forced, ForcedCorpus

FAILED_SHOWN = 8
"""Schemas named on the terminal whose walk broke off; the report has all."""

COLUMNS = ("forced", "share", "sequences", "wrong", "", "texts", "schemas", "seam", "unsafe")


class Walked(Protocol):
    """What is asked of a run's record; :class:`reports.record.RunRecord` has it."""

    @property
    def forced(self) -> Sequence[Forced]:
        """A row for each policy."""

    @property
    def forced_corpora(self) -> Sequence[ForcedCorpus]:
        """What was walked."""


def render(record: Walked) -> Iterator[RenderableType]:
    """What `tokgate forced` prints."""
    made = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    made.add_column("policy", no_wrap=True)
    for heading in COLUMNS:
        made.add_column(heading, justify="right", no_wrap=True)
    for row in record.forced:
        made.add_row(
            row.method,
            f"{row.forced_tokens:,}",
            percent(row.forced_tokens, row.tokens),
            f"{row.sequences:,}",
            Text(f"{row.non_canonical:,}", style="red" if row.non_canonical else "green"),
            percent(row.non_canonical, row.sequences) if row.non_canonical else "",
            *(f"{count:,}" for count in (row.non_canonical_instances, row.non_canonical_schemas)),
            *(f"{count:,}" for count in (row.seam, row.unsafe)),
        )
    yield made
    for row in record.forced:
        if row.not_admitted:
            times = plural(row.not_admitted, "time")
            yield Text(f"{row.method}: its masks lacked a token of the text {times}", "yellow")
        if row.outside_mask:
            times = plural(row.outside_mask, "time")
            yield Text(f"{row.method}: forced a token that its own mask forbids {times}", "yellow")
    for corpus in record.forced_corpora:
        yield from _corpus(corpus)


def _corpus(corpus: ForcedCorpus) -> Iterator[Text]:
    yield Text(
        f"{corpus.schemas:,} schemas, {corpus.instances:,} instances, {corpus.tokens:,} tokens;"
        f" refused by llguidance: {corpus.refused_schemas:,} schemas, "
        f"{corpus.refused_instances:,} instances",
        "dim",
    )
    yield Text(
        f"exact was checked with {corpus.sampled:,} sampled continuations, and at "
        f"{corpus.listed:,} places with all sentences: {corpus.misjudged:,} contradict it; of the "
        f"{corpus.listed_tokens:,} tokens that these sentences prove to be forced, it forces all "
        f"but {corpus.listed_short:,}",
        "dim",
    )
    for pair, count in corpus.differing.items():
        yield Text(f"differ although they should agree: {pair}, {count:,} times")
    for name, how in list(corpus.failed.items())[:FAILED_SHOWN]:
        yield Text(f"failed: {name}: {how}", "yellow")
    if len(corpus.failed) > FAILED_SHOWN:
        yield Text(f"and {len(corpus.failed) - FAILED_SHOWN:,} more failed")


def percent(part: int, whole: int) -> str:
    """A share, with two digits."""
    return f"{100 * part / whole:.2f} %" if whole else "-"
