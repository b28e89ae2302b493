"""``tokgate adversary``: a search for grammars on which healing policies err."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import adversary as cli_adversary
from harness.cli.commands.common import ONE_VOCAB_HELP, Seed
from harness.engine.selection import SelectionError

EPILOG = """
Exit status: 0 nothing was found against exact (or it took no part); 1 something was; 2 usage or
input error; 3 no process could be started; 130 interrupted (143 by SIGTERM), run again to go on.
"""


def adversary(
    vocab: Annotated[str | None, typer.Option("--vocab", "-V", help=ONE_VOCAB_HELP)] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            "--policy", "-p", help="As of tokgate forced. May be repeated. Default: healed, exact."
        ),
    ] = None,
    budget: Annotated[
        str,
        typer.Option(
            help="60s, 5m, 8h from the first grammar on, or 20000cases (in whole rounds)."
        ),
    ] = "60s",
    seed: Seed = 0,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0: by the cores.")] = 0,
    replay: Annotated[
        str | None,
        typer.Option(help="A trophies.json, or: shipped. Ask its grammars again; no search."),
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=1.0, help="Seconds without a sign of life: then it hangs.")
    ] = 120.0,
    memory: Annotated[float, typer.Option(min=0.5, help="GiB that a process may take.")] = 4.0,
    out: Annotated[
        Path, typer.Option(help="Folder for trophies.json, and adversary.jsonl to go on with.")
    ] = Path("tokgate-adversary"),
) -> None:
    """Search for grammars of two sentences on which forced tokens are wrong, the deepest first.

    Four ways are tried in turn: long tokens, characters cut in two, chains of merges that flip, and
    the look-ahead of pre-tokenizers. What is found is made short, and kept in trophies.json: the
    deepest of each vocabulary, policy and way. Run again with the same folder, it goes on with the
    rounds that were not played; counterexamples of other runs put there are kept unless beaten.
    """

    if not math.isfinite(memory) or not math.isfinite(timeout):
        raise SelectionError("--memory, --timeout: give a finite number")
    size = int(memory * 2**30)
    if replay is not None:
        raise typer.Exit(cli_adversary.replay(replay, vocab, policy or [], timeout, size))
    if vocab is None:
        raise SelectionError("--vocab: name a vocabulary to search in, or give --replay shipped")
    status = cli_adversary.search(
        vocab, policy or [], budget, jobs or os.cpu_count() or 1, seed, timeout, size, out
    )
    raise typer.Exit(status)
