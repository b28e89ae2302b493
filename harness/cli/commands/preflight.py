"""``tokgate preflight``: what is wrong with a vocabulary."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.text import Text

from corpora.vocabularies import preflight as rules
from corpora.vocabularies import sources
from harness.cli.display import Display
from harness.cli.options import VOCAB_HELP, AsJson


def command(
    vocab: Annotated[list[str], typer.Argument(help=VOCAB_HELP)],
    as_json: AsJson = False,
) -> None:
    """Check whether a vocabulary is well-formed for its algorithm.

    The command lists what could make implementations disagree on it, such as merges that can never
    happen. The exit status is 0 even if it finds something.
    """

    console = Display()
    report: dict[str, list[dict[str, Any]]] = {}
    for source in vocab:
        vocabulary = sources.resolve(source)
        problems = rules.preflight(vocabulary)
        report[source] = [asdict(one) for one in problems]
        if not as_json:
            sizes = f"{vocabulary.format} {vocabulary.algorithm}, {len(vocabulary):,} ids"
            console.print(Text.assemble((source, "bold"), f"  {sizes}"))
            for problem in problems:
                console.print(f"  {problem.message}", style="yellow")
            if not problems:
                console.print("  no problems found", style="green")
    if as_json:
        print(json.dumps(report, indent=1))
