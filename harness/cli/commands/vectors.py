"""``tokgate vectors``: test vectors of vocabularies, as JSON."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from corpora.vocabularies import embedded, sources
from harness.cli import options
from harness.cli.display import Display
from harness.cli.progress import Progress
from harness.core.output import write_whole, writing
from harness.studies.vectors.make import vectors_of
from reports.blocks.units import plural


def command(
    vocab: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"{options.VOCAB_HELP} The default is all embedded vocabularies.",
            metavar="[VOCAB]..",
        ),
    ] = None,
    out: options.Out = Path("tokgate-vectors"),
) -> None:
    """Write test vectors that find mistakes in any language, without tokgate.

    Each vocabulary gets a JSON file with at most 2,000 inputs and their ids. They are few, and
    chosen so that together they find the planted mistakes of `tokgate selftest` and reach all edges
    of the pattern. The same version writes the same bytes. See docs/vectors.md for readers.
    """

    console = Display()
    left_out = embedded.left_out()
    options.name_missing({} if vocab else left_out)
    names = vocab or [name for name in embedded.embedded() if name not in left_out]
    names += [] if vocab else [*embedded.TOY_FILES]
    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    progress = Progress()
    try:
        for number, name in enumerate(names):
            vocabulary = sources.resolve(name)
            made = vectors_of(vocabulary, partial(progress.watch, number / len(names)))
            path = out / f"{vocabulary.id}.json"
            write_whole(path, made.content)
            console.print(
                f"{path}: {plural(made.vectors, 'vector')}, which find "
                f"{made.found} of {plural(made.mistakes, 'planted mistake')}"
            )
    finally:
        progress.stop()
