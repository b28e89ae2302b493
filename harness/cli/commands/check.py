"""``tokgate check``: the main job for one vocabulary and one implementation, in a hurry."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.cli.commands import run

EPILOG = options.EXIT_STATUSES


def command(
    vocab: Annotated[str, typer.Argument(metavar="VOCAB", help=options.ONE_VOCAB_HELP)],
    impl: Annotated[
        str,
        typer.Argument(
            metavar="IMPL",
            help="An implementation: a registered name, module:attr, path.py:attr, "
            "pip:NAME==VERSION, npm:NAME==VERSION, or 'cmd:PROGRAM ARGS'.",
        ),
    ],
    reference: options.References = [],
    budget: options.Amount = "30s",
    seed: options.Seed = 0,
    expect: options.Expect = None,
    out: options.Out = Path("tokgate-out"),
) -> int:
    """Check one implementation on one vocabulary in half a minute.

    This is `tokgate run` for this vocabulary, this implementation and the references, with less
    time. Without --reference, the reference is that of the vocabulary's format.
    """

    return run.command(
        vocab=[vocab],
        impl=[impl, *reference],
        reference=reference,
        budget=budget,
        seed=seed,
        expect=expect,
        out=out,
    )
