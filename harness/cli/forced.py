"""``tokgate forced`` on the terminal: its plan from names, its bar, its table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from corpora.vocabularies import sources
from harness.cli.display import Display
from harness.cli.progress.cluster import ClusterView
from harness.cli.progress.numbers import counted
from harness.cli.progress.run import verdict_word
from harness.cli.progress.steps import StepProgress
from harness.cluster import opening
from harness.engine.selection import SelectionError
from harness.findings.folder import RunFolder
from harness.studies.forced.jobs import Task
from harness.studies.forced.policies import named
from harness.studies.forced.run import JSON_SIGNS, ForcedPlan, Record, execute
from harness.studies.forced.scattered import Walks, sendable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from corpora.grammars.json_schema import Whitespace
    from harness.events import Event, Finished

FAILED_SHOWN = 8
"""Schemas named on the terminal whose walk broke off; the report has all."""

LOG_WIDTH = 120
"""Columns where there is no terminal to ask: the table is not to be cut."""


def walk(
    corpus: str,
    vocab: str,
    whitespace: Whitespace,
    policies: Sequence[str],
    limit: int | None,
    jobs: int,
    seed: int,
    seconds: float,
    memory: int,
    minimised: int,
    out: Path,
    command: str,
    cluster: str | None = None,
) -> Finished:
    """Make the plan, run it with a bar, and leave the record in ``out``.

    cluster: where schemas are walked, if not here. Raises SelectionError, VocabularyError,
    OutputError, ImplementationError, ClusterError, UnitError: one line each.
    """
    if cluster is not None:
        opening.check(cluster)
        sendable(policies)
    named(policies)  # what is no policy shows before the vocabulary is loaded
    vocabulary = sources.resolve(vocab)
    names = named(policies, vocabulary)
    if not vocabulary.can_encode(JSON_SIGNS):
        raise SelectionError(f"--vocab {vocab}: has no tokens for JSON; name one that has")
    task = Task(vocabulary, names, whitespace, seed, seconds, memory)
    plan = ForcedPlan(corpus, vocab, task, limit, jobs, minimised)
    identity = plan.identity()
    next(plan.cases(), None)  # what is no corpus shows before the folder is made
    executor = None if cluster is None else opening.opened(cluster, 1, memory)
    folder = RunFolder(out)
    record = Record(out, identity)
    console = Display(stderr=True)
    progress = StepProgress(console)
    view = ClusterView()

    def tell(event: Event) -> None:
        folder.consume(event)
        line = view.consume(event)
        if line is not None:
            console.print(Text(line, style="dim"), soft_wrap=True)

    walks = None if executor is None else Walks(executor, tell)
    try:
        return execute(plan, out, tell, progress.watch, command, record, walks)
    finally:
        progress.stop()
        folder.close()


def show(record: Any, finished: Finished, report: Path) -> None:
    """The table and the verdict. record: a ``reports.record.RunRecord``."""
    console = Display()
    if not console.is_terminal:
        console = Display(width=LOG_WIDTH)
    console.print(table(record.forced))
    for line in masks(record.forced):
        console.print(Text(line, style="yellow"), soft_wrap=True)
    for corpus in record.forced_corpora:
        facts = (
            f"{corpus.schemas:,} schemas, {corpus.instances:,} instances, {corpus.tokens:,} tokens;"
            f" refused by llguidance: {corpus.refused_schemas:,} schemas, "
            f"{corpus.refused_instances:,} instances"
        )
        console.print(Text(facts, style="dim"), soft_wrap=True)
        checked = (
            f"exact checked by {corpus.sampled:,} sampled continuations, and at {corpus.listed:,} "
            f"places by all sentences: {corpus.misjudged:,} contradict it; of "
            f"{corpus.listed_tokens:,} tokens that these prove it forces all but "
            f"{corpus.listed_short:,}"
        )
        console.print(Text(checked, style="dim"), soft_wrap=True)
        for pair, count in corpus.differing.items():
            console.print(Text(f"differ though they ought to agree: {pair}, {count:,} times"))
        for name, how in list(corpus.failed.items())[:FAILED_SHOWN]:
            console.print(Text(f"broke off: {name}: {how}", style="yellow"), soft_wrap=True)
        if len(corpus.failed) > FAILED_SHOWN:
            console.print(f"and {len(corpus.failed) - FAILED_SHOWN:,} more broke off")
    last = Display(stderr=True)
    last.print(Text.assemble(verdict_word(finished), f"  {finished.seconds:.0f} s"))
    for reason in finished.reasons:
        last.print(Text(f"  {reason}"), soft_wrap=True)
    for note in finished.notes:
        last.print(Text(f"  {note}", style="yellow"), soft_wrap=True)
    last.print(Text(f"  {report}", style="dim"), soft_wrap=True)


def table(rows: Sequence[Any]) -> Table:
    """The events ``Forced`` as a table."""
    made = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    made.add_column("policy", header_style="dim", no_wrap=True)
    for heading in ("forced", "share", "sequences", "wrong", "", "texts", "schemas", "seam",
                    "unsafe"):  # fmt: skip
        made.add_column(heading, header_style="dim", justify="right", no_wrap=True)
    for row in rows:
        style = "red" if row.non_canonical else "green"
        made.add_row(
            row.method,
            f"{row.forced_tokens:,}",
            percent(row.forced_tokens, row.tokens),
            f"{row.sequences:,}",
            Text(f"{row.non_canonical:,}", style=style),
            percent(row.non_canonical, row.sequences) if row.non_canonical else "",
            f"{row.non_canonical_instances:,}",
            f"{row.non_canonical_schemas:,}",
            f"{row.seam:,}",
            f"{row.unsafe:,}",
        )
    return made


def masks(rows: Sequence[Any]) -> Iterator[str]:
    """What was wrong with the masks of whole engines, a line each."""
    for row in rows:
        if row.not_admitted:
            times = counted(row.not_admitted, "time")
            yield f"{row.method}: its masks lacked a token of the text {times}"
        if row.outside_mask:
            times = counted(row.outside_mask, "time")
            yield f"{row.method}: forced a token that its own mask does not admit {times}"


def percent(part: int, whole: int) -> str:
    """A share, with two digits."""
    return f"{100 * part / whole:.2f} %" if whole else "-"
