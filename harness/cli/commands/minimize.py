"""``tokgate minimize``: one input, made small."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.finishing import perform
from harness.cli.options import EXIT_STATUSES, Impls, OneVocab, Out
from harness.engine.selection import SelectionError
from harness.studies.given import plan_of

EPILOG = EXIT_STATUSES


def command(
    impl: Impls,
    vocab: OneVocab,
    text: Annotated[str | None, typer.Option(help="The input as text.")] = None,
    hexadecimal: Annotated[
        str | None, typer.Option("--hex", metavar="HEX", help="The input in hexadecimal.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file whose bytes are the input.")
    ] = None,
    out: Out = Path("tokgate-minimize"),
) -> None:
    """Minimize one input on which two implementations differ.

    Give two implementations or more, and the input by one of --text, --hex and --file.
    """

    if sum(one is not None for one in (text, hexadecimal, file)) != 1:
        raise SelectionError("minimize: give the input once, by --text, --hex or --file")
    data = os.fsencode(text or "")
    if hexadecimal is not None:
        try:
            data = bytes.fromhex(hexadecimal)
        except ValueError as error:
            raise SelectionError(f"--hex: {error}; write two digits a byte") from error
    elif file is not None:
        try:
            data = file.read_bytes()
        except OSError as error:
            raise SelectionError(f"--file {file}: {error.strerror}; check the path") from error
    perform(plan_of({vocab: [data]}, impl), out)
