"""``tokgate bench``: throughput."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.conducting import conducted, show
from harness.cli.display import Display
from harness.cli.options import AsJson, Impls, Ledger, Out, Seed, Vocabs, command_line, name_missing
from harness.cli.progress.moving import Progress
from harness.cli.records import opened
from harness.events import Event
from harness.studies.bench.plan import DOCUMENT, make_plan
from harness.studies.bench.run import BenchStudy
from reports import bench
from reports.studies import files

EPILOG = """
To install other fast tokenizers to compare with: pip install 'tokgate[bench]'

\b
Exit status:
  0    measured
  2    usage or input error
  3    an implementation could not be started, or none could be measured
  130  interrupted (143 by SIGTERM): what was measured is written, and the same
       command continues
"""


def command(
    vocab: Vocabs = [],
    impl: Impls = [],
    input_: Annotated[
        list[str],
        typer.Option(
            "--input",
            metavar="INPUT",
            help="source, messages (of people, in a hundred languages), multilingual, tokens, "
            "one-piece, or a UTF-8 file. May be repeated.",
        ),
    ] = [],
    size: Annotated[
        list[str],
        typer.Option(metavar="SIZE", help="Size of an input: 1KB, 64KB, 1MB. May be repeated."),
    ] = [],
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Rounds per measurement.",
            show_default="3 to 15, as there is time",
        ),
    ] = None,
    cold: Annotated[
        int,
        typer.Option(metavar="N", min=0, help="Cold first calls to measure at the largest size."),
    ] = 1,
    cold_sizes: Annotated[
        bool, typer.Option("--cold-sizes", help="Measure cold first calls at all sizes.")
    ] = False,
    mode: Annotated[
        list[str],
        typer.Option(
            metavar="MODE",
            help="text (pre-tokenized), raw (one piece), batch (many short texts in one call), "
            "threads (batches on several threads), or load (CPU time and memory to open a "
            "vocabulary). The default is text and raw. May be repeated.",
        ),
    ] = [],
    document: Annotated[
        str,
        typer.Option(
            metavar="SIZE", help="Size of each text in a batch; --size is that of the whole batch."
        ),
    ] = str(DOCUMENT),
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=2, help="Threads of --mode threads.", show_default="all CPU cores"
        ),
    ] = None,
    seed: Seed = 0,
    out: Out = Path("tokgate-bench"),
    as_json: AsJson = False,
    ledger: Ledger = None,
) -> None:
    """Measure how fast implementations encode.

    First calls (cold) and later calls (warm) are shown apart. Implementations take turns, so that a
    busy moment of the machine hits all of them. Without arguments: an embedded vocabulary, every
    installed implementation that runs it, and all kinds of input at three sizes, with and without
    pre-tokenization, in about two minutes.
    """

    rest = {"rounds": rounds, "cold": cold, "cold_sizes": cold_sizes, "seed": seed}
    plan, missing = make_plan(vocab, impl, input_, size, mode, document, threads, **rest)
    console = Display(stderr=True)
    name_missing(console, missing)
    progress, events = Progress(console), list[Event]()
    database = opened(ledger)
    study = BenchStudy(plan, command_line(), progress.watch)
    finished = conducted(study, out, progress, events.append)
    if database is not None:
        from harness.ledger.recorder import keep_speeds  # noqa: PLC0415 (SQLAlchemy is slow)

        keep_speeds(database, events)
    page = bench.page(events)
    show(files("bench", bench.to_json(events), page), page.blocks, out, as_json=as_json)
    raise typer.Exit(finished.exit_status)
