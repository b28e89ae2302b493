"""``tokgate minimize``: one input, made small."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from harness.cli.options import EXIT_STATUSES, Impls, OneVocab, Out, option
from harness.cli.run_command import perform
from harness.engine.selection import SelectionError
from harness.studies.given import plan_of

EPILOG = EXIT_STATUSES


def command(
    impl: Impls,
    vocab: OneVocab,
    text: Annotated[str | None, option("The input as text.")] = None,
    hexadecimal: Annotated[str | None, option("The input in hexadecimal.", "HEX", "--hex")] = None,
    file: Annotated[Path | None, option("A file whose bytes are the input.", "FILE")] = None,
    out: Out = Path("tokgate-minimize"),
) -> int:
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
    return perform(plan_of({vocab: [data]}, impl), out)
