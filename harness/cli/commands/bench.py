"""``tokgate bench``: throughput."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from harness.cli.commands.common import Impls, Ledger, Vocabs, command_line, name_missing
from harness.cli.conducting import conducted
from harness.cli.display import Display
from harness.cli.progress.steps import StepProgress
from harness.core.writing import writing
from harness.studies.bench.plan import DOCUMENT, make_plan
from harness.studies.bench.run import BenchStudy
from reports import bench_page, write
from reports.bench import BenchRecord
from reports.blocks import terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.events import Event

EPILOG = """
Other fast tokenizers to compare with: pip install 'tokgate\\[bench]'. Exit status: 0 measured;
2 usage or input error; 3 an implementation could not be started, or none could be measured;
130 interrupted (143 by SIGTERM), what was measured till then is written, and the same command goes
on from there.
"""


def bench(
    vocab: Vocabs = None,
    impl: Impls = None,
    input_: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            help="source, messages (of people, in a hundred languages), multilingual, tokens, "
            "one-piece, or a UTF-8 file. May be repeated.",
        ),
    ] = None,
    size: Annotated[
        list[str] | None, typer.Option(help="Bytes of an input: 1KB, 64KB, 1MB. May be repeated.")
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(min=1, help="Of each cell (default: by the time, 3 to 15).")
    ] = None,
    cold: Annotated[
        int, typer.Option(min=0, help="First calls in an encoder loaded afresh, largest size.")
    ] = 1,
    cold_sizes: Annotated[
        bool, typer.Option("--cold-sizes", help="First calls at all sizes.")
    ] = False,
    mode: Annotated[
        list[str] | None,
        typer.Option(
            help="text (pre-tokenized), raw (one piece), batch (many short texts in one call), "
            "threads (batches on several threads), load (what opening a vocabulary takes: CPU time "
            "and memory); default: text and raw. May be repeated."
        ),
    ] = None,
    document: Annotated[
        str, typer.Option(help="Bytes of each text of a batch; --size is the whole batch.")
    ] = str(DOCUMENT),
    threads: Annotated[
        int | None, typer.Option(min=2, help="Of --mode threads (default: all processors).")
    ] = None,
    seed: Annotated[int, typer.Option(help="Same seed and versions: the same texts.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for reports and run.jsonl, the record.")] = Path(
        "tokgate-bench"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print bench.json, no tables.")] = False,
    ledger: Ledger = None,
) -> None:
    """Measure how fast implementations encode, interleaved, cold and warm apart.

    Without arguments: an embedded vocabulary, every implementation installed that runs it, all
    kinds of input at three sizes, with and without pre-tokenization, in about two minutes.
    """

    plan, missing = make_plan(
        vocab or [], impl or [], input_ or [], size or [], mode or [],
        rounds, cold, cold_sizes, document, threads, seed,
    )  # fmt: skip
    console = Display(stderr=True)
    name_missing(console, missing)
    record, progress = BenchRecord(), StepProgress(console)
    study = BenchStudy(plan, command_line(), progress.watch)
    finished = conducted(study, out, progress, record.consume, *_kept(ledger))
    with writing(out):
        write(bench_page.files(record), out)
    if as_json:
        print(record.to_json(), end="")
    else:
        shown = Display()
        for part in terminal.render(bench_page.page(record).blocks):
            shown.print(part)
    console.print(Text(f"  {out / 'bench.html'}", style="dim"), soft_wrap=True)
    raise typer.Exit(finished.exit_status)


def _kept(ledger: str | None) -> Iterator[Callable[[Event], None]]:
    """What keeps the speeds in the ledger, if there is one."""
    if ledger is not None:
        from harness.ledger.engine import open_database  # noqa: PLC0415 (SQLAlchemy is slow)
        from harness.ledger.recorder import SpeedRecorder  # noqa: PLC0415 (likewise)

        yield SpeedRecorder(open_database(ledger)).consume
