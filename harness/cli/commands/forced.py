"""``tokgate forced``: forced tokens on a corpus of JSON Schemas."""

from __future__ import annotations

import math
import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.commands.common import ONE_VOCAB_HELP, Cluster, Seed, command_line, recorded
from harness.cli.forced import show, walk
from harness.core.writing import writing
from harness.engine.selection import SelectionError
from reports import write_all

EPILOG = """
Exit status: 0 the exact policy erred nowhere (or took no part); 1 it did, or nothing was walked;
2 usage or input error; 3 no process could be started; 130 interrupted (143 by SIGTERM), run
again to go on.
"""


class Whitespace(StrEnum):
    """What a JSON Schema's grammar admits between tokens."""

    FLEXIBLE = "flexible"
    COMPACT = "compact"


def forced(
    corpus: Annotated[
        str, typer.Argument(help="A folder or archive of schemas, or: own (those shipped).")
    ],
    vocab: Annotated[str, typer.Option("--vocab", "-V", help=ONE_VOCAB_HELP)],
    whitespace: Annotated[
        Whitespace, typer.Option(help="Whether the grammar admits white space between JSON tokens.")
    ] = Whitespace.FLEXIBLE,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", "-p", help="none, printed, healed[:tokens=4|:bytes=7][:conservative], "
            "drop-pretoken, exact, llguidance, llguidance.partial, xgrammar, or a healer of "
            "your own: path.py:Mine, module:attr, cmd:PROGRAM. May be repeated.",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="So many schemas, evenly spread over the corpus.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0: by the cores.")] = 0,
    seed: Seed = 0,
    minimize: Annotated[
        int, typer.Option(min=0, help="Failures of each policy to be made small, with schema.")
    ] = 3,
    timeout: Annotated[
        float, typer.Option(min=1.0, help="Seconds for a text or a schema: then it hangs.")
    ] = 120.0,
    memory: Annotated[float, typer.Option(min=0.5, help="GiB that a process may take.")] = 4.0,
    out: Annotated[
        Path, typer.Option(help="Folder for reports and forced.jsonl, with which it goes on.")
    ] = Path("tokgate-forced"),
    cluster: Cluster = None,
) -> None:  # fmt: skip
    """Compare how grammars' forced tokens are healed, on JSON Schemas with instances.

    Each instance is walked at the boundaries of its own tokens. Some failures of each policy are
    shown with the smallest schema and text on which it still errs. Run again with the same options,
    it goes on where it was left.
    """

    if not math.isfinite(memory) or not math.isfinite(timeout):
        raise SelectionError("--memory, --timeout: give a finite number")
    finished = walk(
        corpus, vocab, whitespace.value, policy or [], limit, jobs or os.cpu_count() or 1,
        seed, timeout, int(memory * 2**30), minimize, out, command_line(), cluster,
    )  # fmt: skip

    record = recorded(out)
    with writing(out):
        write_all(record, out)
    show(record, finished, out / "report.html")
    raise typer.Exit(finished.exit_status)
