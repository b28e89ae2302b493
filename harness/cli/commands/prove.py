"""``tokgate prove``: whether two vocabularies tokenize every text alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.commands.compare import conduct
from harness.studies.compare.run import ProveStudy

EPILOG = """
Each stage of the encoding is proved equal, different, or not decided: normalizer, added tokens,
pattern, and merges, scores or tokens. A difference counts when the libraries of both files give
other tokens for a text. What is proved equal is tried on generated texts, for the time of the
budget.

\b
Exit status:
  0    proved equal: every text has the same tokens
  1    different: a text is shown
  2    usage or input error
  3    a library could not be started
  4    not decided
  130  interrupted (143 by SIGTERM)
"""


def command(
    a: Annotated[str, typer.Argument(help=options.ONE_VOCAB_HELP, metavar="A")],
    b: Annotated[str, typer.Argument(help="The vocabulary to compare it with.", metavar="B")],
    texts: options.Inputs = [],
    budget: Annotated[
        str,
        options.option("Time for texts after the proof, such as 60s or 5m.", "TIME"),
    ] = "10s",
    seed: options.Seed = 0,
    timeout: options.Timeout = 8.0,
    memory: options.Memory = 4.0,
    out: options.Out = Path("tokgate-prove"),
    as_json: options.AsJson = False,
) -> int:
    """Prove that two vocabularies tokenize every text alike, or show where not.

    The two files may have different formats. Ids that are only numbered in another way are no
    difference, and are mentioned once.
    """

    given = texts, budget, seed, timeout, memory
    line = "proving {a} and {b}, texts {time}"
    return conduct(ProveStudy, line, (a, b), *given, out, as_json=as_json)
