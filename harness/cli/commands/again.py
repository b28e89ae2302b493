"""``tokgate minimize`` and ``tokgate replay``: inputs that are given, not generated."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.again import examine_inputs, replay_findings
from harness.cli.commands.common import (
    EXIT_STATUSES,
    IMPL_HELP,
    ONE_VOCAB_HELP,
    Out,
    command_line,
    finish,
)
from harness.engine.selection import SelectionError

EPILOG = EXIT_STATUSES


def minimize(
    impl: Annotated[list[str], typer.Option("--impl", "-i", help="Two of them. " + IMPL_HELP)],
    vocab: Annotated[str, typer.Option("--vocab", "-V", help=ONE_VOCAB_HELP)],
    text: Annotated[str | None, typer.Option(help="The input as text.")] = None,
    hexadecimal: Annotated[str | None, typer.Option("--hex", help="The input in hex.")] = None,
    file: Annotated[Path | None, typer.Option(help="The input as a file's bytes.")] = None,
    out: Out = Path("tokgate-minimize"),
) -> None:
    """Minimise one input on which two implementations differ."""

    given = [one for one in (text, hexadecimal, file) if one is not None]
    if len(given) != 1:
        raise SelectionError("minimize: give the input once, by --text, --hex or --file")
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
    else:
        data = os.fsencode(text or "")
    finish(examine_inputs({vocab: [data]}, impl, out, command_line()), out)


def replay(
    what: Annotated[str, typer.Argument(help="A run's folder, or a finding's id (f-..).")],
    out: Annotated[
        Path, typer.Option(help="Folder for the replay's own record and reports.")
    ] = Path("tokgate-replay"),
    run_folder: Annotated[
        Path, typer.Option("--run", help="The run's folder, with a finding's id.")
    ] = Path("tokgate-out"),
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Run what the record names though it is not registered here, as cmd:, pip:, "
            "module:attr and path.py:attr, and fetch hf: vocabularies that it names.",
        ),
    ] = False,
) -> None:
    """Run recorded findings again, on today's implementations.

    A record may come from elsewhere, and names what is to run. Registered implementations (tokgate
    list impls) run as they are installed here; vocabularies that are embedded, random, tiktoken's,
    or files are loaded. Anything else that it names is told, and needs --trust.
    """

    finish(replay_findings(what, run_folder, out, command_line(), trust=trust), out)
