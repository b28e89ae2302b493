"""``tokgate bench``: throughput."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from harness.cli.options import (
    AsJson,
    Impls,
    Ledger,
    Out,
    Seed,
    Vocabs,
    command_line,
    name_missing,
    option,
)
from harness.cli.progress import Progress
from harness.cli.records import opened
from harness.cli.study_command import conducted, show
from harness.studies.bench.plan import DOCUMENT, make_plan
from harness.studies.bench.run import BenchStudy
from reports import bench

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
        option(
            "Text to encode: source (code), messages (of people, in a hundred languages), "
            "multilingual, tokens, one-piece, or a UTF-8 file. May be repeated.",
            "INPUT",
            "--input",
        ),
    ] = [],
    size: Annotated[
        list[str],
        option("Size of an input: 1KB, 64KB, 1MB. May be repeated.", "SIZE"),
    ] = [],
    rounds: Annotated[
        int | None,
        option("Rounds per measurement.", "N", min=1, show_default="3 to 15, as there is time"),
    ] = None,
    cold: Annotated[
        int,
        option(
            "First calls to measure in an encoder just loaded, at the largest size.", "N", min=0
        ),
    ] = 1,
    cold_sizes: Annotated[
        bool, option("Measure first calls at all sizes.", None, "--cold-sizes")
    ] = False,
    mode: Annotated[
        list[str],
        option(
            "text (pre-tokenized), raw (one piece), batch (many short texts in one call), "
            "threads (batches on several threads), or load (CPU time and memory to open a "
            "vocabulary). The default is text and raw. May be repeated.",
            "MODE",
        ),
    ] = [],
    document: Annotated[
        str,
        option("Size of each text in a batch; --size is that of the whole batch.", "SIZE"),
    ] = str(DOCUMENT),
    threads: Annotated[
        int | None,
        option("Threads of --mode threads.", "N", min=2, show_default="all CPU cores"),
    ] = None,
    seed: Seed = 0,
    out: Out = Path("tokgate-bench"),
    as_json: AsJson = False,
    ledger: Ledger = None,
) -> int:
    """Measure how fast implementations encode.

    First calls (cold) and later calls (warm) are shown apart. Implementations take turns, so that a
    busy moment of the machine hits all of them. Without arguments: an embedded vocabulary, every
    installed implementation that runs it, and all kinds of input at three sizes, with and without
    pre-tokenization, in about two minutes.
    """

    rest = {"rounds": rounds, "cold": cold, "cold_sizes": cold_sizes, "seed": seed}
    plan, missing = make_plan(vocab, impl, input_, size, mode, document, threads, **rest)
    name_missing(missing)
    progress = Progress()
    database = opened(ledger)
    study = BenchStudy(plan, command_line(), progress.watch)
    finished, events = conducted(study, out, progress)
    if database is not None:
        from harness.ledger.store import keep_speeds  # noqa: PLC0415 (SQLAlchemy is slow)

        keep_speeds(database, events)
    show("bench", bench.to_json(events), bench.page(events), out, as_json=as_json)
    return finished.exit_status
